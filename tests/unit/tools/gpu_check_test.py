"""tools/gpu-check without a GPU: its phases over fake programs, deadlines, the record, signals, exit codes."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

TOOLS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..", "tools")
sys.dont_write_bytecode = True
sys.path.insert(0, TOOLS)

from gpu_check import device, plan, runner, smi, table  # noqa: E402
from gpu_check.runner import Ending, Phase, Record, Step, run_phase, run_step  # noqa: E402

HOPPER = {"name": "NVIDIA H100", "capability": [9, 0], "uuid": "GPU-1"}
OLDER = {"name": "NVIDIA A100", "capability": [8, 0], "uuid": "GPU-0"}

# Prints its and its child's process ids as a row; both ignore SIGTERM and wait for ever.
HANGS = """
import json, os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0:
    signal.pause()
print(json.dumps({"pids": [os.getpid(), child]}), flush=True)
while True:
    signal.pause()
"""
# Ends at once, but its child keeps the output open.
LEAVES_A_CHILD = """
import json, os, signal
child = os.fork()
if child == 0:
    signal.pause()
print(json.dumps({"pids": [child]}), flush=True)
"""


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


class InFolder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = self._folder.name
        self.addCleanup(self._folder.cleanup)

    def jump_after_a_row(self, log, seconds):
        """From the first row in a log on, the tool's clock is so many seconds ahead: what a program does before its deadline, it
        does whatever the machine is busy with."""
        def monotonic():
            has_row = os.path.exists(log) and os.path.getsize(log) > 0
            return time.monotonic() + (seconds if has_row else 0)
        clock = types.SimpleNamespace(monotonic=monotonic, time=time.time)
        patch = unittest.mock.patch.object(runner, "time", clock)
        patch.start()
        self.addCleanup(patch.stop)

    def check_ended(self, pids):
        """They were told to end, and do so as soon as the machine lets them."""
        until = time.monotonic() + 100
        while any(map(is_alive, pids)):
            self.assertLess(time.monotonic(), until, pids)

    def python(self, text, name="program"):
        return Step(name, [sys.executable, "-c", text])

    def run_python(self, text, seconds=60, **step):
        asked = self.python(text)
        for field, value in step.items():
            setattr(asked, field, value)
        return run_step(asked, time.monotonic() + seconds, os.path.join(self.folder, "log"), Ending())

    def run_nothing(self, is_optional):
        step = Step("none", ["/nonexistent"], is_optional=is_optional)
        return run_step(step, time.monotonic() + 60, os.path.join(self.folder, "log"), Ending())


class Steps(InFolder):
    def test_rows_are_told_from_the_log(self):
        outcome = self.run_python("print('{\"row\": 1}\\nhello\\n{not json\\n[2]\\n{\"row\": 2}', end='')")
        self.assertEqual((outcome.state, [row["row"] for row in outcome.rows]), ("ok", [1, 2]))
        self.assertEqual(outcome.tail, ["hello", "{not json", "[2]"])
        with open(os.path.join(self.folder, "log"), encoding="utf-8") as file:
            self.assertIn("hello\n", file.read())

    def test_exit_codes_have_their_meanings(self):
        for text, state, why in (("", "ok", ""),
                                 ("print('all bad'); exit(3)", "failed", "exit code 3: all bad"),
                                 ("print('skipped: no GPU'); exit(77)", "skipped", "skipped: no GPU"),
                                 ("import os; os.abort()", "failed", f"signal {int(signal.SIGABRT)}")):
            outcome = self.run_python(text)
            self.assertEqual(outcome.state, state, text)
            self.assertIn(why, outcome.why)
        self.assertEqual(self.run_nothing(is_optional=False).state, "failed")

    def test_an_optional_step_may_refuse_but_not_find(self):
        for code, state in ((0, "ok"), (1, "skipped"), (99, "failed")):
            self.assertEqual(self.run_python(f"exit({code})", is_optional=True, finds=99).state, state)
        self.assertEqual(self.run_python("print(1)", seconds=-1, is_optional=True).state, "skipped")
        self.assertEqual(self.run_nothing(is_optional=True).state, "skipped")

    def test_a_program_that_hangs_is_ended_with_its_children(self):
        self.jump_after_a_row(os.path.join(self.folder, "log"), 200)
        outcome = self.run_python(HANGS, seconds=1000, limit_s=200)
        self.assertEqual(outcome.state, "out of time")
        self.assertEqual(len(outcome.rows[0]["pids"]), 2)
        self.check_ended(outcome.rows[0]["pids"])

    def test_a_child_that_is_left_behind_is_ended(self):
        outcome = self.run_python(LEAVES_A_CHILD)
        self.assertEqual(outcome.state, "ok")
        self.check_ended(outcome.rows[0]["pids"])

    def test_without_time_nothing_starts(self):
        mark = os.path.join(self.folder, "mark")
        outcome = self.run_python(f"open({mark!r}, 'w')", seconds=-1)
        self.assertEqual((outcome.state, os.path.exists(mark)), ("out of time", False))


class Phases(InFolder):
    def run_phases(self, *phases, total_s=100):
        record = Record(os.path.join(self.folder, "r.json"), {"tool": "test"})
        states = [run_phase(p, record, self.folder, Ending(), time.monotonic() + total_s) for p in phases]
        with open(record.path, encoding="utf-8") as file:
            read = json.load(file)
        self.assertEqual(read, json.loads(json.dumps(record.data)))
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".tmp")], [])
        return states, read

    def test_the_record_is_whole_after_each_phase(self):
        path = os.path.join(self.folder, "r.json")
        # The second phase's program reads what the first one's left, while it runs.
        reads = (f"import json; d = json.load(open({path!r})); "
                 "print(json.dumps({'seen': [[p['name'], p['state'], len(p['rows'])] for p in d['phases']]}))")
        states, read = self.run_phases(Phase("one", 60, [self.python("print('{\"x\": 1}')")]),
                                       Phase("two", 60, [self.python(reads)]))
        self.assertEqual(states, ["ok", "ok"])
        self.assertEqual(read["phases"][1]["rows"][0]["seen"], [["one", "ok", 1], ["two", "running", 0]])

    def test_what_was_measured_survives_a_deadline(self):
        self.jump_after_a_row(os.path.join(self.folder, "slow-program.log"), 200)
        states, read = self.run_phases(Phase("slow", 200, [self.python(HANGS), self.python("", "next")]), total_s=1000)
        self.assertEqual(states, ["out of time"])
        self.assertEqual(len(read["phases"][0]["rows"]), 1)
        self.assertEqual([s["state"] for s in read["phases"][0]["steps"]], ["out of time", "out of time"])

    def test_the_whole_has_a_deadline_too(self):
        self.assertEqual(self.run_phases(Phase("late", 60, [self.python("")]), total_s=-1)[0], ["out of time"])

    def test_a_failure_stops_a_phase_that_builds_and_no_other(self):
        steps = [self.python("exit(1)", "a"), self.python("", "b")]
        for goes_on, ran in ((True, ["failed", "ok"]), (False, ["failed"])):
            states, read = self.run_phases(Phase("p", 60, steps, goes_on=goes_on))
            self.assertEqual((states, [s["state"] for s in read["phases"][0]["steps"]]), (["failed"], ran))

    def test_a_skipped_program_is_a_fault_where_a_gpu_is_known(self):
        skips = [self.python("exit(77)")]
        self.assertEqual(self.run_phases(Phase("p", 60, skips))[0], ["failed"])
        self.assertEqual(self.run_phases(Phase("p", 60, skips, may_skip=True))[0], ["skipped"])


class Devices(unittest.TestCase):
    def test_the_first_hopper_is_chosen_and_others_are_named(self):
        self.assertEqual(device.choose({"devices": [OLDER, HOPPER]}), (HOPPER, ""))
        for found, word in (({"error": "CUDA_ERROR_NO_DEVICE"}, "no GPU: CUDA_ERROR_NO_DEVICE"), ({"devices": []}, "no GPU"),
                            ({"devices": [OLDER]}, "NVIDIA A100 (8.0)"), ({"devices": [{"error": "X"}]}, "no GPU: X")):
            chosen, why = device.choose(found)
            self.assertIsNone(chosen)
            self.assertIn(word, why)

    def test_programs_see_a_chosen_device_only(self):
        phases = plan.phases("/bin", dict(HOPPER, is_chosen=True), "")
        self.assertEqual({step.env["CUDA_VISIBLE_DEVICES"] for phase in phases for step in phase.steps}, {"GPU-1"})
        self.assertEqual({step.env for phase in plan.phases("/bin", HOPPER, "") for step in phase.steps}, {None})

    def test_all_phases_fit_into_the_whole(self):
        limits = [phase.limit_s for phase in plan.phases("/bin", HOPPER, "")]
        self.assertLessEqual(180 + sum(limits), plan.TOTAL_S)
        self.assertEqual([phase.name for phase in plan.phases("/bin", HOPPER, "")], list(plan.NAMES[1:]))


class Figures(unittest.TestCase):
    def test_samples_go_to_the_rows_that_they_were_taken_in(self):
        self.assertIsNone(smi.parse("N/A, [Not Supported], 1, 2, 3\n"))
        lines = [f"2026/11/30 10:00:0{i}.500, {1000 + i}, 2619, {100 + i}.5, 40" for i in range(4)]
        samples = [smi.parse(line) for line in lines]
        rows = [{"at": samples[1]["at"]}, {"at": samples[1]["at"] + 0.1}, {"at": samples[3]["at"]}]
        smi.add_to_rows(rows, samples)
        self.assertEqual([(r.get("smi_sm_mhz"), r.get("smi_watts")) for r in rows],
                         [(1000.5, 101.5), (None, None), (1002.5, 103.5)])

    def test_the_table_shows_rows_beside_their_bounds(self):
        timing = [{"row": "decode", "name": "plain", "us": 200.0, "spread": 0.01, "gb_per_s": 2700.0, "bound_us": 150.0,
                   "of_bound": 0.75, "of_first": 1.25, "sm_mhz": 1830.0},
                  {"row": "ceiling", "name": "matmul, cuBLAS", "left_out": "no cuBLAS"},
                  {"row": "host copy, pinned", "name": "4 KiB host to device", "us": 2.0, "gb_per_s": 5.0},
                  {"row": "host copy, pinned", "name": "64 MiB host to device", "us": 2.0, "gb_per_s": 50.0}]
        equal = [{"row": "mma_equal", "wgmma": "m64n64k16", "numbers": "cancelling", "k": 16, "dots": 9, "wgmma_unequal": 2,
                  "moved_unequal": 0, "zeros_unequal": 0, "chain_unequal": 5, "mma_and_wgmma": "tile 0"}]
        phases = [{"name": name, "state": "ok", "seconds": 1.0, "limit_s": 9, "why": [], "rows": rows}
                  for name, rows in (("mma_equal", equal), ("timing", timing))]
        text = "\n".join(table.lines_of({"phases": phases}))
        for part in ("2700.0", "150.00    75%   1.250", "left_out: no cuBLAS", "10%", "100%", "cancelling",
                     "the first that differs: tile 0"):
            self.assertIn(part, text)


# Runs the command with a GPU that is said to be there.
DRIVER = """
import sys
sys.path.insert(0, {tools!r})
from gpu_check import command
command._find_device = lambda folder, ending: ({hopper!r}, "")
command._ROOT = {root!r}
sys.exit(command.main(sys.argv[1:], "usage"))
"""


class Command(InFolder):
    def setUp(self):
        super().setUp()
        self.bin, self.json = os.path.join(self.folder, "bin"), os.path.join(self.folder, "out.json")
        os.makedirs(os.path.join(self.folder, "kernels"))
        os.makedirs(self.bin)
        for name in plan.PROGRAMS:
            self.program(name, f"print('{{\"row\": \"{name}\", \"name\": \"x\"}}')")
        with open(os.path.join(self.bin, "manifest.json"), "w", encoding="utf-8") as file:
            json.dump({"sources": plan.sources_digest(self.folder)}, file)

    def program(self, name, text):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!{sys.executable}\n{text}\n")
        os.chmod(path, 0o755)

    def start(self, *arguments):
        driver = DRIVER.format(tools=TOOLS, hopper=HOPPER, root=self.folder)
        # Without a PATH there is no sanitizer and no nvidia-smi.
        env = dict(os.environ, PATH=self.bin, CUDA_HOME=self.folder, PYTHONDONTWRITEBYTECODE="1")
        return subprocess.Popen([sys.executable, "-c", driver, "--json", self.json, *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, env=env, text=True)

    def check(self, *arguments):
        process = self.start(*arguments)
        output = process.communicate(timeout=120)[0]
        with open(self.json, encoding="utf-8") as file:
            return process.returncode, output, json.load(file)

    def test_all_is_well(self):
        code, output, read = self.check("--prebuilt", self.bin)
        self.assertEqual((code, read["is_good"], read["faults"]), (0, True, []), output)
        self.assertEqual([(p["name"], p["state"]) for p in read["phases"]],
                         [("correctness", "ok"), ("mma_equal", "ok"), ("timing", "ok"), ("sanitizer", "skipped")])
        self.assertIn("kernels_timing", output)
        self.assertIn("compute-sanitizer: No such file", output)
        self.assertNotIn("other sources", output)

    def test_a_wrong_kernel_is_told_and_the_rest_is_measured(self):
        self.program("test_kernels_ops_gpu", "print('FAILED  RowsDecode'); exit(1)")
        code, output, read = self.check("--prebuilt", self.bin, "--only", "correctness,timing")
        self.assertEqual((code, read["is_good"]), (1, False))
        self.assertEqual([(p["name"], p["state"]) for p in read["phases"]], [("correctness", "failed"), ("timing", "ok")])
        self.assertIn("failed: correctness: ops: exit code 1: FAILED  RowsDecode", output)

    def test_without_compilers_it_says_what_to_do(self):
        code, output, read = self.check()
        self.assertEqual((code, read["is_good"]), (1, False))
        self.assertIn("no cmake and no nvcc here", output)

    def test_a_prebuilt_folder_must_hold_the_programs(self):
        os.unlink(os.path.join(self.bin, "kernels_timing"))
        code, output, _ = self.check("--prebuilt", self.bin)
        self.assertEqual(code, 1)
        self.assertIn("has no program kernels_timing", output)

    def test_other_sources_are_noticed(self):
        with open(os.path.join(self.folder, "kernels", "new.cu"), "w", encoding="utf-8") as file:
            file.write("x")
        self.assertIn("built from other sources", self.check("--prebuilt", self.bin, "--only", "timing")[1])

    def fake_compilers(self, builds):
        self.program("nvcc", "print('Cuda compilation tools, release 13.0')")
        self.program("cmake", f"""
