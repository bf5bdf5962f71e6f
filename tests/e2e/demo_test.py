"""The demo's own code, on the tiny model: all of its phases, its exit codes, and that it leaves nothing behind. Its figures are
those of the real model, which tools/demo plays."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import support
import tiny_model
from support import ROOT, TIMEOUT, main


def commands_with(text):
    """The processes with `text` in their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended
            continue
        if text in command and int(pid) != os.getpid():
            found.append(command)
    return found


class DemoTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cairn-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.model = os.path.join(self.folder, "tiny.gguf")
        with open(self.model, "wb") as file:
            file.write(tiny_model.gguf())

    def start(self, *arguments, model=None):
        process = subprocess.Popen(
            [sys.executable, "-B", os.path.join(ROOT, "tools", "demo_run"), "--bin", os.path.dirname(support.binary("x")),
             "--model", model or self.model, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env=dict(os.environ, TMPDIR=self.folder))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return process

    def left_behind(self):
        return [name for name in os.listdir(self.folder) if name.startswith("cairn-demo")] + commands_with(self.folder)

    def test_every_phase_is_played(self):
        figures = os.path.join(self.folder, "figures.json")
        demo = self.start("--json", figures)
        output, _ = demo.communicate(timeout=2 * TIMEOUT)
        # A token of this model is a byte, so its passages are too long for the demo: the one thing to be wrong.
        self.assertEqual(demo.returncode, 1, output)
        with open(figures, encoding="utf-8") as file:
            told = json.load(file)
        self.assertEqual(len(told["faults"]), 1, output)
        self.assertIn("passages have", told["faults"][0])
        self.assertIn(f"failed: {told['faults'][0]}", output)
        phases = told["phases"]
        self.assertEqual([p["name"] for p in phases], ["cacheless", "cold (worker A)", "warm (worker B)", "warm, new prompts",
                                                       "restarted, first", "restarted, again", "killed mid-run"])
        for phase in phases:
            count = 8 if phase["name"] == "warm, new prompts" else 24
            self.assertEqual((phase["requests"], phase["answers_equal"], phase["requests_failed"]), (count, count, 0), phase)
            self.assertIn(phase["name"], output)
        placement = told["placement"]
        self.assertGreater(placement["claims"], 48, "two phases ask again what was asked before")
        self.assertGreaterEqual(placement["requests"], placement["claims"] + placement["families"])
        self.assertLessEqual(placement["served"], placement["claims"])
        self.assertGreater(placement["ceiling_tokens"], 64 * placement["claims"])
        self.assertGreater(placement["plans"]["by_service"], 0)
        self.assertIn(f"was told of {placement['requests']} prompts in {placement['families']} families", output)
        self.assertEqual(phases[0]["tokens_reused"], 0)
        self.assertGreaterEqual(phases[2]["span_share_reused"], 0.8)
        self.assertGreaterEqual(phases[3]["span_share_reused"], 0.8)
        self.assertEqual(self.left_behind(), [])

    def test_interrupted_it_leaves_nothing(self):
        demo = self.start()
        until = time.monotonic() + TIMEOUT
        while not commands_with(f"{self.folder}/cairn-demo"):
            self.assertLess(time.monotonic(), until, "no worker was started")
        demo.send_signal(signal.SIGINT)
        self.assertEqual(demo.wait(TIMEOUT), 128 + signal.SIGINT)
        self.assertEqual(self.left_behind(), [])

    def test_it_says_why_it_fails(self):
        with open(self.model, "r+b") as file:
            file.truncate(1000)
        demo = self.start()
        output, _ = demo.communicate(timeout=TIMEOUT)
        self.assertEqual(demo.returncode, 1)
        self.assertIn("failed: worker-cacheless has ended with code 1", output)
        self.assertIn(self.model, output)  # the end of the worker's log
        demo = self.start(model=os.path.join(self.folder, "none.gguf"))
        output, _ = demo.communicate(timeout=TIMEOUT)
        self.assertEqual(demo.returncode, 1)
        self.assertIn("tools/setup fetches it", output)
        self.assertEqual(self.left_behind(), [])


main()
