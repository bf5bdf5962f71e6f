"""cairn-placement for end-to-end tests, over support.py."""
import json
import subprocess

from support import TIMEOUT, Process, binary

LENGTH = 40 * 64


class Placement(Process):
    """cairn-placement with a snapshot folder of the test's."""

    def __init__(self, case, **fields):
        self.folder = case.path("snapshots")
        config = {"snapshot_dir": self.folder, "security": {"dev_mode_without_tls": True}, "snapshot_interval": "3600s", **fields}
        super().__init__([binary("cairn-placement"), "--config", case.write("placement.yaml", json.dumps(config, indent=2))])
        self.grpc, self.tls, self.restored = None, [], None

    def wait_started(self):
        self.grpc = self.wait_event("placement_started").values["grpc"]
        self.restored = self.wait_event("snapshot_restored").values
        return self

    def ask(self, method, text="", tls=None):
        return subprocess.run([binary("e2e_placement_call"), self.grpc, method, *(self.tls if tls is None else tls)], input=text, text=True,
                              capture_output=True, timeout=TIMEOUT)

    def call(self, method, **request):
        ran = self.ask(method, json.dumps(request))
        if ran.returncode != 0:
            raise AssertionError(f"{method} {request}: {ran.stderr}\n{self.log()}")
        return json.loads(ran.stdout)

    def observe(self, *observations):
        ran = self.ask("Observe", json.dumps({"observations": observations}) + "\n")
        return json.loads(ran.stdout.split("\n", 1)[1])

    def plan(self, family, budget=2):
        return self.call("Plan", family=family, length=LENGTH, budget=budget)

    def counters(self):
        return {name: int(value) for name, value in self.call("Status")["counters"].items()}
