"""Real processes for end-to-end tests: start one, wait for what it logs, stop it, kill it. Standard library only.

    from support import Case, Node, main      # Case is a unittest.TestCase with a folder of its own

    class NodeTest(Case):
        def test_status_answers(self):
            node = self.start(Node(self, arena={"bytes": "64MiB", "segment_bytes": "32MiB"}))
            self.assertTrue(node.status()["is_dev_mode"])

    main()                                    # python3 x_test.py --bin build/dev/bin [unittest's arguments]

Nothing sleeps: waits end with the event, or fail after TIMEOUT with all that the process has logged. Whatever a test starts is
killed at its end. Folders lie directly below the system's temporary folder, so that socket paths are short.
"""
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

TIMEOUT = 120  # seconds; generous: sanitizers and busy machines
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_bin = os.path.join(ROOT, "build", "release", "bin")


def binary(name):
    return os.path.join(_bin, name)


def wait_until(is_so, what):
    """Polls until it is so; AssertionError after TIMEOUT."""
    until = time.monotonic() + TIMEOUT
    while not is_so():
        if time.monotonic() > until:
            raise AssertionError(f"did not happen within {TIMEOUT} s: {what() if callable(what) else what}")
        time.sleep(0.02)  # tidy: allow(no-sleep) between two looks at a counter, which tells nobody when it changes


def main():
    """Runs the tests of the calling script. --bin DIR: where the programs are."""
    global _bin
    if "--bin" in sys.argv:
        at = sys.argv.index("--bin")
        _bin = os.path.abspath(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main(module="__main__", verbosity=2)


class Event:
    """One line of a service's log: `LEVEL time thread event key=value ...`."""

    _VALUE = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)')

    def __init__(self, line):
        self.line = line
        words = line.split(" ", 4)
        is_event = len(words) >= 4 and words[0] in ("DEBUG", "INFO", "WARNING", "ERROR")
        self.level, self.name = (words[0], words[3]) if is_event else ("", "")
        rest = words[4] if is_event and len(words) == 5 else ""
        self.values = {key: value[1:-1].encode().decode("unicode_escape") if value.startswith('"') else value
                       for key, value in self._VALUE.findall(rest)}


