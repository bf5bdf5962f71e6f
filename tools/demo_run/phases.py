"""What the demo plays: the same requests against a cluster in different states."""
import concurrent.futures
import dataclasses
import statistics
import threading

from completions import complete
from services import DemoFailed

MAX_TOKENS = 32
_AT_ONCE = 2            # requests, in phases whose time to first token is not looked at
_KILLED_AFTER = 8       # answers, in the phase that loses its node


@dataclasses.dataclass
class Phase:
    name: str
    answers: list
    expected: list        # what the cacheless worker answered
    is_timed: bool        # one request at a time

    def good(self):
        return [a for a in self.answers if a.status == 200]

    @property
    def failed(self):
        return [a for a in self.answers if a.status != 200]

    @property
    def equal(self):
        return sum(a.status == 200 and a.tokens == e.tokens for a, e in zip(self.answers, self.expected))

    @property
    def prompted(self):
        return sum(a.cairn["prompt_tokens"] for a in self.good())

    @property
    def reused(self):
        return sum(a.cairn["tokens_reused_local"] for a in self.good())

    @property
    def computed(self):
        return sum(a.cairn["tokens_computed"] for a in self.good())

    @property
    def span_share(self):
        """The part of the passages' tokens that was found in the cache."""
        tokens = sum(a.span_tokens for a in self.good())
        return sum(a.span_tokens_reused for a in self.good()) / tokens if tokens else 0.0

    @property
    def ttft_p50(self):
        """Seconds; None where requests ran side by side."""
        return statistics.median(a.ttft for a in self.good()) if self.is_timed and self.good() else None

    @property
    def speed_up(self):
        """How much sooner the first token came than from the cacheless worker, for the same requests."""
        asked = [e.ttft for e in self.expected if e.status == 200]
        return statistics.median(asked) / self.ttft_p50 if self.ttft_p50 and asked else None


def play_in_turn(prompts, worker):
    return [complete(worker.address, p, MAX_TOKENS) for p in prompts]


def play_at_once(prompts, workers, on_answer=lambda: None):
    """Several at a time, dealt over the workers. `on_answer` is called after each, one call at a time."""
    lock = threading.Lock()

    def one(i):
        answer = complete(workers[i % len(workers)].address, prompts[i], MAX_TOKENS)
        with lock:
            on_answer()
        return answer
    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(one, range(len(prompts))))


class Player:
    """`prompts` are played in every phase; `new_prompts` once, about the same passages."""

    def __init__(self, cluster, prompts, new_prompts, on_phase):
        self.cluster, self.prompts, self.new_prompts, self._on_phase = cluster, prompts, new_prompts, on_phase
        self.phases = []

    def _add(self, name, answers, is_timed, *services, expected=None):
        if self.cluster.ending.is_asked:
            raise DemoFailed("interrupted")
        self.cluster.require_running(*services)
        expected = expected or (self.phases[0].answers if self.phases else answers)
        phase = Phase(name, answers, expected, is_timed)
        self.phases.append(phase)
        self._on_phase(phase)
        if phase.failed:
            raise DemoFailed(f"phase {name}: {len(phase.failed)} requests failed, the first with HTTP status "
                             f"{phase.failed[0].status}: {phase.failed[0].error}")
        return phase

    def play(self):
        c = self.cluster
        c.cacheless.start()
        self._add("cacheless", play_in_turn(self.prompts, c.cacheless), True, c.cacheless)
        expected_new = play_in_turn(self.new_prompts, c.cacheless)
        c.cacheless.stop()

        c.start_placement()
        for service in (c.node, c.worker_a, c.worker_b):
            service.start()
        c.wait_connected()
        both = (c.node, c.worker_a, c.worker_b, c.placement)
        self._add("cold (worker A)", play_in_turn(self.prompts, c.worker_a), True, *both)
        c.worker_a.wait_offers()
        self._add("warm (worker B)", play_in_turn(self.prompts, c.worker_b), True, *both)

        # The same prompts again find their questions too; these find their passages only.
        self._add("warm, new prompts", play_in_turn(self.new_prompts, c.worker_b), True, *both, expected=expected_new)

        c.node.wait_told()
        c.node.kill()
        c.node.start()  # on the same folder; the workers are left alone
        c.wait_connected()
        # The first one alone, so that nobody else has stored anything yet.
        answers = play_in_turn(self.prompts[:1], c.worker_a) + play_at_once(self.prompts[1:], [c.worker_a, c.worker_b])
        first = self._add("restarted, first", answers, False, *both)
        if first.answers[0].cairn["tokens_reused_local"] != 0:
            raise DemoFailed("a restarted node is empty, but its first answer reused something")
        c.worker_a.wait_offers()
        c.worker_b.wait_offers()
        self._add("restarted, again", play_in_turn(self.prompts, c.worker_a), True, *both)
        c.node.wait_told()

        self._add("killed mid-run", self._play_and_kill(), False, c.worker_a, c.worker_b)

    def _play_and_kill(self):
        c = self.cluster
        left = _KILLED_AFTER

        def on_answer():  # other requests are in flight
            nonlocal left
            left -= 1
            if left == 0:
                c.node.kill()
        return play_at_once(self.prompts, [c.worker_a, c.worker_b], on_answer)
