"""cairn-placement as a real process."""
import json
import os
import signal
import subprocess

import support
from placement_support import LENGTH, Placement
from support import Case, binary, run, tls_files


def observation(family, request, depth=17 * 64, **fields):
    return {"family": family, "entry_id": 1, "entry_length": LENGTH, "overlap_depth": depth, "request_length": LENGTH,
            "request_entry_id": 1000 + request, **fields}


class ServiceCase(Case):
    def start_service(self, **fields):
        return self.start(Placement(self, **fields))

    def teach(self, service, family, requests=60, first=0):
        answer = service.observe(*(observation(family, first + i) for i in range(requests)))
        self.assertEqual(int(answer["taken"]), requests, answer)


class PlacementTest(ServiceCase):
    def test_observes_plans_and_explains(self):
        service = self.start_service()
        self.assertEqual(service.restored["from"], "empty")
        before = service.plan(7)
        self.assertEqual(before["positions"][-1], str(LENGTH))
        self.assertEqual(int(service.call("Exposed", family=7, entries=[{"entry_id": 1, "length": LENGTH}])["taken"]), 1)
        self.teach(service, 7, 300)
        explained = service.call("Explain", plan={"family": 7, "length": LENGTH, "budget": 2})
        self.assertEqual((explained["family"]["requests"], explained["family"]["claims"]), ("301", "300"))
        self.assertEqual([bin["claims"] for bin in explained["distances"] if bin["claims"]], [300])
        names = [strategy["name"] for strategy in explained["strategies"]]
        self.assertEqual((names[0], names[-2:]), ("followed", ["balanced", "dense"]))
        self.assertEqual(len([expert for expert in explained["experts"] if expert["is_leader"]]), 1)
        self.assertEqual([family["family"] for family in service.call("ListFamilies")["families"]], ["7"])
        self.assertEqual(service.stop(), 0, service.log())

    def test_cairnctl_shows_explains_simulates_and_compares(self):
        service = self.start_service()

        def plan(*arguments):
            ran = support.ctl("plan", *arguments, f"--placement={service.grpc}")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            return ran.stdout
        self.assertIn("no families", plan("show"))
        self.teach(service, 0x2a, 300)
        self.teach(service, 7, 5)
        shown = json.loads(plan("show", "--output=json", "--limit=1"))
        self.assertEqual([(family["family"], family["claims"]) for family in shown["families"]], [("7", 5)])
        self.assertEqual(shown["counters"]["observations"], 305)
        self.assertRegex(plan("show"), r"(?m)^2a +301 +300 ")

        asked = ("2a", f"--length={LENGTH}", "--budget=1")
        answer = service.plan(0x2a, budget=1)
        explained = json.loads(plan("explain", *asked, "--output=json"))
        self.assertEqual(explained["plan"]["positions"], [int(position) for position in answer["positions"]])
        self.assertEqual(explained["plan"]["reason"], answer["reason"])
        self.assertEqual(explained["family"]["family"], "2a", "as it is asked for")
        text = plan("explain", *asked)
        self.assertIn(answer["reason"], text)
        self.assertRegex(text, r"(?m)^1344 to 1728 +300\.0 ")

        plans = json.loads(plan("simulate", *asked[:2], "--budget=3", "--output=json"))["plans"]
        self.assertEqual([one["budget"] for one in plans], [0, 1, 2, 3])
        self.assertEqual(plans[0]["positions"], [])
        self.assertEqual(plans[1]["positions"], explained["plan"]["positions"])
        left = [one["expected_recompute"] for one in plans]
        self.assertEqual(left, sorted(left, reverse=True), "more states never cost more")
        self.assertLess(left[1], left[0])

        strategies = json.loads(plan("compare", *asked, "--output=json"))["strategies"]
        self.assertEqual((strategies[0]["name"], strategies[-1]["name"]), ("followed", "dense"))
        self.assertEqual(strategies[0]["positions"], explained["plan"]["positions"])
        for strategy in strategies:
            self.assertIn(strategy["name"], plan("compare", *asked))

        refused = support.ctl("plan", "explain", "2a", "--length=64", "--resume=128", f"--placement={service.grpc}")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("placement service at", refused.stderr)

    def test_garbage_is_refused_counted_and_the_rest_taken(self):
        service = self.start_service()
        answer = service.observe(observation(7, 1), observation(7, 2, depth=LENGTH + 1), observation(7, 3, weight="NaN"),
                                 observation(7, 4, request_length=str(2**63)), observation(7, 5))
        self.assertEqual((answer["taken"], answer["refused"]), ("2", "3"))
        self.assertIn("overlap_depth: ", answer["first_refusal"])
        self.assertEqual(service.counters()["observations_refused"], 3)
        ran = service.ask("Plan", json.dumps({"family": 7, "length": LENGTH, "budget": 2, "resume_depth": 65}))
        self.assertEqual(ran.returncode, 1)
        self.assertIn("resume_depth: ", ran.stderr)

    def test_killed_in_mid_stream_it_comes_back_with_its_histograms(self):
        service = self.start_service()
        self.teach(service, 7)
        explained = service.call("Explain", plan={"family": 7, "length": LENGTH, "budget": 2})
        self.assertEqual(service.call("Snapshot")["generation"], "1")
        stream = subprocess.Popen([binary("e2e_placement_call"), service.grpc, "Observe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(stream.communicate)
        self.addCleanup(stream.kill)
        stream.stdin.write(json.dumps({"observations": [observation(8, 1)]}) + "\n")
        stream.stdin.flush()
        self.assertEqual(stream.stdout.readline(), "sent\n")
        service.kill()
        again = self.start_service()
        self.assertEqual((again.restored["generation"], again.restored["from"], again.restored["damage"]), ("1", "whole", ""))
        self.assertEqual(again.call("Explain", plan={"family": 7, "length": LENGTH, "budget": 2}), explained)
        self.teach(again, 7, first=100)

    def test_stopped_it_writes_what_it_has_learnt(self):
        service = self.start_service()
        self.teach(service, 7)
        plan = service.plan(7)
        self.assertEqual(service.stop(signal.SIGINT), 0, service.log())
        service.wait_event("snapshot_written", generation=1)
        again = self.start_service()
        self.assertEqual(again.plan(7), plan)
        self.assertEqual(again.stop(), 0)  # nothing learnt: no other one
        self.assertEqual(self.start_service().restored["generation"], "1")

    def test_the_interval_writes_snapshots(self):
        service = self.start_service(snapshot_interval="1s")
        self.teach(service, 7)
        service.wait_event("snapshot_written", generation=1)

    def test_a_second_one_on_the_folder_is_refused(self):
        service = self.start_service()
        second = self.launch(Placement(self))
        self.assertEqual(second.wait(), 1)
        self.assertIn(f"{service.folder} is open in another process", second.wait_event("placement_failed").values["why"])


class DamageTest(ServiceCase):
    """Snapshot 1 knows family 7; snapshot 2 knows 7 and 8."""

    def setUp(self):
        super().setUp()
        service = self.start_service()
        self.teach(service, 7)
        service.call("Snapshot")
        self.teach(service, 8)
        service.call("Snapshot")
        service.kill()
        self.folder_of_snapshots = service.folder
        self.tables = sorted(os.path.join(generation, name) for generation in os.listdir(service.folder) if generation.isdigit()
                             for name in os.listdir(os.path.join(service.folder, generation)) if name.endswith(".sst"))

    def restart(self):
        service = self.start_service()
        families = sorted(family["family"] for family in service.call("ListFamilies")["families"])
        self.assertEqual(families, {"0": [], "1": ["7"], "2": ["7", "8"]}[service.restored["generation"]])
        self.teach(service, 9)
        self.assertGreater(int(service.call("Snapshot")["generation"]), 0)
        return service.restored

    def damage(self, name, change):
        path = os.path.join(self.folder_of_snapshots, name)
        with open(path, "rb") as file:
            content = change(file.read())
        with open(path, "wb") as file:
            file.write(content)

    def test_undamaged_the_newest_is_taken(self):
        self.assertEqual((len(self.tables), self.restart()["generation"]), (2, "2"))

    def test_the_newest_cut_short(self):
        self.damage(self.tables[-1], lambda content: content[:len(content) // 2])
        self.assertEqual(self.restart()["generation"], "1")

    def test_a_byte_of_the_newest_flipped(self):
        self.damage(self.tables[-1], lambda content: content[:len(content) // 3] + bytes([content[len(content) // 3] ^ 1])
                    + content[len(content) // 3 + 1:])
        restored = self.restart()
        self.assertEqual(restored["generation"], "1")
        self.assertIn("generation 2: ", restored["damage"])

    def test_the_newest_gone(self):
        os.remove(os.path.join(self.folder_of_snapshots, self.tables[-1]))
        self.assertEqual(self.restart()["generation"], "1")

    def test_both_flipped_it_starts_empty(self):
        for name in self.tables:
            self.damage(name, lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:])
        restored = self.restart()
        self.assertEqual((restored["generation"], restored["from"]), ("0", "empty"))
        self.assertIn("generation 1: ", restored["damage"])

    def test_the_folder_gone(self):
        os.rename(self.folder_of_snapshots, self.folder_of_snapshots + ".elsewhere")
        self.assertEqual(self.restart()["from"], "empty")

    def test_what_names_the_table_of_the_newest_gone(self):
        folder = os.path.dirname(os.path.join(self.folder_of_snapshots, self.tables[-1]))
        for name in os.listdir(folder):
            if name.startswith(("MANIFEST", "CURRENT")):
                os.remove(os.path.join(folder, name))
        restored = self.restart()
        self.assertEqual(restored["generation"], "1")
        self.assertIn("generation 2: ", restored["damage"])


class SecurityTest(Case):
    def test_with_tls_a_client_needs_a_certificate_of_ours(self):
        ours, strangers = (self.make_certificates(name, "alice") for name in ("ours", "strangers"))
        service = self.start(Placement(self, security=tls_files(ours, "server")))
        self.assertEqual(service.ask("Status").returncode, 1)
        self.assertEqual(service.ask("Status", tls=[f"{ours}/ca.pem", f"{strangers}/alice.pem", f"{strangers}/alice.key"]).returncode, 1)
        service.tls = [f"{ours}/ca.pem", f"{ours}/alice.pem", f"{ours}/alice.key"]
        self.assertFalse(service.call("Status")["is_dev_mode"])
        service.call("Snapshot")
        self.assertEqual(service.wait_event("admin_called", verb="Snapshot").values["peer"], "alice")

    def test_configuration_mistakes_name_their_field(self):
        good = "snapshot_dir: s\nsecurity: {dev_mode_without_tls: true}\n"
        for text, message in ((good, ""), ("security: {dev_mode_without_tls: true}\n", "snapshot_dir: required"),
                              ("snapshot_dir: s\n", "security"), (good + "grpc_listen: 0.0.0.0:1\n", "grpc_listen: "),
                              (good + "snapshot_interval: 1ms\n", "snapshot_interval: "), (good + "memory: {entries_max: 5}\n", "memory.entries_max: "),
                              (good + "grid_tokens: 100000\n", "grid_tokens: "), (good + "gird: 1\n", "gird")):
            ran = run("cairn-placement", "--config", self.write("p.yaml", text), "--check_config")
            self.assertEqual(ran.returncode, 2 if message else 0, ran.stderr)
            self.assertIn(message, ran.stderr)
        ran = run("cairn-placement", "--config", self.write("p.yaml", good + "grid_tokens: 32\n"), "--print_config")
        self.assertIn("grid_tokens: 32\n", ran.stdout)


support.main()
