"""Files and functions stay short enough to be read in one go."""
import ast
import re

from tidy_rules import cpp
from tidy_rules.tree import Finding

FILE_LINES_SOFT = 400
FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 60
COLUMNS_MAX = 100
BLOB_BYTES_MAX = 1 << 20
DOCUMENT_LINES_MAX = {"WORKSPACE.md": 150, "services/ARCHITECTURE.md": 400}
LIBRARY_README_LINES_MAX = 60

RULES = {
    "file-length": f"no source file over {FILE_LINES_MAX} lines (over {FILE_LINES_SOFT} is listed)",
    "function-length": f"no function over {FUNCTION_LINES_MAX} lines, signature included; kernels/ is exempt",
    "document-length": "WORKSPACE.md, services/ARCHITECTURE.md and library READMEs keep to their limits",
    "columns": f"no line of C++ over {COLUMNS_MAX} columns",
    "blob": "no file over 1 MiB",
}


def _lines(tree, path):
    return tree.text(path).count("\n") + (not tree.text(path).endswith("\n"))


def long_files(tree):
    """(path, lines) of the source files over the soft limit."""
    sources = tree.of_kind("cpp", "python", "shell", "cmake", "proto")
    return [(path, _lines(tree, path)) for path in sources if _lines(tree, path) > FILE_LINES_SOFT]


def _python_functions(text):
    try:
        nodes = ast.walk(ast.parse(text))
    except SyntaxError as error:
        return [(error.lineno or 1, (error.lineno or 1) + FUNCTION_LINES_MAX, "(this is not Python)")]
    return [(node.lineno, node.end_lineno, node.name) for node in nodes
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _shell_functions(text):
    found, open_at, name = [], 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        opened = re.match(r"(\w+)\(\) *[{(][^})]*$", line)
        if opened:
            open_at, name = number, opened.group(1)
        elif open_at and re.match(r"[})]", line):
            found.append((open_at, number, name))
            open_at = 0
    return found


def _functions(tree, path):
    kind, text = tree.kind(path), tree.text(path)
    if kind == "cpp":
        return cpp.functions(cpp.code_only(text))
    return _python_functions(text) if kind == "python" else _shell_functions(text)


def _documents(tree):
    for path in tree.of_kind("text"):
        limit = DOCUMENT_LINES_MAX.get(path)
        if re.fullmatch(r"libs/\w+/README\.md", path):
            limit = LIBRARY_README_LINES_MAX
        if limit and _lines(tree, path) > limit:
            yield Finding(path, limit, "document-length", f"{_lines(tree, path)} lines, at most {limit}")


def check(tree):
    for path, lines in long_files(tree):
        if lines > FILE_LINES_MAX:
            yield Finding(path, FILE_LINES_MAX, "file-length", f"{lines} lines, at most {FILE_LINES_MAX}")
    for path in tree.of_kind("cpp", "python", "shell"):
        if path.startswith("kernels/"):
            continue
        for first, last, name in _functions(tree, path):
            lines = last - first + 1
            if lines > FUNCTION_LINES_MAX:
                yield Finding(path, first, "function-length", f"{name} has {lines} lines, at most {FUNCTION_LINES_MAX}")
    for path in tree.of_kind("cpp"):
        for number, line in enumerate(tree.text(path).split("\n"), 1):
            if len(line) > COLUMNS_MAX:
                yield Finding(path, number, "columns", f"{len(line)} columns, at most {COLUMNS_MAX}")
    for path in tree.files:
        if tree.size(path) > BLOB_BYTES_MAX:
            yield Finding(path, 1, "blob", f"{tree.size(path)} bytes, at most {BLOB_BYTES_MAX}")
    yield from _documents(tree)
