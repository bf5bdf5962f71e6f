"""cairn-placement told by a node and asked by workers: true overlaps, plans, and what happens while it is away."""
import json
import signal

import support
from placement_support import Placement
from support import Node, main, tls_files, tls_flags
from worker_support import Worker, WorkerCase, prompt, question, wait_until

BLOCK = 16  # tokens; the tiny model takes a byte as one


def text(*parts):
    """A prompt of one segment: its parts in order, each 160 bytes of its own."""
    body = "".join((f"Part {part} says {part * 7919 % 1009}. " * 20)[:160] for part in parts)
    return [{"kind": "prefix", "text": body}]


class AdviceCase(WorkerCase):
    last = 100

    def start_all(self, *workers, **placement):
        """A placement service, a node that tells it, and workers that ask it."""
        self.placement = self.start(Placement(self, grid_tokens=BLOCK, grpc_listen=self.reserved_address(), **placement))
        self.node = self.start(Node(self, placement={"grpc": self.placement.grpc, "timeout": "600s"}))
        return self.start_workers(self.node, *workers, placement=self.asked())

    def asked(self):
        # Long: a busy machine must not look like a service that is away.
        return {"grpc": self.placement.grpc, "grid_tokens": BLOCK, "timeout": "600s", "security": {"dev_mode_without_tls": True}}

    def restart_placement(self):
        """A new one at the old address, on the old folder."""
        self.placement = self.start(Placement(self, grid_tokens=BLOCK, grpc_listen=self.placement.grpc))

    def families(self):
        ran = support.ctl("plan", "show", f"--placement={self.placement.grpc}", "--output=json")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return {family["family"]: family for family in json.loads(ran.stdout)["families"]}

    def wait_told(self, count):
        """Until the service has taken so many prompts since the node started."""
        wait_until(lambda: self.node.counters()["placement.sent"] == count,
                   lambda: f"{count} prompts told: {self.node.counters()}\n{self.node.log()}")

    def ask_planned(self, worker, *parts):
        """The answer to such a prompt whose plan came before its end. Nobody waits for a plan, and the tiny model may be quicker: so
        answers get longer until one comes after its plan."""
        for max_tokens in (8, 8, 32, 128, 512, 2048, 7000):
            self.last += 1
            answer = self.ask(worker, text(*parts, self.last), max_tokens)
            worker.wait_offers()
            if answer.cairn["checkpoints"] is not None:
                return answer
        self.fail(f"no plan came in time: {worker.health()}")

    def source(self, answer):
        return answer.cairn["checkpoints"]["source"]


class OverlapTest(AdviceCase):
    def test_the_node_tells_where_prompts_part_whatever_is_stored(self):
        one, two = self.start_workers_told()
        first = self.ask(one, text(1, 2, 3))
        self.assertEqual(first.cairn["overlap_depth"], 0)
        one.wait_offers()
        second = self.ask(two, text(1, 2, 4))
        self.assertEqual(second.cairn["overlap_depth"], 320)
        self.assertEqual(second.cairn["tokens_reused_local"], 320)
        two.wait_offers()
        self.node.wait_counters(pins=0)  # what is held is not evicted
        self.node.ctl_json("evict", "--all", "--yes")
        third = self.ask(one, text(1, 5))
        self.assertEqual(third.cairn["overlap_depth"], 160, "nothing is stored any more, and yet")
        self.assertEqual(third.cairn["tokens_reused_local"], 0)
        self.ask(one, text(9, 1))
        self.wait_told(4)
        families = self.families()
        self.assertEqual(sorted((f["requests"], f["claims"], f["served"]) for f in families.values()), [(1, 0, 0), (3, 2, 1)])
        big = next(f for f in families.values() if f["requests"] == 3)
        self.assertEqual(big["ceiling_tokens"], 320 + 160)

    def start_workers_told(self):
        return self.start_all("a", "b")

    def test_spans_count_as_they_come(self):
        worker, = self.start_all("a")
        self.ask(worker, prompt(1, 2))
        self.assertEqual(self.ask(worker, prompt(1, 3)).cairn["overlap_depth"], 100, "the first passage, with its last block")
        self.assertEqual(self.ask(worker, [*prompt(1, 2)[:2], question("And then?")]).cairn["overlap_depth"], 200)
        self.assertEqual(self.ask(worker, prompt(2, 1)).cairn["overlap_depth"], 0, "in another order it is another prompt")

    def test_nobody_is_told_where_nobody_is_named(self):
        node = self.start(Node(self))
        worker, = self.start_workers(node, "a")
        for _ in range(2):
            answer = self.ask(worker, text(1, 2))
            self.assertEqual((answer.cairn["overlap_depth"], answer.cairn["checkpoints"]), (0, None))
        self.assertEqual(node.counters()["overlaps"], 0)

    def test_a_node_outlives_the_service(self):
        worker, = self.start_all("a")
        self.ask(worker, text(1, 2))
        self.wait_told(1)
        self.placement.kill()
        self.ask(worker, text(1, 3))
        wait_until(lambda: self.node.counters()["placement.dropped"] == 1, self.node.log)
        self.restart_placement()

        def ask_until_told():
            self.ask(worker, text(1, 4))
            return self.node.counters()["placement.sent"] > 1
        wait_until(ask_until_told, self.node.log)
        self.assertEqual(self.node.stop(), 0, self.node.log())


