"""cairn-bench runs, and its JSON has what its README says. No figure of speed is looked at."""
import glob
import json
import os
import shutil
import signal
import subprocess

import support
from support import Case, binary, main, run

RIVALS = {"memcached": "memcached", "redis": "redis-server"}


def folders_of(pid):
    return glob.glob(f"/tmp/cairn-bench-{pid}-*")


class BenchTest(Case):
    def bench(self, *arguments):
        """The figures of a bench that must succeed, and must leave nothing behind."""
        command = [binary("cairn-bench"), *arguments, "--json", "-"]
        with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
            output, errors = ran.communicate(timeout=support.TIMEOUT)
        self.assertEqual(ran.returncode, 0, errors)
        self.assertEqual(folders_of(ran.pid), [])
        return json.loads(output)

    def test_pull_measures_every_contender(self):
        found = self.bench("pull", "--ms", "20", "--sizes", "64KiB")
        missing = {name for name, program in RIVALS.items() if shutil.which(program) is None}
        self.assertEqual(set(found["skipped"]), missing)
        expected = {(name, operation, window) for name in ("transport", "node", "ucx", "host", *RIVALS.keys() - missing)
                    for operation in ("get", "put") for window in (1, 8)}
        expected |= {("memcpy", "get", 1), ("memcpy", "get", 8)}
        self.assertEqual({(row["contender"], row["operation"], row["window"]) for row in found["rows"]}, expected)
        for row in found["rows"]:
            self.assertEqual(row["bytes"], 64 << 10)
            self.assertEqual(len(row["slices_gb_per_s"]), 5)
            for name in ("operations", "gb_per_s", "p50_us", "p99_us", "client_cpu_s_per_gb", "seconds"):
                self.assertGreater(row[name], 0, row)
            self.assertGreaterEqual(row["server_cpu_s_per_gb"], 0)
            self.assertIn(row["is_disturbed"], (True, False))
        names = {ratio["name"] for ratio in found["ratios"]}
        self.assertLessEqual({"transport / ucx", "node / ucx", "host / memcpy", "host: node's CPU s/GB"}, names)
        self.assertTrue(all(ratio["aim"] is not None for ratio in found["ratios"] if ratio["name"] == "host / memcpy"))

    def test_pull_measures_what_it_is_told(self):
        found = self.bench("pull", "--ms", "20", "--sizes", "16KiB,1MiB", "--window", "2", "--only", "get,host,memcpy")
        self.assertEqual([(row["contender"], row["bytes"], row["window"]) for row in found["rows"]],
                         [("host", 16384, 2), ("memcpy", 16384, 2), ("host", 1 << 20, 2), ("memcpy", 1 << 20, 2)])

    def test_acquire_counts_hits_and_misses(self):
        found = self.bench("acquire", "--calls", "20")
        hits = {case["case"]: case["hits"] for case in found["cases"]}
        self.assertEqual(hits, {"hits": 20000, "hits_releasing": 20000, "half": 10000, "misses": 0})
        for case in found["cases"]:
            self.assertEqual(case["calls"], 20)
            self.assertGreater(case["p50_us"], 0)
            self.assertGreaterEqual(case["max_us"], case["p99_us"])

    def test_idle_watches_node_and_client(self):
        found = self.bench("idle", "--seconds", "1")
        self.assertEqual([process["name"] for process in found["processes"]], ["node", "client"])
        self.assertGreaterEqual(found["seconds"], 1)
        for process in found["processes"]:
            self.assertGreaterEqual(process["cpu_ms"], 0)

    def test_json_goes_to_a_file_and_tables_to_standard_output(self):
        file = self.path("idle.json")
        ran = run("cairn-bench", "idle", "--seconds=1", f"--json={file}")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("PROCESS", ran.stdout)
        with open(file, encoding="utf-8") as text:
            self.assertEqual(json.load(text)["bench"], "idle")

    def test_an_interrupted_bench_leaves_nothing(self):
        with subprocess.Popen([binary("cairn-bench"), "idle", "--seconds", "600"], text=True, stderr=subprocess.PIPE) as bench:
            self.assertIn("idle for", bench.stderr.readline())
            children = self.children_of(bench.pid)
            self.assertEqual((len(children), len(folders_of(bench.pid))), (2, 1))
            bench.send_signal(signal.SIGINT)
            self.assertEqual(bench.wait(support.TIMEOUT), 1)
        self.assertEqual(folders_of(bench.pid), [])
        self.assertEqual([pid for pid in children if os.path.exists(f"/proc/{pid}")], [])

    @staticmethod
    def children_of(pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(child) for child in file.read().split()]

    def test_mistakes_are_named(self):
        for arguments, what in ((["pull", "--sizes", "3KiB"], "--sizes are powers of two from 16KiB to 16MiB, not \"3KiB\""),
                                (["pull", "--window", "9"], "--window is a number from 1 to 8, not \"9\""),
                                (["pull", "--only", "disk"], "--only takes get, put, transport"),
                                (["pull", "--ms", "soon"], "--ms is a number from 1 to 600000, not \"soon\""),
                                (["acquire", "--sizes", "1MiB"], "unknown flag --sizes"),
                                (["idle", "--model", "/no/such"], "--model: cannot read /no/such"),
                                (["idle", "--json", "/no/such/file"], "--json: cannot write /no/such/file"),
                                (["fly"], "no such bench: fly"), ([], "no bench given")):
            ran = run("cairn-bench", *arguments)
            self.assertEqual(ran.returncode, 2, ran.stderr)
            self.assertIn(what, ran.stderr)
        self.assertEqual(run("cairn-bench", "--help").returncode, 0)
        self.assertIn("--sizes=LIST", run("cairn-bench", "help", "pull").stdout)


main()
