"""Runs phases of programs under deadlines, and leaves neither processes nor figures behind."""
import collections
import dataclasses
import json
import os
import select
import selectors
import signal
import subprocess
import time
from typing import List, Optional

SKIPPED = 77            # a program's exit code for: not here, and the last line says why
_TAIL_LINES = 40        # of a program's output, kept for the record
_LINE_BYTES = 1 << 20   # longer lines are cut
_GRACE_S = 1            # from SIGTERM to SIGKILL
_LOOK_S = 0.2           # how often a wait looks at the clock and at signals


class Ending:
    """Whether a signal asked for the end. The handlers only note it: waits look every fifth of a second."""

    def __init__(self):
        self.signal = None

    def listen(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note)

    def _note(self, number, _frame):
        self.signal = self.signal or number


@dataclasses.dataclass
class Step:
    """One program. Lines of its output that are JSON objects are rows; others are its log."""
    name: str
    argv: List[str]
    limit_s: Optional[float] = None         # besides the phase's
    env: Optional[dict] = None              # besides this process's
    # Ends it gave up on or found wanting are no fault: of tools that may refuse to work here.
    is_optional: bool = False
    finds: Optional[int] = None             # of an optional step, the exit code that does mean a fault


@dataclasses.dataclass
class Outcome:
    state: str                              # ok, failed, out of time, skipped, interrupted
    why: str = ""
    seconds: float = 0.0
    rows: list = dataclasses.field(default_factory=list)
    tail: list = dataclasses.field(default_factory=list)


def _pause(seconds):
    """A wait for what no descriptor tells: that a process has ended."""
    select.select([], [], [], seconds)


def _end_group(process):
    """Ends what is left of the process's group, and waits for the process itself."""
    def signal_group(number):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
    if process.returncode is not None:
        return  # reaped: its number may be another's
    if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        signal_group(signal.SIGTERM)
        deadline = time.monotonic() + _GRACE_S
        while time.monotonic() < deadline:
            if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                break
            _pause(_LOOK_S / 4)
    signal_group(signal.SIGKILL)  # children of a process that has ended, too
    process.wait()
    deadline = time.monotonic() + _GRACE_S
    while time.monotonic() < deadline:  # children are another's to reap; they are gone when the group is
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        _pause(_LOOK_S / 10)


class _Lines:
    """Cuts bytes into lines, and sorts rows from the log."""

    def __init__(self, log, on_row):
        self.rows, self.tail = [], collections.deque(maxlen=_TAIL_LINES)
        self._rest, self._log, self._on_row = b"", log, on_row

    def add(self, data):
        self._log.write(data)
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()[:_LINE_BYTES]
        for line in lines:
            self._line(line.decode("utf-8", "replace").rstrip())

    def end(self):
        if self._rest:
            self._line(self._rest.decode("utf-8", "replace").rstrip())
        self._rest = b""

    def _line(self, line):
        row = None
        if line.startswith("{"):
            try:
                row = json.loads(line)
            except ValueError:
                pass
        if isinstance(row, dict):
            row["at"] = round(time.time(), 3)
            self.rows.append(row)
            self._on_row(row)
        elif line:
            self.tail.append(line)


