"""e2e_case_client for end-to-end tests, over support.py: a worker without a model, which stores, pins and withholds as bidden."""
import json
import os
import subprocess

import support

KEYS_FILE = os.path.join("tests", "data", "keys.json")


class CaseClient:
    """Stores a block for each key of the case, then holds them pinned until its standard input ends (case_client.cc)."""

    def __init__(self, test, node, case, fill=0, hold_from=None):
        self.test, self.node, self.keys = test, node, len(case["keys"])
        arguments = [fill] if hold_from is None else [fill, hold_from]
        self.process = subprocess.Popen(
            [support.binary("e2e_case_client"), node.run_dir, KEYS_FILE, case["name"], *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=support.ROOT)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            test.addCleanup(stream.close)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)

    @property
    def pid(self):
        return self.process.pid

    def expect(self, *lines):
        for line in lines:
            self.test.assertEqual(self.process.stdout.readline(), line + "\n", self.node.log())

    def expect_held(self):
        self.expect(f"stored {self.keys}", f"held {self.keys}")
        return self

    def let_go(self):
        """Of what it withheld."""
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def end(self, code=0):
        self.process.stdin.close()
        self.test.assertEqual(self.process.wait(support.TIMEOUT), code)

    def kill(self):
        self.process.kill()
        self.process.wait(support.TIMEOUT)


class CaseClientCase(support.Case):
    """A test with a node, and keys to store in it."""

    ARENA = {"bytes": "128MiB", "segment_bytes": "32MiB"}

    def setUp(self):
        super().setUp()
        self.node = self.start(support.Node(self, arena=self.ARENA))
        with open(os.path.join(support.ROOT, KEYS_FILE), encoding="utf-8") as file:
            cases = [case for case in json.load(file)["cases"] if "error" not in case]
        self.case = max(cases, key=lambda case: len(set(case["keys"])) == len(case["keys"]) and len(case["keys"]))
        self.keys = self.case["keys"]
        self.assertGreaterEqual(len(self.keys), 3)

    def client(self, **options):
        return CaseClient(self, self.node, self.case, **options)
