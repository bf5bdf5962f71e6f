"""cairn-node and cairnctl as real processes."""
import json
import os
import signal
import socket
import stat

import support
from case_support import CaseClientCase
from support import Case, Node, ctl, run, tls_files, tls_flags

KEY = "ab" * 32
TLS_ARENA = {"bytes": "64MiB", "segment_bytes": "64MiB"}


class LifeTest(Case):
    def test_starts_answers_and_stops(self):
        node = self.start(Node(self))
        started = node.wait_event("node_started").values
        self.assertEqual(started["socket"], f"{node.run_dir}/node.sock")
        self.assertEqual(started["arena_bytes"], str(64 << 20))
        self.assertRegex(started["grpc"], r"^127\.0\.0\.1:\d+$")
        with open(f"{node.run_dir}/grpc", encoding="utf-8") as file:
            self.assertEqual(file.read(), started["grpc"] + "\n")
        self.assertEqual(stat.S_IMODE(os.stat(node.run_dir).st_mode), 0o700)
        token = os.stat(f"{node.run_dir}/token")
        self.assertEqual((stat.S_IMODE(token.st_mode), token.st_size), (0o600, 32))
        self.assertEqual(node.stop(signal.SIGTERM), 0, node.log())
        node.wait_event("node_stopped")
        for name in ("token", "grpc", "node.sock"):
            self.assertFalse(os.path.exists(f"{node.run_dir}/{name}"), name)

    def test_interrupt_stops_it_too(self):
        node = self.start(Node(self))
        self.assertEqual(node.stop(signal.SIGINT), 0, node.log())

    def test_four_shards(self):
        node = self.start(Node(self, arena={"bytes": "128MiB", "segment_bytes": "32MiB", "shards": 4}))
        status = node.status()
        self.assertEqual(status["shards"], 4)
        self.assertEqual(status["counters"]["segments"], 4)
        self.assertEqual(node.ctl_json("ls")["entries"], [])
        self.assertEqual(node.ctl_json("verify", "--all", "--yes")["checked"], 0)
        self.assertEqual(node.stop(), 0, node.log())

    def test_a_second_node_on_the_folder_is_refused(self):
        node = self.start(Node(self))
        second = self.launch(Node(self))
        self.assertEqual(second.wait(), 1)
        why = second.wait_event("node_failed").values["why"]
        self.assertIn(f"{node.run_dir} is in use by another node (pid {node.pid})", why)
        self.assertEqual(node.status()["is_stopping"], False)  # unharmed

    def test_a_killed_node_is_replaced(self):
        first = self.start(Node(self))
        with open(f"{first.run_dir}/token", "rb") as file:
            old_token = file.read()
        old_boot = first.status()["node_boot"]
        first.kill()
        self.assertTrue(os.path.exists(f"{first.run_dir}/node.sock"))  # left behind
        second = self.start(Node(self))
        with open(f"{first.run_dir}/token", "rb") as file:
            self.assertNotEqual(file.read(), old_token)
        self.assertNotEqual(second.status()["node_boot"], old_boot)
        self.assertEqual(second.stop(), 0, second.log())

    def test_a_deep_folder_works(self):
        deep = self.path("/".join(["a-rather-long-name-for-a-folder"] * 6))
        node = self.start(Node(self, run_dir=deep))
        self.assertGreater(len(f"{deep}/node.sock"), 108)
        with socket.socket(socket.AF_UNIX) as peer:
            folder = os.open(deep, os.O_PATH)
            peer.connect(f"/proc/self/fd/{folder}/node.sock")
            os.close(folder)
        self.assertEqual(node.stop(), 0, node.log())

    def test_a_taken_port_is_named(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            node = self.launch(Node(self, grpc_listen=address))
            self.assertEqual(node.wait(), 1)
            self.assertIn(f"cannot listen on {address}: another process listens there",
                          node.wait_event("node_failed").values["why"])

    def test_too_large_an_arena_is_refused_with_both_numbers(self):
        node = self.launch(Node(self, arena={"bytes": "32TiB", "segment_bytes": "16GiB"}))
        node.wait_event("start_delayed")
        node.process.send_signal(signal.SIGTERM)  # ends the wait for memory
        self.assertEqual(node.wait(), 1)
        self.assertRegex(node.wait_event("node_failed").values["why"],
                         r"arena\.bytes is 33554432 MiB, but .* \d+ MiB.*less 10 % \d+ MiB")


class ConfigTest(Case):
    def check(self, text, *flags):
        return run("cairn-node", "--config", self.write("n.yaml", text), *flags)

    GOOD = "run_dir: {run}\nsecurity:\n  dev_mode_without_tls: true\narena:\n  bytes: 64MiB\n  segment_bytes: 64MiB\n"

    def good(self):
        return self.GOOD.format(run=self.path("run"))

    def test_a_good_one_is_checked_and_printed(self):
        ran = self.check(self.good(), "--check_config")
        self.assertEqual((ran.returncode, ran.stdout), (0, ""), ran.stderr)
        ran = self.check(self.good(), "--print_config")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("  bytes: 67108864\n", ran.stdout)
        again = self.check(ran.stdout, "--print_config")
        self.assertEqual(again.stdout, ran.stdout)
        self.assertFalse(os.path.exists(self.path("run")))

    def test_a_wrong_field_exits_with_2_and_is_named(self):
        for text, message in ((self.good() + "frob: 1\n", "n.yaml:7: field frob: unknown field"),
                              (self.good() + "pins:\n  age_maks: 3s\n", "n.yaml:8: field pins.age_maks: unknown field"),
                              (self.good() + "drain_timeout: soon\n", "n.yaml:7: field drain_timeout: expected a duration"),
                              (self.good() + "grpc_listen: 0.0.0.0:7001\n", "grpc_listen: 0.0.0.0:7001 is not loopback"),
                              (self.good() + "sessions: {serve_other_users: true}\n", "sessions.serve_other_users: needs"),
                              (self.good().replace("64MiB\n", "100MiB\n", 1), "arena.bytes: a multiple of segment_bytes"),
                              ("run_dir: x\narena: {bytes: 1GiB}\n", "security: required: either tls, or")):
            for flags in ((), ("--check_config",)):
                ran = self.check(text, *flags)
                self.assertEqual(ran.returncode, 2, message)
                self.assertIn(message, ran.stderr)
                self.assertIn("n.yaml", ran.stderr)
        self.assertFalse(os.path.exists(self.path("run")))

    def test_flags(self):
        self.assertEqual(run("cairn-node", "--help").returncode, 0)
        for arguments in ((), ("--config",), ("--config=a", "--frob"), ("--config=no/such.yaml",)):
            ran = run("cairn-node", *arguments)
            self.assertEqual(ran.returncode, 2, arguments)
            self.assertIn("cairn-node: ", ran.stderr)


class CtlTest(Case):
    def setUp(self):
        super().setUp()
        self.node = self.start(Node(self))

    def test_status_has_every_counter(self):
        status = self.node.status()
        self.assertTrue(status["is_dev_mode"])
        self.assertEqual(status["arena_bytes"], 64 << 20)
        self.assertEqual((status["sessions"], status["roots"]), ([], []))
        self.assertGreater(status["uptime_seconds"], 0)
        for name in ("hits", "misses", "stale", "put_torn", "conflicts", "quarantined", "evictions", "pins", "loans",
                     "suspects", "sessions_ended", "messages_malformed", "hello_refused.bad_token", "slots.ready",
                     "slot_bytes.ready", "no_room", "pending", "pending_asked", "puts_failed", "pins_aged", "loans_overdue",
                     "keys_capped", "transport.strangers_dropped", "transport.malformed_dropped",
                     "transport.messages_received"):
            self.assertEqual(status["counters"][name], 0, name)
        table = self.node.ctl("status")
        self.assertEqual(table.returncode, 0, table.stderr)
        for text in ("serving", "64 MiB in segments of 32 MiB", "dev mode without TLS", "hello_refused.bad_token"):
            self.assertIn(text, table.stdout)

    def test_what_is_not_there_exits_with_3(self):
        for arguments in (("describe", KEY), ("evict", KEY, "--yes"), ("verify", KEY, "--yes"),
                          ("ls", "--root", KEY), ("evict", "--all", "--root", KEY, "--yes")):
            ran = self.node.ctl(*arguments)
            self.assertEqual(ran.returncode, 3, (arguments, ran.stderr))

    def test_an_empty_node_lists_and_evicts_nothing(self):
        self.assertEqual(self.node.ctl_json("ls"), {"entries": [], "next_cursor": ""})
        self.assertEqual(self.node.ctl_json("evict", "--all", "--yes"), {"evicted": 0, "held": 0, "missing": 0})

    def test_mutations_say_what_they_do_and_need_a_yes(self):
        for arguments, told in ((("evict", "--all"), "will drop every entry of every root"),
                                (("verify", KEY), "will hash the entries of 1 keys of every root again")):
            ran = self.node.ctl(*arguments)
            self.assertEqual(ran.returncode, 2)
            self.assertIn(told, ran.stderr)
            self.assertIn("--yes", ran.stderr)
        self.node.ctl("evict", "--all", "--yes")
        audited = self.node.wait_event("admin_called", verb="Evict").values
        self.assertEqual((audited["peer"], audited["what"]), ("unverified", "all"))
        self.assertNotIn("verb=Verify", self.node.log())

    def test_explain_tells_why(self):
        by_key = self.node.ctl_json("explain", "--root", KEY, KEY)["cases"][0]
        self.assertEqual((by_key["is_root_known"], by_key["keys_present"]), (False, 0))
        self.assertEqual(by_key["keys"][0]["state"], "never_seen")
        with open(os.path.join(support.ROOT, "tests", "data", "keys.json"), encoding="utf-8") as file:
            cases = json.load(file)["cases"]
        answers = self.node.ctl_json("explain", "tests/data/keys.json")["cases"]
        self.assertEqual([a["root"] for a in answers], [c["root"] for c in cases])
        self.assertEqual([[k["key"] for k in a["keys"]] for a in answers], [c["keys"] for c in cases])
        table = self.node.ctl("explain", "-", stdin=json.dumps({"root": KEY, "keys": [KEY, KEY]}))
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertIn("no session has opened it", table.stdout)
        self.assertIn("0 of 2 keys are present", table.stdout)

    def test_usage_errors_exit_with_2(self):
        for arguments, message in ((("describe", "abc"), "KEY is 64 hex digits"), (("describe",), "missing argument"),
                                   (("ls", "--limit=0"), "--limit is from 1"), (("ls", "--root=ab"), "--root is 64 hex"),
                                   (("evict",), "either KEYs, or --all"), (("explain",), "name one FILE"),
                                   (("status", "--timeout=soon"), "--timeout is a duration"),
                                   (("ls", "--cursor=x"), "cursor")):
            ran = self.node.ctl(*arguments)
            self.assertEqual(ran.returncode, 2, (arguments, ran.stderr))
            self.assertIn(message, ran.stderr)

    def test_the_node_is_named_by_flag_or_environment(self):
        self.assertEqual(ctl("status", "--endpoint", self.node.grpc).returncode, 0)
        self.assertEqual(ctl("status", env={"CAIRN_ENDPOINT": self.node.grpc}).returncode, 0)
        self.assertEqual(ctl("status", env={"CAIRN_RUN_DIR": self.node.run_dir}).returncode, 0)
        # A flag wins over the environment.
        self.assertEqual(ctl("status", "--endpoint", self.node.grpc, env={"CAIRN_ENDPOINT": "127.0.0.1:1"}).returncode, 0)
        ran = ctl("status")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("--endpoint=HOST:PORT or --run-dir=DIR", ran.stderr)
        ran = ctl("status", "--run-dir", self.folder)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("no node runs in", ran.stderr)
        ran = ctl("status", "--endpoint", "127.0.0.1:1")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("Is cairn-node running there?", ran.stderr)
        ran = ctl("status", "--endpoint", "10.1.2.3:5")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("is not loopback", ran.stderr)

    def test_tokens_are_refused_in_dev_mode(self):
        ran = run("e2e_open_session", f"--endpoint={self.node.grpc}")
        self.assertEqual(ran.stdout.split()[0], "FAILED_PRECONDITION", ran.stderr)


class EntriesTest(CaseClientCase):
    """cairnctl over entries that a client has stored and, at first, holds pinned."""

    ARENA = {"bytes": "128MiB", "segment_bytes": "32MiB", "shards": 4}

    def test_what_is_stored_is_listed_described_verified_explained(self):
        self.client().expect_held().end()
        listed = self.node.ctl_json("ls", "--root", self.case["root"])["entries"]
        self.assertEqual(sorted(entry["key"] for entry in listed), sorted(self.keys))
        self.assertEqual({(e["producer"], e["bytes"], e["kind"]) for e in listed}, {("case-client", 4096, "kv_block")})
        two = self.node.ctl_json("ls", "--limit=2")
        rest = self.node.ctl_json("ls", "--cursor", two["next_cursor"])
        self.assertEqual(sorted(e["key"] for e in two["entries"] + rest["entries"]), sorted(self.keys))
        described = self.node.ctl_json("describe", self.keys[0])["entries"]
        self.assertEqual([(e["key"], e["root"]) for e in described], [(self.keys[0], self.case["root"])])
        self.assertIn(self.keys[0], self.node.ctl("describe", self.keys[0]).stdout)
        self.assertEqual(self.node.ctl_json("verify", "--all", "--yes"),
                         {"checked": len(self.keys), "bad": 0, "missing": 0, "skipped": 0})
        answer = self.node.ctl_json("explain", "tests/data/keys.json", "--case", self.case["name"])["cases"][0]
        self.assertEqual((answer["is_root_known"], answer["keys_present"]), (True, len(self.keys)))
        status = self.node.status()
        self.assertEqual([(r["root"], r["entries"]) for r in status["roots"]], [(self.case["root"], len(self.keys))])
        counters = status["counters"]
        self.assertEqual((counters["stored"], counters["hits"], counters["slots.ready"]), (len(self.keys),) * 3)
        self.assertGreaterEqual(counters["transport.messages_received"], 3)  # HELLO, OFFER, ACQUIRE

    def test_what_is_held_is_not_evicted(self):
        client = self.client().expect_held()
        session = self.node.status()["sessions"][0]
        self.assertEqual((session["producer"], session["pid"], session["lane"], session["pinned_keys"]),
                         ("case-client", client.pid, "same_user", len(self.keys)))
        report = self.node.ctl_json("evict", "--all", "--yes")
        self.assertEqual(report, {"evicted": 0, "held": len(self.keys), "missing": 0})
        client.end()
        self.node.wait_counters(pins=0)
        report = self.node.ctl_json("evict", *self.keys, KEY, "--yes")
        self.assertEqual(report, {"evicted": len(self.keys), "held": 0, "missing": 1})
        self.assertEqual(self.node.ctl("describe", self.keys[0]).returncode, 3)
        gone = self.node.ctl_json("explain", "--root", self.case["root"], self.keys[0])["cases"][0]["keys"][0]
        self.assertEqual((gone["state"], gone["gone_why"]), ("gone", "evicted_by_admin"))

    def test_another_identity_is_named_in_what_it_differs(self):
        self.client().expect_held().end()
        other = json.loads(json.dumps(self.case))
        other["identity"]["rope"] = "another rope"
        answer = self.node.ctl_json("explain", "-", stdin=json.dumps({"cases": [other]}))["cases"][0]
        self.assertEqual((answer["is_root_known"], answer["keys_present"]), (False, 0))
        self.assertEqual([(o["root"], o["differs_in"]) for o in answer["others"]], [(self.case["root"], ["rope"])])

    def test_a_killed_client_leaves_nothing_pinned(self):
        client = self.client().expect_held()
        client.kill()
        self.node.wait_event("session_ended")
        counters = self.node.counters()
        self.assertEqual((counters["sessions"], counters["pins"], counters["entries"]), (0, 0, len(self.keys)))

    def test_a_node_that_stops_lets_a_client_go_on(self):
        client = self.client().expect_held()
        self.assertEqual(self.node.stop(), 0, self.node.log())
        client.end()


class TlsTest(Case):
    def setUp(self):
        super().setUp()
        self.ours = self.make_certificates("ours", "alice")
        self.strangers = self.make_certificates("strangers", "alice")

    def start_node(self):
        return self.start(Node(self, arena=TLS_ARENA, security=tls_files(self.ours, "server")))

    def test_a_client_needs_a_certificate_of_ours(self):
        node = self.start_node()
        self.assertEqual(node.wait_event("node_started").values["security"], "tls")
        self.assertFalse(os.path.exists(f"{node.run_dir}/token"))
        ran = node.ctl("status")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("--ca, --cert and --key", ran.stderr)
        ran = node.ctl("status", *tls_flags(self.strangers, "alice", ca=self.ours))
        self.assertEqual(ran.returncode, 1)
        ran = node.ctl("status", *tls_flags(self.strangers, "alice"))
        self.assertEqual(ran.returncode, 1)
        node.ctl_flags = tls_flags(self.ours, "alice")
        self.assertFalse(node.status()["is_dev_mode"])
        self.assertEqual(node.ctl("evict", "--all", "--yes").returncode, 0)
        self.assertEqual(node.wait_event("admin_called", verb="Evict").values["peer"], "alice")

    def test_open_session_gives_a_token(self):
        node = self.start_node()
        ran = run("e2e_open_session", f"--endpoint={node.grpc}", *tls_flags(self.ours, "alice"))
        words = ran.stdout.split()
        self.assertEqual(words[0], "OK", ran.stderr)
        self.assertEqual(words[2], "32")  # bytes of the secret
        self.assertEqual(node.wait_event("admin_called", verb="OpenSession").values["peer"], "alice")
        node.ctl_flags = tls_flags(self.ours, "alice")
        self.assertEqual(node.counters()["tokens"], 1)

    def test_flags_that_cannot_work_are_usage_errors(self):
        for flags, message in ((["--ca=a.pem"], "all three"),
                               (tls_flags(self.path("none"), "alice"), "ca_file: cannot read")):
            ran = ctl("status", "--endpoint=127.0.0.1:1", *flags)
            self.assertEqual(ran.returncode, 2)
            self.assertIn(message, ran.stderr)

    def test_a_certificate_with_another_key_exits_with_2(self):
        security = tls_files(self.ours, "server")
        security["tls"]["key_file"] = f"{self.strangers}/server.key"
        node = self.launch(Node(self, security=security))
        self.assertEqual(node.wait(), 2)
        self.assertIn("security.tls.key_file: ", node.log())


support.main()
