"""What our C++ does not do. Patterns see the code without comments and without the text of literals."""
import re

from tidy_rules import cpp
from tidy_rules.tree import Finding

RULES = {
    "sleep": "no sleeping: tests wait for events, the product waits on its loop",
    "getenv": "the environment is read in main.cc only",
    "mutex": "locks come from libs/base/mutex.h (an uninstrumented absl::Mutex gives false TSan reports)",
    "new": "no naked new or delete: values and unique_ptr (a static that is never destroyed may use new)",
    "print": "libs/ and kernels/ log by base/log.h; only programs, tests and tools print",
    "throw": "no exceptions of ours: absl::Status",
    "using-namespace": "no using namespace",
    "detach": "no detached threads: something owns and joins every thread",
    "include-path": "quoted includes start at the repository's root",
    "guard": "header guards are CAIRN_<PATH>_H_",
    "name": "no file or type is called util, manager, helper, info, page or handle, no file data or common",
}

_LOCKS = (r"\bstd::(?:recursive_|timed_|shared_)?mutex\b|\bstd::(?:lock_guard|scoped_lock|unique_lock|shared_lock|"
          r"condition_variable\w*)\b|\babsl::(?:Mutex\w*|Notification|BlockingCounter|CondVar|Barrier)\b")
# rule: (pattern, message, folders it holds in, files that are let off)
_BANNED = {
    "sleep": (r"\bsleep_(?:for|until)\b|\b(?:u|nano)?sleep\s*\(|\babsl::SleepFor\b", "sleeps: wait for the event",
              ("libs/", "services/", "tests/", "tools/", "kernels/"), ()),
    "getenv": (r"\b(?:secure_)?getenv\s*\(", "reads the environment outside main.cc",
               ("libs/", "services/", "tests/", "tools/", "kernels/"), ("main.cc",)),
    "mutex": (_LOCKS, "use cairn::Mutex, MutexLock and CondVar of libs/base/mutex.h",
              ("libs/", "services/", "tests/", "tools/", "kernels/"), ("libs/base/mutex.h",)),
    "print": (r"\b(?:printf|fprintf|puts|fputs|putchar|perror|fwrite)\s*\(|\bstd::(?:cout|cerr|clog)\b",
              "prints: use LogEvent", ("libs/", "kernels/"), ("libs/base/check.cc", "libs/base/log.cc")),
    "throw": (r"\bthrow\b", "throws: return an absl::Status", ("libs/", "services/", "kernels/"), ()),
    "using-namespace": (r"\busing\s+namespace\b", "names what it uses instead",
                        ("libs/", "services/", "tests/", "tools/", "kernels/"), ()),
    "detach": (r"\.detach\s*\(\s*\)", "something must own and join the thread",
               ("libs/", "services/", "tests/", "tools/", "kernels/"), ()),
}
_COMPILED = {rule: (re.compile(pattern), *rest) for rule, (pattern, *rest) in _BANNED.items()}
_NEW = re.compile(r"\bnew\b(?!\s*;)|\bdelete\b(?:\s*\[\s*\])?\s+[\w(*]|\bdelete\s*\(")
_NEW_ALLOWED = re.compile(r"=\s*delete|operator\s+(?:new|delete)|WrapUnique\s*\(\s*new\b|unique_ptr\s*<[^;]*\(\s*new\b|\bstatic\b[^;]*=\s*\*?\s*new\b|#\s*include")
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
_BAD_WORDS = ("util", "utils", "manager", "helper", "helpers", "data", "info", "page", "handle", "misc", "common")
_BAD_TYPE = re.compile(r"\b(?:class|struct|enum class)\s+(\w*(?:Utils?|Manager|Helpers?|Info|Page|Handle))\b(?!\s*;)")


def _check_calls(path, code):
    for rule, (pattern, message, folders, let_off) in _COMPILED.items():
        if not path.startswith(folders) or path in let_off or path.rsplit("/", 1)[-1] in let_off:
            continue
        for match in pattern.finditer(code):
            yield Finding(path, code.count("\n", 0, match.start()) + 1, rule, message)
    for number, line in enumerate(code.split("\n"), 1):
        if _NEW.search(line) and not _NEW_ALLOWED.search(line):
            yield Finding(path, number, "new", "a naked new or delete")


def _check_names(path, code):
    stem = path.rsplit("/", 1)[-1].split(".", 1)[0]
    folders = path.split("/")[:-1]
    for word in stem.split("_") + folders:
        if word in _BAD_WORDS:
            yield Finding(path, 1, "name", f"'{word}' says nothing about what is in here")
    for match in _BAD_TYPE.finditer(code):
        yield Finding(path, code.count("\n", 0, match.start()) + 1, "name", f"{match.group(1)}: say what it is")


def expected_guard(path):
    return "CAIRN_" + re.sub(r"[^A-Z0-9]", "_", path.upper()) + "_"


def _check_guard(path, text):
    guard = expected_guard(path)
    directives = re.findall(r"^\s*#\s*(\w+)\s*(.*?)\s*$", cpp.without_comments(text), re.M)
    if directives[:2] != [("ifndef", guard), ("define", guard)] or directives[-1][0] != "endif":
        yield Finding(path, 1, "guard", f"expected #ifndef {guard}, #define, and #endif at the end")


def _check_includes(path, text):
    for number, line in enumerate(cpp.without_comments(text).split("\n"), 1):
        match = _INCLUDE.match(line)
        if match and ("/" not in match.group(1) or ".." in match.group(1)):
            yield Finding(path, number, "include-path", f'"{match.group(1)}": write the path from the root')


def check(tree):
    for path in tree.of_kind("cpp"):
        text = tree.text(path)
        code = cpp.code_only(text)
        yield from _check_calls(path, code)
        yield from _check_names(path, code)
        yield from _check_includes(path, text)
        if path.endswith((".h", ".cuh")):
            yield from _check_guard(path, text)
