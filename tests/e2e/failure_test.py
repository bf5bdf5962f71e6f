"""Nodes and workers that are killed, stopped, or lie; every answer stays right."""
import concurrent.futures
import os
import re
import signal
import socket
import threading
import unittest

import support
from support import Node, main
from worker_support import ENTRY_BYTES, Asking, WorkerCase, prompt, wait_until

SMALL = {"bytes": "128KiB", "segment_bytes": "64KiB"}  # about 30 entries of the tiny model
_PIECE_BYTES = 4096                                    # libs/block/segment_layout.cc
_LONG = 3000                                           # tokens: seconds of reading in place


def arena_mappings(node):
    """Where each segment of its arena begins in the node's memory."""
    with open(f"/proc/{node.pid}/maps", encoding="utf-8") as maps:
        found = re.findall(r"^([0-9a-f]+)-\S+ rw-s .*memfd:cairn-arena-(\d+)", maps.read(), re.M)
    return {int(number): int(begin, 16) for begin, number in found}


def flip_bit(node, entry, at):
    """Byte `at` of a stored entry, in the node's own memory, as a bad DIMM would."""
    segment_bytes = node.status()["segment_bytes"]
    words = segment_bytes // _PIECE_BYTES * 8
    table = -(-words // _PIECE_BYTES) * _PIECE_BYTES
    slot_bytes = -(-entry["bytes"] // _PIECE_BYTES) * _PIECE_BYTES
    address = arena_mappings(node)[entry["segment"]] + table + entry["slot"] * slot_bytes + at
    with open(f"/proc/{node.pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(address)
        byte = memory.read(1)
        memory.seek(address)
        memory.write(bytes([byte[0] ^ 0x10]))


class NodeLossTest(WorkerCase):
    def test_a_node_killed_under_load_fails_no_request(self):
        node = self.start(Node(self))
        workers = self.start_workers(node, "a", "b")
        asked = [prompt(i % 7, i % 5 + 7, i % 3 + 12, asks=f"Question {i}?") for i in range(60)]
        for segments in asked[:10]:
            self.ask(workers[0], segments)
        workers[0].wait_offers()
        lock, left = threading.Lock(), 20

        def one(i):
            nonlocal left
            answer = workers[i % 2].ask(asked[i], 24)
            with lock:
                left -= 1
                if left == 0:
                    node.kill()  # with others in flight
            return answer
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(one, range(len(asked))))
        self.assertFalse(node.is_running())
        self.assertTrue(any(answer.span_tokens_reused for answer in answers[:20]))
        for segments, answer in zip(asked, answers):
            self.check(answer, segments, 24)
        self.assertEqual(self.ask(workers[1], prompt(1, 8, 12)).span_tokens_reused, 0)

    def test_a_node_killed_while_its_memory_is_read(self):
        node = self.start(Node(self))
        [worker] = self.start_workers(node, "a")
        self.ask(worker, prompt(1, 2, 3))
        worker.wait_offers()
        asking = Asking(worker, prompt(3, 2, 1), _LONG)
        wait_until(lambda: node.counters()["pins"] > 0 or asking.is_done(), "the blocks are pinned")
        node.kill()
        self.assertEqual(self.check(asking.answer(), prompt(3, 2, 1), _LONG).span_tokens_reused, 300)


class StrangerTest(WorkerCase):
    """UCX trusts whoever reaches its ports (SECURITY.md): raw bytes may end the node, and nothing else."""

    BYTES = (bytes(13), b"\xff" * 13, b"GET / HTTP/1.1\r\n\r\n", bytes(range(256)) * 64)

    def start_node(self):
        return self.start(Node(self, peers={"listen": "127.0.0.1:0"}))

    def throw(self, node):
        """Raw bytes at every port of its UCX, until that has ended it or all have been thrown."""
        ports = {port for _, port in node.listening_at()} - {int(node.grpc.rpartition(":")[2])}
        self.assertIn(int(node.status()["remote_address"].rpartition(":")[2]), ports)
        for port in sorted(ports):
            for raw in self.BYTES:
                try:
                    with socket.create_connection(("127.0.0.1", port), support.TIMEOUT) as stranger:
                        stranger.sendall(raw)
                except OSError:  # it has ended
                    pass
                if node.ctl("status").returncode != 0:
                    node.wait()
                    return

    def test_raw_bytes_end_the_node_at_most(self):
        node = self.start_node()
        a, b = self.start_workers(node, "a", "b")
        self.ask(a, prompt(1, 2, 3))
        a.wait_offers()
        asking = [Asking(worker, prompt(3, 2, 1), _LONG) for worker in (a, b)]
        self.throw(node)
        node.kill()  # if it lives on
        for one in asking:
            self.check(one.answer(), prompt(3, 2, 1), _LONG)
        self.ask(b, prompt(1, 4))
        self.wait_away(a, b)
        self.start_node()
        self.wait_connected(a, b)
        self.ask(a, prompt(1, 2, 3))
        a.wait_offers()
        self.assertEqual(self.ask(b, prompt(3, 2)).span_tokens_reused, 200)


class WorkerLossTest(WorkerCase):
    def test_a_killed_worker_leaves_nothing_behind(self):
        node = self.start(Node(self))
        a, b = self.start_workers(node, "a", "b")
        self.ask(a, prompt(1, 2, 3))
        a.wait_offers()
        asking = self.stop_while_pinned(node, b)
        b.kill()
        answer = asking.answer()
        self.assertIn(answer.status, (0, 200))  # 200: all of it was on its way to us when b was stopped
        node.wait_counters(sessions=1, pins=0, loans=0, holds=0)
        self.assertEqual(node.counters()["sessions_ended"], 1)
        self.assertEqual(self.ask(a, prompt(2, 3)).span_tokens_reused, 200)

    def test_a_worker_stopped_past_its_pins_still_answers_right(self):
        node = self.start(Node(self, arena=SMALL, pins={"age_max": "4s"}))
        a, b = self.start_workers(node, "a", "b")
        for attempt in range(20):  # b may be stopped just as its blocks have been copied off, and their pins not yet released
            self.ask(a, prompt(1, 2, 3))
            a.wait_offers()
            asking = self.stop_while_pinned(node, b)
            node.wait_counters(pins=0)
            evicted = node.counters()["evictions"]
            number = 100 + 1000 * attempt
            while node.counters()["evictions"] < evicted + 40:  # every slot has other content now
                self.ask(a, prompt(number, number + 1, number + 2))
                a.wait_offers()
                number += 3
            b.process.send_signal(signal.SIGCONT)
            self.check(asking.answer(), prompt(3, 2, 1), _LONG)
            health = b.health()
            if health["steps_thrown_away"] + health["requests_acquired_again"] > 0:
                self.assertGreater(node.counters()["pins_aged"], 0)
                return
        self.fail(f"b was never stopped while it read: {health}")

    def stop_while_pinned(self, node, worker):
        """A request whose worker is stopped while it reads in place."""
        for _ in range(20):  # a busy machine may let it copy its blocks off first
            asking = Asking(worker, prompt(3, 2, 1), _LONG)
            wait_until(lambda: node.counters()["pins"] > 0 or asking.is_done(), "it holds pins")
            worker.process.send_signal(signal.SIGSTOP)
            if node.counters()["pins"] > 0 and not asking.is_done():
                return asking
            worker.process.send_signal(signal.SIGCONT)
            self.check(asking.answer(), prompt(3, 2, 1), _LONG)
        self.fail("the worker was never stopped in time")


class BadMemoryTest(WorkerCase):
    @unittest.skipUnless(os.geteuid() == 0, "writing to another process's memory needs root")
    def test_a_flipped_bit_is_caught_before_it_is_read(self):
        node = self.start(Node(self))
        [a] = self.start_workers(node, "a")
        self.ask(a, prompt(1, 2, 3))
        a.wait_offers()
        entries = [e for e in node.ctl_json("ls", "--limit=100")["entries"] if e["bytes"] == ENTRY_BYTES]
        bad = [entry for entry in entries if entry["depth"] == min(e["depth"] for e in entries)][0]
        try:
            flip_bit(node, bad, at=777)
        except PermissionError as error:
            self.skipTest(f"this system does not let root write to /proc/PID/mem: {error}")
        [fresh] = self.start_workers(node, "fresh")
        answer = self.ask(fresh, prompt(3, 1, 2))
        self.assertLess(answer.span_tokens_reused, 300)
        wait_until(lambda: node.counters()["quarantined"] > 0, lambda: f"it is quarantined: {node.counters()}")
        self.assertGreater(node.counters()["suspects"], 0)
        self.assertEqual(node.counters()["suspects_refuted"], 0)
        fresh.wait_offers()
        # What was bad is stored anew by whoever computes it: fresh, unless it offered while the node still looked into its suspicion.
        self.ask(a, prompt(2, 3, 1))
        a.wait_offers()
        self.assertEqual(self.ask(fresh, prompt(2, 1, 3)).span_tokens_reused, 300)

    @unittest.skipUnless(os.geteuid() == 0, "writing to another process's memory needs root")
    def test_verify_finds_a_flipped_bit(self):
        node = self.start(Node(self))
        [a] = self.start_workers(node, "a")
        self.ask(a, prompt(1, 2))
        a.wait_offers()
        entry = node.ctl_json("ls")["entries"][0]
        self.assertEqual(node.ctl_json("verify", "--all", "--yes")["bad"], 0)
        try:
            flip_bit(node, entry, at=entry["bytes"] - 1)
        except PermissionError as error:
            self.skipTest(f"this system does not let root write to /proc/PID/mem: {error}")
        ran = node.ctl("verify", "--all", "--yes")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("1 entries were damaged and are quarantined", ran.stderr)
        self.assertEqual(node.counters()["quarantined"], 1)
        self.assertEqual(node.ctl("describe", entry["key"]).returncode, 3)
        self.ask(self.start_workers(node, "b")[0], prompt(1, 2))


main()
