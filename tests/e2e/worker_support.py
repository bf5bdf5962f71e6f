"""cairn-worker for end-to-end tests, over support.py: workers on a tiny model, prompts, and the answers they must give."""
import concurrent.futures
import json
import os
import sys

import support
import tiny_model
from support import Process, binary, wait_until

sys.path.insert(0, os.path.join(support.ROOT, "tools", "demo_run"))
import completions  # noqa: E402  (the demo's client is the tests' too)

ENTRY_BYTES = tiny_model.BLOCK_BYTES  # in bf16


class Worker(Process):
    """cairn-worker. `node`: a run folder, or a Node; None: no cache. `engine` and `cache` add to the configuration."""

    def __init__(self, case, name="worker", node=None, model=None, engine=None, cache=None, **fields):
        # All times are long: a test that loses hits, offers or answers to a busy machine would tell nothing.
        config = {"model": {"file": model or case.tiny_model()}, "drain_timeout": "600s",
                  "engine": {"pool_bytes": "16MiB", "threads": 1, **(engine or {})}, **fields,
                  "http": {"idle_timeout": "600s", **fields.get("http", {})}}
        if node is not None:
            config["cache"] = {"node_run_dir": getattr(node, "run_dir", node), "single_tenant": True,
                               "security": {"dev_mode_without_tls": True}, "acquire_timeout": "60s", "offer_timeout": "600s",
                               "remap_grace": "600s", **(cache or {})}
        self.config_file = case.write(f"{name}.yaml", json.dumps(config, indent=2))
        super().__init__([binary("cairn-worker"), "--config", self.config_file])
        self.address = self.root = None

    def wait_started(self):
        values = self.wait_event("worker_started").values
        self.address, self.root = values["http"], values["root"]
        return self

    def health(self):
        return completions.get_json(self.address, "/health", support.TIMEOUT)

    def post(self, path, text, method="POST"):
        """(status, text) of any HTTP request."""
        return completions.post(self.address, path, text, support.TIMEOUT, method)

    def ask(self, segments, max_tokens=8, **fields):
        """The answer, of any HTTP status; its tokens in .tokens."""
        return completions.complete(self.address, segments, max_tokens, support.TIMEOUT, **fields)

    def wait_connected(self):
        """Until it has a session: the node counts one a moment before the worker knows of it, and until then stores nothing."""
        wait_until(lambda: self.health()["node"] == "connected", self.log)

    def wait_away(self):
        wait_until(lambda: self.health()["node"] == "away", self.log)

    def wait_offers(self):
        """Until nothing runs and the node has answered for every block that it was offered."""
        def is_quiet():
            h = self.health()
            return h["running"] == h["waiting"] == 0 and h["pool_blocks_available"] == h["pool_blocks"]
        wait_until(is_quiet, lambda: f"no offer is open: {self.health()}\n{self.log()}")


class WorkerCase(support.Case):
    """A test that compares answers with those of a worker without a cache."""

    def setUp(self):
        super().setUp()
        self._cacheless = None

    def tiny_model(self, seed=1):
        path = self.path(f"tiny-{seed}.gguf")
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(tiny_model.gguf(seed))
        return path

    def expected(self, segments, max_tokens=8):
        """The tokens of the cacheless worker."""
        if self._cacheless is None:
            self._cacheless = self.start(Worker(self, "cacheless"))
        answer = self._cacheless.ask(segments, max_tokens)
        self.assertEqual(answer.status, 200, answer.error)
        return answer.tokens

    def check(self, answer, segments, max_tokens=8):
        """It is a good answer with the right tokens; gives it back."""
        self.assertEqual(answer.status, 200, answer.error)
        self.assertEqual(len(answer.tokens), max_tokens)
        self.assertEqual(answer.tokens, self.expected(segments, max_tokens))
        return answer

    def ask(self, worker, segments, max_tokens=8):
        return self.check(worker.ask(segments, max_tokens), segments, max_tokens)

    def start_workers(self, node, *names, **fields):
        """A worker for each name, all of them connected to the node; a list."""
        workers = [self.start(Worker(self, name, node, **fields)) for name in names]
        self.wait_connected(*workers)
        return workers

    def wait_connected(self, *workers):
        for worker in workers:
            worker.wait_connected()

    def wait_away(self, *workers):
        for worker in workers:
            worker.wait_away()


class Asking:
    """One request, on a thread of its own."""

    def __init__(self, worker, segments, max_tokens):
        self._pool = concurrent.futures.ThreadPoolExecutor(1)
        self._answer = self._pool.submit(worker.ask, segments, max_tokens)

    def is_done(self):
        return self._answer.done()

    def answer(self):
        answer = self._answer.result()
        self._pool.shutdown()
        return answer


def passage(number, length=100):
    """A span of `length` bytes, which the tiny model takes as so many tokens; each number has its own."""
    words = f"Passage {number} says that rule {number * 7919 % 1000} holds for case {number * 104729 % 10007}. "
    return {"kind": "span", "text": (words * (length // len(words) + 1))[:length]}


def question(text="What holds?"):
    return {"kind": "dependent", "text": text}


def prompt(*numbers, asks="What holds?"):
    return [*map(passage, numbers), question(asks)]