import os, shutil, sys
if sys.argv[1] == "--build":
    if not {builds!r}: print("error: no such kernel"); sys.exit(2)
    os.makedirs(sys.argv[2] + "/bin", exist_ok=True)
    for name in {plan.PROGRAMS!r}: shutil.copy2(os.path.join({self.bin!r}, name), sys.argv[2] + "/bin")
else:
    print(sys.argv)""")

    def test_it_builds_and_runs_what_was_built(self):
        self.fake_compilers(True)
        code, output, read = self.check("--only", "timing")
        self.assertEqual(code, 0, output)
        self.assertEqual([(p["name"], p["state"]) for p in read["phases"]], [("build", "ok"), ("timing", "ok")])
        self.assertIn("release 13.0", read["compilers"]["nvcc"])
        self.assertIn("-DCAIRN_CUDA=ON", read["phases"][0]["steps"][0]["argv"])

    def test_a_build_that_fails_ends_it_with_the_compilers_words(self):
        self.fake_compilers(False)
        code, output, read = self.check()
        self.assertEqual((code, [(p["name"], p["state"]) for p in read["phases"]]), (1, [("build", "failed")]))
        self.assertIn("failed: build: compile: exit code 2: error: no such kernel", output)

    def test_programs_that_are_only_built_can_be_taken_elsewhere(self):
        self.fake_compilers(True)
        made = os.path.join(self.folder, "made")
        self.assertEqual(self.check("--build-only", made)[0], 0)
        code, output, read = self.check("--prebuilt", made, "--only", "correctness")
        self.assertEqual((code, read["prebuilt"]["is_current"]), (0, True), output)
        self.assertEqual(read["prebuilt"]["bytes"], sum(os.path.getsize(os.path.join(made, name)) for name in plan.PROGRAMS))

    def test_the_clock_is_asked_of_nvidia_smi_where_there_is_one(self):
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        self.program("nvidia-smi", f"""
import datetime, signal
print(datetime.datetime.now().strftime("%Y/%m/%d %H:%M:%S.%f")[:-3] + ", 1755, 2619, 430.5, 51", flush=True)
open({fifo!r}, "w").close()
signal.pause()""")
        self.program("kernels_timing", f"open({fifo!r}).read(); print('{{\"row\": \"decode\", \"name\": \"x\"}}')")
        code, output, read = self.check("--prebuilt", self.bin, "--only", "timing")
        self.assertEqual(code, 0, output)
        self.assertEqual([(r["smi_sm_mhz"], r["smi_watts"]) for r in read["phases"][0]["rows"]], [(1755, 430.5)])
        self.assertEqual(len(read["smi"]), 1)

    def test_an_interrupt_leaves_the_figures_and_no_process(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            pids = os.path.join(self.folder, f"pids{int(number)}")
            os.mkfifo(pids)
            self.program("kernels_timing", HANGS.replace("while True", f"open({pids!r}, 'w').write('x')\nwhile True"))
            process = self.start("--prebuilt", self.bin, "--only", "timing,sanitizer")
            with open(pids, encoding="utf-8") as file:
                self.assertEqual(file.read(), "x")  # it hangs by now
            process.send_signal(number)
            output = process.communicate(timeout=120)[0]
            with open(self.json, encoding="utf-8") as file:
                read = json.load(file)
            self.assertEqual((process.returncode, read["is_good"]), (128 + number, False), output)
            self.assertEqual([(p["name"], p["state"]) for p in read["phases"]], [("timing", "interrupted")])
            self.check_ended(read["phases"][0]["rows"][0]["pids"])


class Script(unittest.TestCase):
    def run_tool(self, *arguments):
        done = subprocess.run([sys.executable, os.path.join(TOOLS, "gpu-check"), *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, env=dict(os.environ, CUDA_VISIBLE_DEVICES=""))
        return done.returncode, done.stdout

    def test_without_a_gpu_it_is_skipped_before_anything_is_built(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            code, output = self.run_tool("--json", path)
            self.assertEqual(code, 0, output)
            self.assertIn("skipped: no GPU", output)
            with open(path, encoding="utf-8") as file:
                read = json.load(file)
            self.assertEqual(read["phases"], [])
            self.assertIn("no GPU", read["skipped"])

    def test_what_is_not_understood_is_refused(self):
        for arguments, word in ((["--nonsense"], "--nonsense"), (["--js", "x"], "--js"), (["extra"], "extra"),
                                (["--only", "tests"], "no phase tests"),
                                (["--build-only", "a", "--prebuilt", "b"], "opposites")):
            code, output = self.run_tool(*arguments)
            self.assertEqual(code, 2, arguments)
            self.assertIn(word, output)
        code, output = self.run_tool("--help")
        self.assertEqual(code, 0)
        self.assertIn("usage: tools/gpu-check", output)


if __name__ == "__main__":
    unittest.main()
