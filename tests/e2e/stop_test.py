"""How a worker ends: what runs is answered first, unless someone is impatient."""
import signal

from support import Node, main
from worker_support import Asking, Worker, WorkerCase, prompt, wait_until


class StopTest(WorkerCase):
    def running(self, count, max_tokens):
        """A worker that computes one request at a time, and `count` requests that it has taken in."""
        worker = self.start(Worker(self, engine={"running_max": 1}))
        asked = [Asking(worker, prompt(i), max_tokens) for i in range(count)]
        wait_until(lambda: worker.health()["requests"] == count, worker.log)
        return worker, asked

    def test_what_runs_is_answered(self):
        expected = [self.expected(prompt(i), 64) for i in range(12)]
        worker, asked = self.running(12, 64)
        worker.process.send_signal(signal.SIGTERM)
        for number, one in enumerate(asked):
            answer = one.answer()
            self.assertEqual((answer.status, answer.tokens), (200, expected[number]), worker.log())
        self.assertEqual(worker.wait(), 0, worker.log())
        self.assertEqual(worker.wait_event("worker_stopping").values["requests"], "answered")

    def test_many_streams_that_end_at_once_end_whole(self):
        expected = [self.expected(prompt(i), 8) for i in range(32)]
        worker = self.start(Worker(self))
        asked = [Asking(worker, prompt(i), 8) for i in range(32)]
        wait_until(lambda: worker.health()["requests"] == 32, worker.log)
        worker.process.send_signal(signal.SIGTERM)
        for number, one in enumerate(asked):
            answer = one.answer()
            self.assertEqual((answer.status, answer.tokens), (200, expected[number]), answer.error)
        self.assertEqual(worker.wait(), 0, worker.log())

    def test_a_node_that_stands_still_does_not_hold_it(self):
        node = self.start(Node(self))
        worker = self.start(Worker(self, node=node, cache={"acquire_timeout": "50ms"}, drain_timeout="1s"))
        worker.wait_connected()
        node.process.send_signal(signal.SIGSTOP)
        self.addCleanup(node.process.send_signal, signal.SIGCONT)
        self.assertEqual(worker.ask(prompt(1)).status, 200)
        self.assertLess(worker.health()["pool_blocks_available"], worker.health()["pool_blocks"], "its offer is open")
        self.assertEqual(worker.stop(), 0, worker.log())

    def test_a_new_request_is_refused_and_health_says_why(self):
        worker, asked = self.running(64, 7500)  # one after the other: more than anyone waits for
        worker.process.send_signal(signal.SIGTERM)
        worker.wait_event("worker_draining")
        wait_until(lambda: worker.post("/health", None, "GET")[0] == 503, worker.log)
        self.assertIn('"status":"draining"', worker.post("/health", None, "GET")[1])
        refused = worker.ask(prompt(2))
        self.assertEqual(refused.status, 503)
        self.assertIn("stopping", refused.error)
        worker.process.send_signal(signal.SIGTERM)  # impatient
        self.assertNotEqual(asked[-1].answer().status, 200)
        for one in asked:
            one.answer()
        self.assertEqual(worker.wait(), 0, worker.log())
        self.assertEqual(worker.wait_event("worker_stopping").values["requests"], "cut")


if __name__ == "__main__":
    main()
