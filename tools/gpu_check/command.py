"""The command: arguments, the order of things, the exit code."""
import argparse
import os
import platform
import sys
import time

from . import device, plan, smi, table
from .runner import Ending, Record, Step, run_phase, run_step

NOTE = "neither these kernels nor this tool has run on a GPU so far: a failure may be the tool's own"
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def say(text, to=sys.stdout):
    print(f"gpu-check: {text}", file=to, flush=True)


class _Parser(argparse.ArgumentParser):
    def __init__(self, usage_text):
        super().__init__(prog="gpu-check", add_help=False, allow_abbrev=False)
        self._usage_text = usage_text
        self.add_argument("--help", "-h", action="store_true")
        self.add_argument("--json")
        self.add_argument("--prebuilt")
        self.add_argument("--build-only")
        self.add_argument("--only", default="")
        self.add_argument("--cublas", default="")

    def error(self, message):
        say(message, sys.stderr)
        print(self._usage_text, file=sys.stderr)
        sys.exit(2)

    def read(self, arguments):
        options = self.parse_args(arguments)
        options.only = [name for name in options.only.split(",") if name] or list(plan.NAMES)
        for name in options.only:
            if name not in plan.NAMES:
                self.error(f"--only: there is no phase {name}")
        if options.build_only and options.prebuilt:
            self.error("--build-only and --prebuilt are opposites")
        return options


def _find_device(folder, ending):
    """(device, why there is none). A process of its own asks, since drivers may hang."""
    step = Step("device", [sys.executable, os.path.join(os.path.dirname(device.__file__), "device.py")])
    outcome = run_step(step, time.monotonic() + 20, os.path.join(folder, "device.log"), ending)
    if outcome.state != "ok" or not outcome.rows:
        return None, f"no GPU: {outcome.why or 'the driver gave no answer'}"
    found = outcome.rows[0]
    chosen, why = device.choose(found)
    if chosen is not None and chosen is not found["devices"][0]:
        chosen["is_chosen"] = True  # programs take the first: it is made the only one
    return chosen, why


def _build(options, record, folder, ending, deadline):
    """The folder of the programs, or None."""
    if options.prebuilt:
        manifest, wrong = plan.check_prebuilt(_ROOT, options.prebuilt)
        if manifest is None:
            say(f"failed: {wrong}", sys.stderr)
            return None
        record.data["prebuilt"] = manifest
        if not manifest["is_current"]:
            say("note: the programs were built from other sources than these")
        return options.prebuilt
    tree = os.path.join(folder, "tree")
    phase, wrong = plan.build_phase(_ROOT, tree)
    if phase is None:
        say(f"failed: {wrong}", sys.stderr)
        return None
    if options.build_only:
        phase.limit_s = plan.ELSEWHERE_S
    record.data["compilers"] = plan.compiler_versions()
    state = run_phase(phase, record, folder, ending, deadline, say)
    return os.path.join(tree, "bin") if state == "ok" else None


def _build_only(options, record, folder, ending):
    bin_dir = _build(options, record, folder, ending, float("inf"))
    if bin_dir is None:
        _show_failed(record)
        return 128 + ending.signal if ending.signal else 1
    total = plan.keep_programs(_ROOT, os.path.dirname(bin_dir), options.build_only)
    if total >= plan.BUILT_BYTES_MAX:
        say(f"failed: the programs have {total} bytes; {plan.BUILT_BYTES_MAX} are too many", sys.stderr)
        return 1
    say(f"{len(plan.PROGRAMS)} programs, {total / 2**20:.1f} MiB, in {options.build_only}")
    return 0


def _run_phases(options, record, bin_dir, chosen, folder, ending, deadline):
    for phase in plan.phases(bin_dir, chosen, options.cublas):
        if phase.name not in options.only or ending.signal:
            continue
        sampler = smi.Sampler(os.path.join(folder, "nvidia-smi.log"), chosen) if phase.name == "timing" else None
        if sampler:
            sampler.start()
        try:
            run_phase(phase, record, folder, ending, deadline, say)
        finally:
            samples = sampler.stop() if sampler else []
        if samples:
            smi.add_to_rows(record.phase(phase.name)["rows"], samples)
            record.data["smi"] = samples
            record.write()


def _show_failed(record):
    """The ends of the logs of steps that failed."""
    for phase in record.data["phases"]:
        for step in phase["steps"]:
            if step["state"] in ("failed", "out of time"):
                say(f"{phase['name']}, {step['name']}, its last lines:")
                print("\n".join(f"    {line}" for line in step["tail"][-15:]), flush=True)


def _faults(record):
    return [f"{p['name']}: {'; '.join(p['why']) or p['state']}" for p in record.data["phases"]
            if p["state"] in ("failed", "out of time")]


def _check(options, path, folder, ending):
    deadline = time.monotonic() + plan.TOTAL_S
    chosen, why = _find_device(folder, ending)
    if ending.signal:
        return 128 + ending.signal
    head = {"tool": "gpu-check", "format": 1, "note": NOTE, "host": platform.platform(), "cores": os.cpu_count(),
            "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "device": chosen}
    if chosen is None:
        say(f"skipped: {why}")
        Record(path, dict(head, skipped=why))
        return 0
    say(f"{chosen['name']}; {NOTE}")
    record = Record(path, dict(head, sources=plan.sources_digest(_ROOT)))
    bin_dir = _build(options, record, folder, ending, deadline)
    if bin_dir is not None and not ending.signal:
        _run_phases(options, record, bin_dir, chosen, folder, ending, deadline)
    faults = _faults(record) or ([] if bin_dir is not None else ["build: see above"])
    record.data.update(faults=faults, is_good=not faults and not ending.signal)
    record.write()
    _show_failed(record)
    print("\n".join([""] + table.lines_of(record.data)), flush=True)
    if ending.signal:
        say(f"interrupted; what was measured is in {path}", sys.stderr)
        return 128 + ending.signal
    for fault in faults:
        say(f"failed: {fault}", sys.stderr)
    say(f"figures: {path}")
    return 1 if faults else 0


def main(arguments, usage_text):
    options = _Parser(usage_text).read(arguments)
    if options.help:
        print(usage_text)
        return 0
    folder = os.path.join(_ROOT, "build", "gpu-check")
    path = os.path.abspath(options.json) if options.json else os.path.join(folder, "gpu-check.json")
    for name in ("prebuilt", "build_only"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    ending = Ending()
    ending.listen()
    try:
        os.makedirs(folder, exist_ok=True)
        if options.build_only:
            return _build_only(options, Record(path, {"tool": "gpu-check", "format": 1}), folder, ending)
        return _check(options, path, folder, ending)
    except OSError as error:
        say(f"failed: {error}", sys.stderr)
        return 1
