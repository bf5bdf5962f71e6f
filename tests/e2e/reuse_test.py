"""Workers that share spans through a node."""
from support import Node, main
from worker_support import ENTRY_BYTES, Asking, Worker, WorkerCase, passage, prompt, question, wait_until

SMALL = {"bytes": "128KiB", "segment_bytes": "64KiB"}  # about 30 entries of the tiny model


class ReuseTest(WorkerCase):
    def test_another_worker_reuses_spans_at_other_offsets(self):
        node = self.start(Node(self))
        a, b = self.start_workers(node, "a", "b")
        first = self.ask(a, prompt(1, 2, 3))
        self.assertEqual(first.span_tokens_reused, 0)
        a.wait_offers()
        moved = [{"kind": "prefix", "text": "Read this first."}, passage(3), passage(1), question("And now, which rule?")]
        again = self.ask(b, moved)
        self.assertEqual((again.span_tokens, again.span_tokens_reused), (200, 200))
        self.assertLess(again.cairn["tokens_computed"], 60)
        self.assertEqual(again.cairn["prompt_tokens"], again.cairn["tokens_computed"] + again.cairn["tokens_reused_local"])

    def test_a_span_that_is_there_twice_is_computed_once(self):
        node = self.start(Node(self))
        [worker] = self.start_workers(node, "a")
        answer = self.ask(worker, prompt(1, 2, 1))
        self.assertLess(answer.cairn["tokens_computed"], answer.cairn["prompt_tokens"] - 90)

    def test_a_worker_may_start_before_its_node(self):
        run_dir = self.path("node")
        worker = self.start(Worker(self, "a", run_dir))
        self.assertEqual(self.ask(worker, prompt(1, 2)).span_tokens_reused, 0)
        self.start(Node(self, run_dir=run_dir))
        worker.wait_connected()
        self.ask(worker, prompt(1, 2))
        worker.wait_offers()
        self.assertEqual(self.ask(worker, prompt(2, 1)).span_tokens_reused, 200)

    def test_what_was_computed_before_the_first_session_is_offered_in_it(self):
        run_dir = self.path("node")
        worker = self.start(Worker(self, "a", run_dir))
        self.assertEqual(worker.health()["node"], "away")
        long = 7500
        asking = Asking(worker, prompt(1, 2), long)
        wait_until(lambda: worker.health()["tokens_computed"] > 300, worker.log)  # decoding
        self.start(Node(self, run_dir=run_dir))
        worker.wait_connected()  # from here on each step offers what is there
        if asking.is_done():
            self.skipTest("the answer was there before the node: this machine is too quick for this test")
        self.check(asking.answer(), prompt(1, 2), long)
        worker.wait_offers()
        self.assertEqual(self.ask(worker, prompt(2, 1)).span_tokens_reused, 200)

    def test_a_deep_run_folder_works(self):
        node = self.start(Node(self, run_dir=self.path("/".join(["a-rather-long-name-for-a-folder"] * 6))))
        a, b = self.start_workers(node, "a", "b")
        self.ask(a, prompt(1, 2))
        a.wait_offers()
        self.assertEqual(self.ask(b, prompt(2, 1)).span_tokens_reused, 200)

    def test_everything_listens_on_loopback_only(self):
        node = self.start(Node(self, peers={"listen": "127.0.0.1:0"}))
        [worker] = self.start_workers(node, "a")
        self.ask(worker, prompt(1))
        for process in (node, worker):
            self.assertEqual({address for address, _ in process.listening_at()}, {"127.0.0.1"})
        self.assertEqual(len(worker.listening_at()), 1)  # HTTP: UCX opens no port on one host

    def test_a_restarted_node_gets_hits_again(self):
        node = self.start(Node(self))
        a, b = self.start_workers(node, "a", "b")
        self.ask(a, prompt(1, 2))
        a.wait_offers()
        node.kill()
        self.wait_away(a, b)
        node = self.start(Node(self))  # the same folder; the workers are not touched
        self.wait_connected(a, b)
        self.assertEqual(self.ask(b, prompt(1, 2)).span_tokens_reused, 0)
        b.wait_offers()
        self.assertEqual(self.ask(a, prompt(2, 1)).span_tokens_reused, 200)

    def test_a_node_smaller_than_the_working_set_evicts_and_goes_on(self):
        node = self.start(Node(self, arena=SMALL))
        a, b = self.start_workers(node, "a", "b")
        for i in range(12):
            if i == 11:  # what the last one stores shall be the last to be stored
                a.wait_offers()
            self.ask((a, b)[i % 2], prompt(3 * i, 3 * i + 1, 3 * i + 2))
        b.wait_offers()
        counters = node.counters()
        self.assertGreater(counters["evictions"], 0)
        self.assertLessEqual(counters["slot_bytes.ready"], 128 << 10)
        self.assertEqual(counters["quarantined"], 0)
        self.assertEqual(self.ask(a, prompt(34, 35)).span_tokens_reused, 200)  # the last are there

    def test_four_shards_serve_as_one(self):
        node = self.start(Node(self, arena={"bytes": "1MiB", "segment_bytes": "128KiB", "shards": 4}))
        a, b = self.start_workers(node, "a", "b")
        self.ask(a, prompt(*range(8)))
        a.wait_offers()
        self.assertEqual(self.ask(b, prompt(*reversed(range(8)))).span_tokens_reused, 800)


class IdentityTest(WorkerCase):
    def test_workers_with_another_kv_type_share_nothing(self):
        node = self.start(Node(self))
        [bf16] = self.start_workers(node, "bf16")
        [f32] = self.start_workers(node, "f32", engine={"kv_dtype": "f32"})
        self.assertNotEqual(bf16.root, f32.root)
        self.ask(bf16, prompt(1, 2))
        bf16.wait_offers()
        answer = f32.ask(prompt(1, 2))
        self.assertEqual((answer.status, answer.span_tokens_reused), (200, 0))
        f32.wait_offers()
        wait_until(lambda: len(node.status()["roots"]) == 2, "both roots are there")
        key = next(entry["key"] for entry in node.ctl_json("ls", "--root", bf16.root)["entries"]
                   if entry["bytes"] == ENTRY_BYTES)
        told = node.ctl_json("explain", "--root", f32.root, key)["cases"][0]
        other = next(other for other in told["others"] if other["root"] == bf16.root)
        self.assertIn("kv_layout", other["differs_in"])
        self.assertNotIn("model", other["differs_in"])

    def test_another_salt_shares_nothing(self):
        node = self.start(Node(self))
        [a] = self.start_workers(node, "a", cache={"namespace": "one", "salt": "x"})
        [b] = self.start_workers(node, "b", cache={"namespace": "one", "salt": "y"})
        self.ask(a, prompt(1, 2))
        a.wait_offers()
        self.assertEqual(self.ask(b, prompt(1, 2)).span_tokens_reused, 0)


main()
