"""Transfers into a node that are held in the middle: who is asked, what is counted, and what a killed process leaves."""
from case_support import CaseClientCase
from support import main


class HeldTransferTest(CaseClientCase):
    def setUp(self):
        super().setUp()
        self.early = 1                               # stored and pinned before the others move
        self.late = len(self.keys) - self.early      # on loan to a transfer that does not go on

    def start_holder(self):
        """A client with pins and open loans."""
        holder = self.client(hold_from=self.early)
        holder.expect(f"stored {self.early}", f"held {self.early}", f"withheld {self.late}")
        self.node.wait_counters(pins=self.early, loans=self.late, stored=self.early)
        return holder

    def start_second(self):
        """Another that offers the same keys, and waits for the first one's bytes."""
        second = self.client()
        self.node.wait_counters(sessions=2, pending=self.late)
        return second

    def check_moved_once(self):
        """Each key's bytes have come once, and nothing moves any more."""
        self.node.wait_counters(loans=0, pending=0)
        counters = self.node.counters()
        self.assertEqual((counters["stored"], counters["stored_bytes"]), (len(self.keys), 4096 * len(self.keys)))
        self.assertEqual((counters["entries"], counters["put_torn"], counters["conflicts"]), (len(self.keys), 0, 0))
        self.assertEqual(self.node.ctl_json("verify", "--all", "--yes")["bad"], 0)

    def test_a_killed_worker_leaves_neither_pins_nor_loans(self):
        holder = self.start_holder()
        [session] = self.node.status()["sessions"]
        self.assertEqual((session["pid"], session["pinned_keys"], session["open_offers"]),
                         (holder.pid, self.early, self.late))
        holder.kill()
        self.node.wait_event("session_ended")
        self.node.wait_counters(sessions=0, pins=0, loans=0, holds=0, landings=0)
        counters = self.node.counters()
        self.assertEqual((counters["entries"], counters["puts_failed"], counters["slots.filling"]), (self.early, self.late, 0))
        self.assertEqual(self.node.ctl_json("evict", "--all", "--yes"), {"evicted": self.early, "held": 0, "missing": 0})

    def test_what_two_offer_moves_once(self):
        holder, second = self.start_holder(), self.start_second()
        self.assertEqual(self.node.counters()["stored"], self.early)
        holder.let_go()
        holder.expect(f"stored {self.late}")
        second.expect_held()
        self.check_moved_once()
        counters = self.node.counters()
        # All of it was the first one's: the second has a pool, and its bytes would be no bulk.
        self.assertEqual((counters["pending_asked"], counters["transport.bulks_received"]), (0, len(self.keys)))
        holder.end()
        second.end()

    def test_the_second_is_asked_when_the_first_is_killed(self):
        holder, second = self.start_holder(), self.start_second()
        holder.kill()
        second.expect_held()
        self.check_moved_once()
        self.assertEqual(self.node.counters()["pending_asked"], self.late)
        second.end()

    def test_the_second_is_asked_when_the_first_ends(self):
        holder, second = self.start_holder(), self.start_second()
        holder.end(code=1)  # what it withheld was not stored
        second.expect_held()
        self.check_moved_once()
        second.end()


class HeldTransferOnFourShardsTest(HeldTransferTest):
    ARENA = {"bytes": "128MiB", "segment_bytes": "32MiB", "shards": 4}


class DisagreementTest(CaseClientCase):
    def test_two_producers_that_disagree_are_told_apart(self):
        first = self.client().expect_held()
        second = self.client(fill=1)
        second.expect("stored 0", f"held {len(self.keys)}")
        second.end(code=1)
        counters = self.node.counters()
        self.assertEqual((counters["conflicts"], counters["stored"], counters["quarantined"]), (len(self.keys), len(self.keys), 0))
        told = self.node.wait_event("producers_disagreed").values
        self.assertEqual((told["stored_by"], told["refused"]), ("case-client", "case-client"))
        self.assertIn(told["key"], self.keys)
        self.assertEqual(self.node.ctl_json("verify", "--all", "--yes")["bad"], 0)
        first.end()


main()