class Process:
    """A program with its log. Subclasses add what they know of theirs."""

    def __init__(self, arguments, env=None):
        self.arguments = [str(a) for a in arguments]
        self.env = env
        self.identity = {}  # of subprocess.Popen: user, group, extra_groups
        self.events = []
        self._changed = threading.Condition()
        self._has_ended = False
        self.process = None

    def start(self):
        env = dict(os.environ, LC_ALL="C.UTF-8", **(self.env or {}))
        for name in [name for name in env if name.startswith("CAIRN_")]:
            del env[name]
        self.events, self._has_ended = [], False
        self.process = subprocess.Popen(self.arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, env=env, text=True, errors="replace", cwd=ROOT,
                                        **self.identity)
        self._reader = threading.Thread(target=self._read, args=(self.process.stderr,), daemon=True)
        self._reader.start()
        return self

    def _read(self, stream):
        for line in stream:
            with self._changed:
                self.events.append(Event(line.rstrip("\n")))
                self._changed.notify_all()
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        with self._changed:
            return "\n".join(event.line for event in self.events)

    def wait_event(self, name, after=0, **values):
        """The first event of that name, from number `after` on, with these values; AssertionError if the process ends first."""
        def find():
            for event in self.events[after:]:
                if event.name == name and all(event.values.get(k) == str(v) for k, v in values.items()):
                    return event
            return None
        with self._changed:
            self._changed.wait_for(lambda: find() or self._has_ended, TIMEOUT)
            found = find()
        if found is None:
            raise AssertionError(f"no event {name} {values} from {shlex.join(self.arguments)}:\n{self.log()}")
        return found

    def listening_at(self):
        """The (address, port) of every TCP socket on which it listens; real IPv6 addresses in hex."""
        sockets = set()
        for fd in os.listdir(f"/proc/{self.pid}/fd"):
            try:
                sockets.add(os.readlink(f"/proc/{self.pid}/fd/{fd}"))
            except OSError:  # closed meanwhile
                pass
        found = []
        for name in ("tcp", "tcp6"):
            with open(f"/proc/{self.pid}/net/{name}", encoding="ascii") as table:
                for row in map(str.split, list(table)[1:]):
                    address, port = row[1].split(":")
                    if row[3] == "0A" and f"socket:[{row[9]}]" in sockets:  # 0A: LISTEN
                        address = address.removeprefix("0000000000000000FFFF0000")  # gRPC's way to bind an IPv4 address
                        if len(address) == 8:
                            address = ".".join(str(byte) for byte in reversed(bytes.fromhex(address)))
                        found.append((address, int(port, 16)))
        return found

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def wait(self):
        """The exit code."""
        code = self.process.wait(TIMEOUT)
        self._reader.join(TIMEOUT)
        return code

    def stop(self, number=signal.SIGTERM):
        """Asks it to end; the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def kill(self):
        """kill -9; harmless on what has ended."""
        if self.is_running():
            self.process.kill()
        if self.process is not None:
            self.wait()
            self.process.stderr.close()


class Node(Process):
    """cairn-node with a run folder of the test's. Fields are those of its configuration; `run_dir` may name another's."""

    def __init__(self, case, run_dir=None, **fields):
        self.case = case
        self.run_dir = run_dir or case.path("node")
        config = {"run_dir": self.run_dir, "security": {"dev_mode_without_tls": True},
                  "arena": {"bytes": "64MiB", "segment_bytes": "32MiB"}, **fields}
        config_file = case.write("node.yaml", json.dumps(config, indent=2))
        super().__init__([binary("cairn-node"), "--config", config_file])
        self.grpc = None
        self.ctl_flags = []  # --ca and so on

    def start(self):
        super().start()
        return self

    def wait_started(self):
        self.grpc = self.wait_event("node_started").values["grpc"]
        return self

    def ctl(self, *arguments, **options):
        return ctl(*arguments, "--run-dir", self.run_dir, *self.ctl_flags, **options)

    def ctl_json(self, *arguments, **options):
        """The parsed answer of a cairnctl verb that must succeed."""
        ran = self.ctl(*arguments, "--output=json", **options)
        if ran.returncode != 0:
            raise AssertionError(f"cairnctl {arguments}: exit {ran.returncode}: {ran.stderr}\nnode:\n{self.log()}")
        return json.loads(ran.stdout)

    def status(self):
        return self.ctl_json("status")

    def counters(self):
        return self.status()["counters"]

    def wait_counters(self, **wanted):
        """Until its counters are so: a session's or a RELEASE's end comes a moment after a client's."""
        def is_so():
            counters = self.counters()
            return all(counters[name] == value for name, value in wanted.items())
        wait_until(is_so, lambda: f"{wanted}: {self.counters()}\n{self.log()}")


def tls_files(certificates, name):
    """Where tools/make-test-certs put what `name` shows; of services' configuration."""
    return {"tls": {"ca_file": f"{certificates}/ca.pem", "certificate_file": f"{certificates}/{name}.pem",
                    "key_file": f"{certificates}/{name}.key"}}


def tls_flags(certificates, client, ca=None):
    """The same for cairnctl."""
    return [f"--ca={ca or certificates}/ca.pem", f"--cert={certificates}/{client}.pem", f"--key={certificates}/{client}.key"]


def ctl(*arguments, stdin="", env=None):
    """Runs cairnctl; the CompletedProcess."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CAIRN_")}
    clean["CAIRN_TIMEOUT"] = f"{TIMEOUT - 20}s"  # a busy machine is no node that hangs
    return subprocess.run([binary("cairnctl"), *map(str, arguments)], input=stdin, text=True, capture_output=True,
                          env={**clean, **(env or {})}, timeout=TIMEOUT, cwd=ROOT)


def run(program, *arguments):
    """Runs a program of ours to its end; the CompletedProcess."""
    return subprocess.run([binary(program), *map(str, arguments)], text=True, capture_output=True, timeout=TIMEOUT, cwd=ROOT)


class Case(unittest.TestCase):
    """A test with a folder of its own, whose processes end with it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cairn-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def launch(self, process):
        """Starts it, and does not wait."""
        self.addCleanup(process.kill)
        return process.start()

    def start(self, process):
        """Starts it and waits until it serves."""
        return self.launch(process).wait_started()

    def reserved_address(self):
        """host:port that nobody else gets before this test ends, for servers that come back to where they were: a socket that is
        bound, and does not listen, keeps the port from all who ask for any port or connect, and not from a server (SO_REUSEADDR)."""
        keeper = socket.socket()
        self.addCleanup(keeper.close)
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{keeper.getsockname()[1]}"

    def make_certificates(self, folder, *clients):
        subprocess.run([os.path.join(ROOT, "tools", "make-test-certs"), self.path(folder), *clients], check=True,
                       capture_output=True, timeout=TIMEOUT)
        return self.path(folder)