class PlanTest(AdviceCase):
    def test_workers_go_on_with_cached_plans_then_balanced_ones(self):
        worker, = self.start_all("a")
        self.ask(worker, text(1, 2, 3))
        worker.wait_offers()
        answer = self.ask_planned(worker, 1, 2)
        self.assertEqual(self.source(answer), "service")
        planned = answer.cairn["checkpoints"]["positions"]
        self.assertTrue(planned)
        for position in planned:
            self.assertEqual(position % BLOCK, 0)
            self.assertLess(320, position, "nothing is computed before it")
            self.assertLessEqual(position, 480)
        self.wait_told(worker.health()["requests"])
        self.assertEqual(self.placement.call("Snapshot")["generation"], "1")
        before = self.families()

        self.placement.kill()
        away = self.ask_planned(worker, 1, 2)
        self.assertEqual(self.source(away), "cached")
        self.assertEqual(away.cairn["checkpoints"]["positions"], planned, "as the last one of such a prompt")
        other = self.ask_planned(worker, 5, 6)
        self.assertEqual(self.source(other), "balanced")
        self.assertEqual(other.cairn["checkpoints"]["positions"], [160, 336], "a third and two thirds")

        self.restart_placement()
        self.assertEqual(self.placement.restored["from"], "whole")
        after = self.families()  # and what the node has told meanwhile of the prompts of before
        for family, known in before.items():
            self.assertGreaterEqual(after[family]["requests"], known["requests"], "with its histograms")
            self.assertGreaterEqual(after[family]["claims"], known["claims"])
        # Asked again a second after it failed, and found when gRPC has connected again.
        wait_until(lambda: self.source(self.ask_planned(worker, 1, 2)) == "service", worker.log)
        self.assertGreater(worker.health()["plans_cached"], 0)
        self.assertGreater(worker.health()["plans_balanced"], 0)

    def test_a_worker_starts_while_the_service_is_away(self):
        self.start_all()
        self.placement.kill()
        worker, = self.start_workers(self.node, "late", placement=self.asked())
        self.assertEqual(self.source(self.ask_planned(worker, 1)), "balanced")
        worker.wait_event("placement_away")
        self.restart_placement()
        wait_until(lambda: self.source(self.ask_planned(worker, 1)) == "service", worker.log)
        self.assertEqual(worker.stop(), 0, worker.log())

    def test_a_service_that_stands_still_holds_nobody(self):
        worker, = self.start_all("a")
        self.placement.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.placement.process.send_signal, signal.SIGCONT)
        for last in range(200, 210):
            self.ask(worker, text(1, last))
        self.assertEqual(worker.stop(), 0, worker.log())
        worker.wait_event("worker_stopping", requests="answered")
        self.assertNotIn("placement_away", worker.log(), "it did not wait for an answer")
        self.assertEqual(self.node.stop(), 0, self.node.log())

    def test_another_grid_is_told_and_no_request_fails(self):
        self.start_all()
        worker, = self.start_workers(self.node, "a", placement={**self.asked(), "grid_tokens": 32})
        self.assertEqual(self.source(self.ask_planned(worker, 1)), "balanced")
        self.assertIn("grid", worker.wait_event("placement_refused").values["why"])

    def test_a_prompt_that_is_found_whole_needs_no_plan(self):
        worker, = self.start_all("a")
        self.ask(worker, text(1, 2))
        worker.wait_offers()
        self.assertIsNone(self.ask(worker, text(1, 2)).cairn["checkpoints"])
        wait_until(lambda: worker.health()["plans_by_service"] == 1, worker.log)

    def test_without_a_cache_plans_are_asked_for_too(self):
        self.start_all()
        worker = self.start(Worker(self, "alone", placement=self.asked()))
        self.assertEqual(self.source(self.ask_planned(worker, 1)), "service")


class TlsTest(AdviceCase):
    def test_node_and_worker_show_their_certificates(self):
        ours = self.make_certificates("ours", "a")
        self.placement = self.start(Placement(self, grid_tokens=BLOCK, security=tls_files(ours, "server")))
        # The server's own certificate is for servers only.
        self.node = Node(self, placement={"grpc": self.placement.grpc, "timeout": "600s", "security": tls_files(ours, "a")},
                         security=tls_files(ours, "server"))
        self.node.ctl_flags = tls_flags(ours, "a")
        self.start(self.node)
        security = tls_files(ours, "a")
        worker = self.start(Worker(self, "a", self.node, cache={"security": security, "node_grpc": self.node.grpc},
                                   placement={**self.asked(), "security": security}))
        worker.wait_connected()
        self.assertEqual(self.source(self.ask_planned(worker, 1)), "service")
        self.wait_told(worker.health()["requests"])


class SettingsTest(support.Case):
    def test_mistakes_name_their_field(self):
        dev = {"dev_mode_without_tls": True}
        for placement, says in (({"grpc": "placement:7", "security": dev}, "placement.grpc"),
                                ({"grpc": "10.0.0.1:7", "security": dev}, "is not loopback"),
                                ({"grpc": "127.0.0.1:7"}, "placement.security"),
                                ({"states_max": 5}, "placement.grpc"),
                                ({"states_max": 1025}, "placement.states_max"),
                                ({"grid_tokens": 65537}, "placement.grid_tokens"),
                                ({"timeout": "0s"}, "placement.timeout")):
            with self.subTest(placement=placement):
                file = self.write("w.yaml", json.dumps({"model": {"file": "m.gguf"}, "placement": placement}))
                ran = support.run("cairn-worker", "--config", file, "--check_config")
                self.assertEqual(ran.returncode, 2, ran.stderr)
                self.assertIn(says, ran.stderr)


main()
