"""Rules that a pattern on a line can decide, whatever the language."""
import os
import re

from tidy_rules.tree import Finding

RULES = {
    "unfinished": "no marker of unfinished work: an issue says it better",
    "machine-path": "no absolute path of one machine",
    "host": "no address of a host outside: loopback and the reserved example names only",
    "march": "no compiler flag that ties bits to the building machine (native march, fast math)",
    "script": "a file of tools/ or .ci/ that starts with #! is executable; bash scripts stop at the first error",
    "whitespace": "no tab in C++, no white space at a line's end, and a file ends with one line end",
    "link": "a relative link of a document leads somewhere",
    "no-sleep": "no sleeping in scripts of tests/: wait for the event",
}

_EVERYWHERE = {
    "unfinished": (re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b"), "a marker of unfinished work"),
    "machine-path": (re.compile(r"(?<![\w.~$})/*-])/(?:home|root|work|Users)/\w"), "the path of one machine"),
    "march": (re.compile(r"-march=nativ[e]|-ffast-mat[h]"), "this flag makes bits depend on the building machine"),
}
_URL = re.compile(r"\bhttps?://([^/\s\"'`)>\]:]*)")
_HOST_ALLOWED = re.compile(r"127\.0\.0\.1|localhost|\[|[$%{<]|.*\.?example(?:\.com|\.org|\.net)?$|$")
_PIP_INDEX = re.compile(r"--(?:extra-)?index-ur[l]|--trusted-hos[t]|--find-link[s]")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_SCRIPT_SLEEP = re.compile(r"\btime\.sleep\(|^\s*sleep\s+[\d.$]|;\s*sleep\s+[\d.$]")


def _check_lines(tree, path):
    for number, line in enumerate(tree.text(path).split("\n"), 1):
        for rule, (pattern, message) in _EVERYWHERE.items():
            if pattern.search(line):
                yield Finding(path, number, rule, message)
        hosts = [host for host in _URL.findall(line) if not _HOST_ALLOWED.match(host)]
        if hosts or _PIP_INDEX.search(line):
            yield Finding(path, number, "host", f"names {hosts[0] if hosts else 'a package index'}")
        if tree.kind(path) == "cpp" and "\t" in line or line != line.rstrip():
            yield Finding(path, number, "whitespace", "a tab, or white space at the line's end")


def _check_script(tree, path):
    text = tree.text(path)
    if path.startswith(("tools/", ".ci/")) and text.startswith("#!"):
        if not os.access(os.path.join(tree.root, path), os.X_OK):
            yield Finding(path, 1, "script", "starts with #! and is not executable")
        if tree.kind(path) == "shell" and "set -euo pipefail" not in text and "/common.sh\"" not in text:
            yield Finding(path, 1, "script", "neither `set -euo pipefail` nor common.sh, which sets it")
    if path.startswith("tests/"):
        for number, line in enumerate(text.split("\n"), 1):
            if _SCRIPT_SLEEP.search(line):
                yield Finding(path, number, "no-sleep", "sleeps: wait for the event instead")


def _check_links(tree, path):
    for number, line in enumerate(tree.text(path).split("\n"), 1):
        for target in _LINK.findall(line):
            if "://" not in target and not tree.exists(os.path.join(os.path.dirname(path), target)):
                yield Finding(path, number, "link", f"{target} does not exist")


def check(tree):
    for path in tree.of_kind("cpp", "python", "shell", "cmake", "proto", "text"):
        yield from _check_lines(tree, path)
        text = tree.text(path)
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield Finding(path, text.count("\n") or 1, "whitespace", "a file ends with one line end")
        if tree.kind(path) in ("python", "shell"):
            yield from _check_script(tree, path)
        if path.endswith(".md"):
            yield from _check_links(tree, path)
