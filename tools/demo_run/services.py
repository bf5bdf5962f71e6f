"""Starts, kills and stops the programs of the demo, each with a log file in the demo's own folder."""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from completions import get_json

START_SECONDS = 120
STOP_SECONDS = 15


class DemoFailed(Exception):
    """Says why; the demo ends with it."""


def wait_until(is_so, what, seconds=START_SECONDS):
    """Polls; DemoFailed if `what` has not come to be in time."""
    until = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > until:
            raise DemoFailed(f"{what} did not happen within {seconds} s")
        time.sleep(0.05)


class Ending:
    """Once the end is asked for, nothing is started any more. Of one demo, shared by its threads."""

    def __init__(self):
        self._lock = threading.Lock()
        self.is_asked = False

    def ask(self):
        with self._lock:
            self.is_asked = True

    @contextlib.contextmanager
    def starting(self):
        """Around a start: none is half done when ask() returns, so that whoever stops all knows all."""
        with self._lock:
            if self.is_asked:
                raise DemoFailed("interrupted")
            yield


class Service:
    """One program. `started` is the pattern of the line that tells that it serves, with its address as the group."""

    def __init__(self, name, program, config, folder, ending, started):
        self.name, self.program, self._ending, self._started = name, program, ending, re.compile(started)
        self.config = config
        self._config = os.path.join(folder, f"{name}.yaml")
        self._log = os.path.join(folder, f"{name}.log")
        self._process = None
        self.address = None

    @property
    def pid(self):
        return self._process.pid

    def is_running(self):
        return self._process is not None and self._process.poll() is None

    def log_tail(self, lines=12):
        with open(self._log, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-lines:])

    def why_dead(self):
        return f"{self.name} has ended with code {self._process.returncode}; the end of its log:\n{self.log_tail()}"

    def start(self):
        with open(self._config, "w", encoding="utf-8") as file:
            json.dump(self.config, file, indent=2)  # JSON is YAML
        with self._ending.starting(), open(self._log, "w", encoding="utf-8") as log:
            # A session of its own: Ctrl-C on the terminal is for the demo alone, which then stops all in order.
            self._process = subprocess.Popen([self.program, "--config", self._config], stdin=subprocess.DEVNULL,
                                             stdout=log, stderr=log, start_new_session=True)
        wait_until(self._has_started, f"the start of {self.name}")
        return self

    def _has_started(self):
        if not self.is_running():
            raise DemoFailed(self.why_dead())
        with open(self._log, encoding="utf-8", errors="replace") as file:
            found = self._started.search(file.read())
        if found:
            self.address = found.group(1)
        return found is not None

    def kill(self):
        """kill -9, and waits for its end."""
        if self.is_running():
            self._process.kill()
        if self._process is not None:
            self._process.wait()

    def stop(self):
        if not self.is_running():
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()


class Node(Service):
    def __init__(self, folder, bin_dir, ending):
        self.run_dir = os.path.join(folder, "node")
        self._ctl = os.path.join(bin_dir, "cairnctl")
        super().__init__("node", os.path.join(bin_dir, "cairn-node"),
                         {"run_dir": self.run_dir, "security": {"dev_mode_without_tls": True},
                          "arena": {"bytes": "512MiB", "segment_bytes": "128MiB"}}, folder, ending, r" node_started .*?grpc=(\S+)")

    def status(self):
        ran = subprocess.run([self._ctl, "status", "--run-dir", self.run_dir, "--output=json", "--timeout=60s"],
                             capture_output=True, text=True, timeout=90, check=False)
        if ran.returncode != 0:
            raise DemoFailed(f"cairnctl status: {ran.stderr.strip()}")
        return json.loads(ran.stdout)

    def sessions(self):
        return self.status()["counters"]["sessions"]

    def wait_told(self):
        """Until cairn-placement has answered for every prompt that the node saw."""
        wait_until(lambda: self.status()["counters"]["placement.queued"] == 0, "cairn-placement's taking of what the node saw")


