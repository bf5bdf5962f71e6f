"""The files that tidy looks at, what kind each is, and the exceptions that their comments ask for."""
import collections
import os
import re
import subprocess

Finding = collections.namedtuple("Finding", "path line rule message")

CPP = (".h", ".cc", ".cu", ".cuh")
SKIPPED_FOLDERS = {".git", "build", "model", ".run", "__pycache__"}
ALLOWANCE = re.compile(r"tidy: allow\(([\w-]+)\)([^\n]*)")


class Tree:
    """Paths are relative to `root`, with forward slashes."""

    def __init__(self, root):
        self.root = os.path.realpath(root)
        self.files = sorted(self._git_files() or self._walked_files())
        self._texts = {}
        self.allowances = []  # (path, line, rule, has a reason)
        for path in self.files:
            if self.kind(path) not in ("text", "other") and not path.startswith("tools/tidy"):
                for line, rest in self.lines_with(path, "tidy: allow("):
                    for rule, reason in ALLOWANCE.findall(rest):
                        self.allowances.append((path, line, rule, bool(re.search(r"\w{2}", reason))))

    def _git_files(self):
        if not os.path.exists(os.path.join(self.root, ".git")):
            return []
        command = ["git", "-c", f"safe.directory={self.root}", "-C", self.root]
        listed = subprocess.run(command + ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
        return [path for path in set(listed) if path and os.path.isfile(os.path.join(self.root, path))]

    def _walked_files(self):
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
            found += [os.path.relpath(os.path.join(folder, name), self.root) for name in names]
        return found

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def size(self, path):
        return os.path.getsize(os.path.join(self.root, path))

    def text(self, path):
        if path not in self._texts:
            with open(os.path.join(self.root, path), "rb") as file:
                self._texts[path] = file.read().decode("utf-8", "replace")
        return self._texts[path]

    def lines_with(self, path, word):
        """(number, line) of the lines that hold `word`."""
        if word not in self.text(path):
            return []
        return [(i, line) for i, line in enumerate(self.text(path).split("\n"), 1) if word in line]

    def kind(self, path):
        """cpp, python, shell, cmake, proto, text (documents and settings) or other (data)."""
        base, extension = os.path.basename(path), os.path.splitext(path)[1]
        if extension in CPP:
            return "cpp"
        if base == "CMakeLists.txt" or extension == ".cmake":
            return "cmake"
        by_extension = {".py": "python", ".sh": "shell", ".proto": "proto", ".md": "text", ".yaml": "text",
                        ".yml": "text", ".supp": "text"}
        if extension in by_extension:
            return by_extension[extension]
        if extension or base.startswith(".") or self.size(path) > 1 << 20:
            return "other"
        first = self.text(path).split("\n", 1)[0]
        if first.startswith("#!"):
            return "python" if "python" in first else "shell"
        return "text" if base[:1].isupper() else "other"

    def of_kind(self, *kinds):
        return [path for path in self.files if self.kind(path) in kinds]

    def is_allowed(self, finding):
        """Whether a comment on the finding's line, or on the line above, lets it off."""
        return any((path, rule) == (finding.path, finding.rule) and has_reason and finding.line - line in (0, 1)
                   for path, line, rule, has_reason in self.allowances)

    def bad_allowances(self, rules):
        for path, line, rule, has_reason in self.allowances:
            if rule not in rules:
                yield Finding(path, line, "allow", f"there is no rule {rule}")
            elif not has_reason:
                yield Finding(path, line, "allow", "an exception needs its reason, on the same line")