def _read_until(process, lines, deadline, ending):
    """Reads output until the process ends; why it is to be ended otherwise."""
    os.set_blocking(process.stdout.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        is_open = True
        while True:
            has_ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
            for _ in selector.select(0 if has_ended else _LOOK_S) if is_open else ():
                data = os.read(process.stdout.fileno(), 1 << 16)
                if data:
                    lines.add(data)
                    has_ended = False  # there may be more
                else:
                    selector.unregister(process.stdout)
                    is_open = False
            if has_ended:
                return ""
            if ending.signal:
                return "interrupted"
            if time.monotonic() > deadline:
                return "out of time"
            if not is_open:
                _pause(_LOOK_S / 10)


def run_step(step, deadline, log_path, ending, on_row=lambda row: None):
    """Runs one program until `deadline` (of time.monotonic) or its own limit. Its whole group is gone afterwards."""
    begun = time.monotonic()
    if step.limit_s is not None:
        deadline = min(deadline, begun + step.limit_s)
    if begun >= deadline:
        return Outcome("skipped" if step.is_optional else "out of time", f"{step.name}: no time was left")
    os.makedirs(os.path.dirname(log_path) or ".", exist_ok=True)
    with open(log_path, "wb", buffering=0) as log:
        try:
            process = subprocess.Popen(step.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       env=dict(os.environ, **(step.env or {})), start_new_session=True)
        except OSError as error:
            return Outcome("skipped" if step.is_optional else "failed", f"{step.name}: {step.argv[0]}: {error.strerror}")
        lines = _Lines(log, on_row)
        try:
            ended_for = _read_until(process, lines, deadline, ending)
        finally:
            _end_group(process)
            process.stdout.close()
        lines.end()
    outcome = Outcome("ok", "", time.monotonic() - begun, lines.rows, list(lines.tail))
    outcome.state, outcome.why = _verdict(step, ended_for, process.returncode, outcome)
    return outcome


def _verdict(step, ended_for, code, outcome):
    last = f": {outcome.tail[-1]}" if outcome.tail else ""
    if ended_for == "interrupted":
        return "interrupted", f"{step.name}: interrupted"
    if ended_for:
        return ("skipped" if step.is_optional else ended_for), f"{step.name}: not done after {outcome.seconds:.0f} s"
    if code == 0:
        return "ok", ""
    if code == SKIPPED:
        return "skipped", f"{step.name}{last}"
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    if step.is_optional and code != step.finds:
        return "skipped", f"{step.name} refused ({how}){last}"
    return "failed", f"{step.name}: {how}{last}"


# ---- Phases -------------------------------------------------------------------------------------

@dataclasses.dataclass
class Phase:
    name: str
    limit_s: float
    steps: List[Step]
    goes_on: bool = True                    # after a step that failed, with the next step
    may_skip: bool = False                  # a skipped step is no fault (of a GPU that is known to be there it is one)


class Record:
    """The figures, as one JSON object in a file that is whole at any time."""

    def __init__(self, path, head):
        self.path, self.data = path, dict(head, phases=[])
        folder = os.path.dirname(os.path.abspath(path))
        os.makedirs(folder, exist_ok=True)
        self.write()

    def write(self):
        draft = f"{self.path}.{os.getpid()}.tmp"
        with open(draft, "w", encoding="utf-8") as file:
            json.dump(self.data, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self.path)

    def phase(self, name):
        return next((p for p in self.data["phases"] if p["name"] == name), None)


_WORST = ("ok", "skipped", "out of time", "failed", "interrupted")  # in this order


def run_phase(phase, record, log_folder, ending, total_deadline=float("inf"), say=lambda text: None):
    """Runs the steps and keeps the record: at the start, with each row that comes a second after the last write, at the end."""
    begun = time.monotonic()
    deadline = min(begun + phase.limit_s, total_deadline)
    entry = {"name": phase.name, "state": "running", "limit_s": phase.limit_s, "seconds": 0.0, "why": [], "steps": [],
             "rows": []}
    record.data["phases"].append(entry)
    record.write()
    written = time.monotonic()

    def on_row(row):
        nonlocal written
        entry["rows"].append(row)
        if time.monotonic() - written >= 1:
            record.write()
            written = time.monotonic()

    state = "ok"
    for step in phase.steps:
        outcome = run_step(step, deadline, os.path.join(log_folder, f"{phase.name}-{step.name}.log"), ending, on_row)
        if outcome.state == "skipped" and not (phase.may_skip or step.is_optional):
            outcome.state = "failed"
        entry["steps"].append({"name": step.name, "argv": step.argv, "state": outcome.state,
                               "seconds": round(outcome.seconds, 2), "why": outcome.why, "tail": outcome.tail})
        if outcome.why:
            entry["why"].append(outcome.why)
            say(f"{phase.name}: {outcome.why}")
        state = max(state, outcome.state, key=_WORST.index)
        if outcome.state == "interrupted" or (outcome.state in ("failed", "out of time") and not phase.goes_on):
            break
    entry["state"] = state
    entry["seconds"] = round(time.monotonic() - begun, 2)
    record.write()
    say(f"{phase.name}: {state} in {entry['seconds']:.1f} s")
    return state
