"""What nvidia-smi sees while rows are timed. It only asks; nothing is set."""
import datetime
import shutil
import signal
import statistics
import subprocess

_FIELDS = ("timestamp", "clocks.sm", "clocks.mem", "power.draw", "temperature.gpu")


class Sampler:
    """Runs nvidia-smi twice a second from `start` to `stop`, into a file; without it, does nothing."""

    def __init__(self, path, device):
        self._path, self._device, self._process = path, device, None

    def start(self):
        if shutil.which("nvidia-smi") is None:
            return
        argv = ["nvidia-smi", f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader,nounits", "-lms", "500"]
        if "uuid" in self._device:
            argv += ["-i", self._device["uuid"]]
        with open(self._path, "wb") as file:
            self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.DEVNULL,
                                             start_new_session=True)

    def stop(self):
        """The samples, [{"at": s, "sm_mhz": ..., ...}]."""
        if self._process is None:
            return []
        self._process.send_signal(signal.SIGINT)  # which it may write the last samples for
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None
        with open(self._path, encoding="utf-8", errors="replace") as file:
            return [sample for sample in map(parse, file) if sample]


def parse(line):
    """A sample, or None of a line that is none."""
    values = [value.strip() for value in line.split(",")]
    if len(values) != len(_FIELDS):
        return None
    try:
        at = datetime.datetime.strptime(values[0], "%Y/%m/%d %H:%M:%S.%f").timestamp()
        return dict(zip(("at", "sm_mhz", "mem_mhz", "watts", "celsius"), [at, *map(float, values[1:])]))
    except ValueError:
        return None


def add_to_rows(rows, samples):
    """Each row gets the median clock and the most watts of the samples since the row before it."""
    before = float("-inf")
    for row in rows:
        seen = [s for s in samples if before < s["at"] <= row["at"]]
        if seen:
            row["smi_sm_mhz"] = statistics.median(s["sm_mhz"] for s in seen)
            row["smi_watts"] = max(s["watts"] for s in seen)
        before = row["at"]
