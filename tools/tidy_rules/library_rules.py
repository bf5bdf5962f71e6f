"""Rules about libraries: layers, includes, tests, and what their CMakeLists.txt names."""
import collections
import os
import re

from tidy_rules import cpp
from tidy_rules.tree import Finding

RULES = {
    "twin": "a .cc of libs/ in layers 0 to 2 has tests/unit/<lib>/<file>_test.cc; x_tier*.cc are tested by x_test.cc",
    "unlisted": "every .cc, and every header of libs/, is named in a CMakeLists.txt (else it is not built, or not run)",
    "layer": "a library includes lower layers only, and only libraries that its CMakeLists.txt depends on",
    "pure": "layer 1 has no threads, clocks, IO or third party beyond Abseil",
    "foreign-header": "third-party headers stay in their adapter: layers 0 to 2, 4 and 5 include none in a header, "
                      "and an adapter's header that has one is included by its own folder only",
    "readme": "every library folder has a README.md",
    "mark": "a CAIRN_COVERED name is snake_case and stands in one place, so that a hit proves that place",
}

Library = collections.namedtuple("Library", "name layer folder uses files")

_CALL = re.compile(r"cairn_library\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_MARK = re.compile(r'\bCAIRN_COVERED\(\s*"([^"]*)"')
_INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)
_FOREIGN = re.compile(r"(?:grpc|grpcpp|google/protobuf|ucp|ucs|uct|ucm|boost|openssl|yaml-cpp|rocksdb|prometheus|cuda|nv)/"
                      r"|(?:pcre2|xxhash|xxh3|cuda\w*|nvml)\.h|benchmark/|gtest/|gmock/")
_SPEAKS_GRPC = {"rpc", "config"}  # their public headers may show what protoc and gRPC generate
_IMPURE_INCLUDE = re.compile(r"(?:thread|mutex|condition_variable|future|fstream|iostream|filesystem|random|unistd\.h|"
                             r"fcntl\.h|sys/\w+\.h|pthread\.h|time\.h|ctime)$")
_IMPURE = re.compile(r"\bstd::(?:thread|jthread|async|random_device)\b|\b(?:steady|system|high_resolution)_clock\b|"
                     r"\babsl::(?:Now|GetCurrentTimeNanos)\b|\bRandomBytes\b|\bInstant::Now\b")


def libraries(tree):
    """name -> Library, of every cairn_library call in libs/ and kernels/."""
    found = {}
    for path in tree.of_kind("cmake"):
        if not path.startswith(("libs/", "kernels/")):
            continue
        folder = os.path.dirname(path)
        for body in _CALL.findall(re.sub(r"#.*", "", tree.text(path))):
            name, layer = re.search(r"NAME\s+(\w+)", body), re.search(r"LAYER\s+(\d+)", body)
            if name and layer:
                files = {f"{folder}/{word}" for word in body.split() if word.endswith((".h", ".cc", ".cu", ".cuh"))}
                uses = set(re.findall(r"cairn::(\w+)", body))
                found[name.group(1)] = Library(name.group(1), int(layer.group(1)), folder, uses, files)
    return found


class Owners:
    """Which library a file belongs to: the one that lists it, else its folder's only one."""

    def __init__(self, found):
        self._by_file = {path: library for library in found.values() for path in library.files}
        folders = collections.Counter(library.folder for library in found.values())
        self._by_folder = {library.folder: library for library in found.values() if folders[library.folder] == 1}

    def of(self, path):
        if path in self._by_file:
            return self._by_file[path]
        folder = os.path.dirname(path)
        while folder and folder not in self._by_folder:
            folder = os.path.dirname(folder)
        return self._by_folder.get(folder)


def _reachable(found, library):
    reached, waiting = set(), list(library.uses)
    while waiting:
        name = waiting.pop()
        if name not in reached and name in found:
            reached.add(name)
            waiting += found[name].uses
    return reached


def _includes(tree, path):
    text = cpp.without_comments(tree.text(path))
    return [(text.count("\n", 0, m.start(2)) + 1, m.group(2)) for m in _INCLUDE.finditer(text)]


def _check_twin(tree, path, library):
    if library.layer > 2 or not path.startswith("libs/") or not path.endswith(".cc"):
        return
    stem = re.sub(r"_tier(_\w+)?$", "", os.path.basename(path)[:-3])
    twin = f"tests/unit/{path.split('/', 1)[1].rsplit('/', 1)[0]}/{stem}_test.cc"
    if not tree.exists(twin):
        yield Finding(path, 1, "twin", f"there is no {twin}")


def _check_layer(tree, path, library, found, owners):
    reachable = _reachable(found, library)
    for line, included in _includes(tree, path):
        other = owners.of(included) if included.startswith(("libs/", "kernels/")) else None
        if other is None or other.name == library.name:
            continue
        if other.layer >= library.layer:
            yield Finding(path, line, "layer", f"{library.name} (layer {library.layer}) includes {other.name} (layer {other.layer})")
        elif other.name not in reachable:
            yield Finding(path, line, "layer", f"includes {other.name}, on which {library.name}'s CMakeLists.txt does not depend")


def _check_pure(tree, path, library):
    if library.layer != 1:
        return
    for line, included in _includes(tree, path):
        if _IMPURE_INCLUDE.fullmatch(included) or _FOREIGN.match(included):
            yield Finding(path, line, "pure", f"layer 1 includes {included}")
    code = cpp.code_only(tree.text(path))
    for match in _IMPURE.finditer(code):
        yield Finding(path, code.count("\n", 0, match.start()) + 1, "pure", f"layer 1 uses {match.group(0)}")


def _check_foreign(tree, path, library, users):
    if not path.endswith((".h", ".cuh")):
        return
    for line, included in _includes(tree, path):
        if not _FOREIGN.match(included) or (library.name in _SPEAKS_GRPC and included.startswith(("grpc", "google/"))):
            continue
        outside = [user for user in users[path] if not user.startswith((library.folder + "/", "tests/"))]
        if library.layer != 3 or outside:
            who = f", and {outside[0]} includes this header" if outside else ""
            yield Finding(path, line, "foreign-header", f"includes {included}{who}")


def _check_listed(tree):
    build_texts = {path: tree.text(path) for path in tree.of_kind("cmake")}
    for path in tree.of_kind("cpp"):
        if path.endswith((".h", ".cuh")) and not path.startswith("libs/"):
            continue
        for build_path, text in build_texts.items():
            folder = os.path.dirname(build_path)
            names = [path] if not folder or not path.startswith(folder + "/") else [path, path[len(folder) + 1:]]
            if any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w./-])", text) for name in names):
                break
        else:
            yield Finding(path, 1, "unlisted", "no CMakeLists.txt names it")