class Placement(Service):
    """Learns where prompts part, from the node; workers ask it where recurrent states of a prompt would be wanted."""

    def __init__(self, folder, bin_dir, ending):
        self._ctl = os.path.join(bin_dir, "cairnctl")
        super().__init__("placement", os.path.join(bin_dir, "cairn-placement"),
                         {"snapshot_dir": os.path.join(folder, "snapshots"), "security": {"dev_mode_without_tls": True}},
                         folder, ending, r" placement_started .*?grpc=(\S+)")

    def ctl(self, *arguments):
        ran = subprocess.run([self._ctl, "plan", *arguments, f"--placement={self.address}", "--output=json", "--timeout=60s"],
                             capture_output=True, text=True, timeout=90, check=False)
        if ran.returncode != 0:
            raise DemoFailed(f"cairnctl plan: {ran.stderr.strip()}")
        return json.loads(ran.stdout)


class Worker(Service):
    def __init__(self, name, folder, bin_dir, ending, model, node=None):
        config = {"model": {"file": model}, "engine": {"pool_bytes": "512MiB"}}
        if node is not None:
            # Lookups, offers and plans may take long here: on a busy machine the demo still shows what is reused.
            config["cache"] = {"node_run_dir": node.run_dir, "single_tenant": True, "security": {"dev_mode_without_tls": True},
                               "acquire_timeout": "10s", "offer_timeout": "60s"}
        super().__init__(name, os.path.join(bin_dir, "cairn-worker"), config, folder, ending, r" worker_started .*?http=(\S+)")

    def health(self):
        return get_json(self.address, "/health")

    def wait_offers(self):
        """Until nothing runs and the node has answered for every block that it was offered."""
        def is_quiet():
            h = self.health()
            return h["running"] == h["waiting"] == 0 and h["pool_blocks_available"] == h["pool_blocks"]
        wait_until(is_quiet, f"the storing of what {self.name} computed")


class Cluster:
    """A node, two workers beside it and one without a cache, and a placement service, in a folder of their own."""

    def __init__(self, bin_dir, model):
        if not os.path.exists(model):
            raise DemoFailed(f"there is no model at {model}; tools/setup fetches it")
        base = os.environ.get("TMPDIR", "/tmp")
        # Below /tmp if TMPDIR is deep: the path of a socket has at most 107 bytes.
        self.folder = tempfile.mkdtemp(prefix="cairn-demo-", dir=base if len(base) < 60 else "/tmp")
        self.ending = Ending()
        self.placement = Placement(self.folder, bin_dir, self.ending)
        self.node = Node(self.folder, bin_dir, self.ending)
        self.worker_a = Worker("worker-a", self.folder, bin_dir, self.ending, model, self.node)
        self.worker_b = Worker("worker-b", self.folder, bin_dir, self.ending, model, self.node)
        self.cacheless = Worker("worker-cacheless", self.folder, bin_dir, self.ending, model)

    def all(self):
        return [self.cacheless, self.worker_a, self.worker_b, self.node, self.placement]

    def start_placement(self):
        """Before the others: they are told its address."""
        self.placement.start()
        self.node.config["placement"] = {"grpc": self.placement.address, "timeout": "60s"}
        for worker in (self.worker_a, self.worker_b):
            worker.config["placement"] = {"grpc": self.placement.address, "security": {"dev_mode_without_tls": True}, "timeout": "60s"}

    def wait_connected(self):
        """Until both workers have a session with this node: it counts them a moment before they know."""
        workers = (self.worker_a, self.worker_b)
        wait_until(lambda: self.node.sessions() == 2 and all(worker.health()["node"] == "connected" for worker in workers),
                   "the connection of the workers to the node")

    def require_running(self, *services):
        for service in services:
            if not service.is_running():
                raise DemoFailed(service.why_dead())

    def stop(self):
        """For good. From any thread, and more than once."""
        self.ending.ask()
        for service in self.all():
            service.stop()

    def remove_folder(self):
        shutil.rmtree(self.folder, ignore_errors=True)