def marks(tree, folders):
    """(name, path, line) of every CAIRN_COVERED under the folders, by name."""
    prefixes = tuple(folder.rstrip("/") + "/" for folder in folders)
    found = []
    for path in tree.of_kind("cpp"):
        if path.startswith(prefixes) and path != "libs/base/mark.h":
            text = cpp.without_comments(tree.text(path))
            found += [(m.group(1), path, text.count("\n", 0, m.start()) + 1) for m in _MARK.finditer(text)]
    return sorted(found)


def _check_marks(tree):
    first = {}
    for name, path, line in marks(tree, ["libs", "services", "kernels"]):
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            yield Finding(path, line, "mark", f'"{name}" is not snake_case')
        if name in first:
            yield Finding(path, line, "mark", f'"{name}" stands in {first[name]} too')
        first.setdefault(name, f"{path}:{line}")


def check(tree):
    found = libraries(tree)
    owners = Owners(found)
    sources = [path for path in tree.of_kind("cpp") if path.startswith(("libs/", "kernels/", "services/", "tools/"))]
    users = collections.defaultdict(list)
    for path in sources:
        for _, included in _includes(tree, path):
            users[included].append(path)
    for path in sources:
        library = owners.of(path)
        if library is not None:
            yield from _check_twin(tree, path, library)
            yield from _check_layer(tree, path, library, found, owners)
            yield from _check_pure(tree, path, library)
            yield from _check_foreign(tree, path, library, users)
    for folder in sorted({library.folder for library in found.values() if library.folder.startswith("libs/")}):
        if not tree.exists(f"{folder}/README.md"):
            yield Finding(f"{folder}/CMakeLists.txt", 1, "readme", f"{folder} has no README.md")
    yield from _check_listed(tree)
    yield from _check_marks(tree)
