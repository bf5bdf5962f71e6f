"""tools/tidy on small trees: a clean one passes, and each planted fault is found by the rule that names it."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import unittest

TIDY = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..", "tools", "tidy")

CLEAN = {
    "libs/base/CMakeLists.txt": "cairn_library(NAME base LAYER 0 SRCS clock.cc HDRS clock.h)\n",
    "libs/base/README.md": "# base\n",
    "libs/base/clock.h": "#ifndef CAIRN_LIBS_BASE_CLOCK_H_\n#define CAIRN_LIBS_BASE_CLOCK_H_\nint Tick();\n"
                         "#endif  // CAIRN_LIBS_BASE_CLOCK_H_\n",
    "libs/base/clock.cc": '#include "libs/base/clock.h"\nint Tick() { return 1; }\n',
    "libs/pin/CMakeLists.txt": "cairn_library(NAME pin LAYER 1 SRCS table.cc table_tier_avx2.cc HDRS table.h\n"
                               "  DEPS cairn::base)\n",
    "libs/pin/README.md": "# pin, see [base](../base/README.md)\n",
    "libs/pin/table.h": "#ifndef CAIRN_LIBS_PIN_TABLE_H_\n#define CAIRN_LIBS_PIN_TABLE_H_\n"
                        "#endif  // CAIRN_LIBS_PIN_TABLE_H_\n",
    "libs/pin/table.cc": '#include "libs/base/clock.h"\n'
                         'void F() { CAIRN_COVERED("pin_aged"); static T* const t = new T; }\n'
                         "// absl::Mutex and getenv() in a comment are no calls\n"
                         'const char* k = "std::mutex and throw in a string";\n',
    "libs/pin/table_tier_avx2.cc": "int g;\n",
    "tests/unit/base/CMakeLists.txt": "cairn_test(NAME base SRCS clock_test.cc LABEL unit)\n",
    "tests/unit/base/clock_test.cc": "int a;\n",
    "tests/unit/pin/CMakeLists.txt": "cairn_test(NAME pin SRCS table_test.cc LABEL unit)\n",
    "tests/unit/pin/table_test.cc": "int b;\n",
    "services/node/CMakeLists.txt": "cairn_binary(NAME cairn-node SRCS main.cc)\n",
    "services/node/main.cc": 'int main() { return getenv("HOME") != nullptr; }\n',
}
LONG_BODY = "  int x = 0;\n" * 60
WORD = "TO" + "DO"
ALLOW = "// tidy: " + "allow(new)"

# rule: files that replace or join the clean ones
PLANTED = {
    "file-length": {"services/node/main.cc": "int x;\n" * 601},
    "function-length": {"services/node/main.cc": "namespace n {\nint F(int a) {\n" + LONG_BODY + "  return a;\n}\n}\n"},
    "document-length": {"libs/pin/README.md": "line\n" * 61},
    "columns": {"libs/pin/table.cc": "int " + "a" * 100 + ";\n"},
    "blob": {"services/picture.bin": "x" * ((1 << 20) + 1)},
    "unfinished": {"services/node/main.cc": f"// {WORD}: later\n"},
    "machine-path": {"services/node/main.cc": 'const char* k = "/' + 'home/someone/x";\n'},
    "host": {"services/node/README.md": "see http" + "s://packages.outside.net/simple\n"},
    "march": {"services/node/CMakeLists.txt": "cairn_binary(NAME n SRCS main.cc)\nadd_compile_options(-march=" + "native)\n"},
    "script": {"tools/go": "#!/bin/bash\necho no strict mode, not executable\n"},
    "whitespace": {"services/node/main.cc": "int a; \n"},
    "link": {"libs/pin/README.md": "[gone](gone.md)\n"},
    "no-sleep": {"tests/e2e/wait.py": "import time\ntime." + "sleep(1)\n"},
    "sleep": {"tests/unit/pin/table_test.cc": "void F() { std::this_thread::sleep_for(1s); }\n"},
    "getenv": {"libs/pin/table.cc": 'bool F() { return std::getenv("X") != nullptr; }\n'},
    "mutex": {"libs/pin/table.h": CLEAN["libs/pin/table.h"].replace("#endif", "absl::Mutex m;\n#endif")},
    "new": {"libs/pin/table.cc": "T* F() { return new T(1); }\n"},
    "print": {"libs/pin/table.cc": 'void F() { std::printf("here"); }\n'},
    "throw": {"libs/pin/table.cc": "void F() { throw 1; }\n"},
    "using-namespace": {"libs/pin/table.cc": "using namespace std;\n"},
    "detach": {"services/node/main.cc": "void F(T& t) { t.detach(); }\n"},
    "include-path": {"libs/pin/table.cc": '#include "../base/clock.h"\n'},
    "guard": {"libs/pin/table.h": "#ifndef TABLE_H\n#define TABLE_H\n#endif\n"},
    "name": {"libs/pin/table.h": CLEAN["libs/pin/table.h"].replace("#endif", "class PinManager {};\n#endif")},
    "twin": {"tests/unit/pin/table_test.cc": None, "tests/unit/pin/CMakeLists.txt": "\n#\n"},
    "unlisted": {"libs/pin/forgotten.cc": "int c;\n", "tests/unit/pin/forgotten_test.cc": "int d;\n"},
    "layer": {"libs/base/clock.cc": '#include "libs/pin/table.h"\n'},
    "pure": {"libs/pin/table.cc": "#include <thread>\n"},
    "foreign-header": {"libs/pin/table.h": CLEAN["libs/pin/table.h"].replace("#endif", "#include <grpcpp/grpcpp.h>\n#endif")},
    "readme": {"libs/pin/README.md": None},
    "mark": {"libs/base/clock.cc": 'void G() { CAIRN_COVERED("pin_aged"); }\n'},
    "allow": {"libs/pin/table.cc": f"T* F() {{ return new T(1); }}  {ALLOW}\n"},
}


def load_tidy():
    loader = importlib.machinery.SourceFileLoader("tidy", TIDY)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
    loader.exec_module(module)
    return module


MAIN = load_tidy().main


def tidy(files, *arguments):
    """Runs tidy over a tree of these files (None: left out); returns (exit code, output)."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            if text is not None:
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = MAIN(["--root", root, *arguments])
        return code, output.getvalue()


class TidyTest(unittest.TestCase):
    def test_clean_tree_passes(self):
        code, output = tidy(CLEAN)
        self.assertEqual((code, output.splitlines()[-1]), (0, f"tidy: {len(CLEAN)} files, 0 allowed exceptions, 0 findings"), output)

    def test_every_planted_fault_is_found(self):
        for rule, files in PLANTED.items():
            with self.subTest(rule=rule):
                code, output = tidy({**CLEAN, **files})
                self.assertEqual(code, 1, output)
                found = [line for line in output.splitlines() if f": {rule}: " in line]
                self.assertTrue(found, output)

    def test_every_rule_has_a_planted_fault(self):
        _, output = tidy(CLEAN, "--rules")
        rules = {line.split()[0] for line in output.splitlines()}
        self.assertEqual(rules | {"allow"}, set(PLANTED))

    def test_exception_with_reason_is_let_off(self):
        code, comment = "T* F() { return new T(1); }", f"{ALLOW} the C API frees it"
        for text, expected in ((f"{code}  {comment}\n", 0), (f"{comment}\n{code}\n", 0), (f"{comment}\n\n{code}\n", 1)):
            with self.subTest(text=text):
                self.assertEqual(tidy({**CLEAN, "libs/pin/table.cc": text})[0], expected)

    def test_file_over_the_soft_limit_is_listed_only(self):
        code, output = tidy({**CLEAN, "services/node/main.cc": "int x;\n" * 401})
        self.assertEqual(code, 0, output)
        self.assertIn("note: services/node/main.cc has 401 lines", output)

    def test_sixty_lines_are_the_limit_of_every_kind_of_function(self):
        body = "  int x = 0;\n" * 58  # with signature and closing brace: 60
        shapes = ("int F(int a = {}) {\n%s}\n", "A::A(int a) : a_{a}, b_(a) {\n%s}\n", "TEST(A, B) {\n%s}\n",
                  "template <class T>\nstruct S {\n  void G() const {\n%s}\n};\n", "auto f = [](int x) {\n%s};\n",
                  "#if A\nint F() {\n#else\nint G() {\n#endif\n}\nint H() {\n%s}\n")
        for shape in shapes:
            with self.subTest(shape=shape):
                self.assertEqual(tidy({**CLEAN, "services/node/main.cc": shape % body})[0], 0)
                self.assertEqual(tidy({**CLEAN, "services/node/main.cc": shape % (body + "  int y;\n")})[0], 1)

    def test_command_ends_with_the_number_of_findings_and_its_exit_code(self):
        with tempfile.TemporaryDirectory() as root:
            with open(os.path.join(root, "CMakeLists.txt"), "w", encoding="utf-8") as file:
                file.write(f"# {WORD}\n")
            run = subprocess.run([sys.executable, TIDY, "--root", root], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("CMakeLists.txt:1: unfinished: ", run.stdout)

    def test_kernels_may_be_long(self):
        kernel = {"kernels/a/CMakeLists.txt": "add_library(a k.cc)\n", "kernels/a/k.cc": "void K() {\n" + LONG_BODY + "}\n"}
        self.assertEqual(tidy({**CLEAN, **kernel})[0], 0)

    def test_adapter_keeps_foreign_header_to_itself(self):
        header = ("#ifndef CAIRN_LIBS_WAY_WAY_H_\n#define CAIRN_LIBS_WAY_WAY_H_\n#include <ucp/api/ucp.h>\n"
                  "#endif  // CAIRN_LIBS_WAY_WAY_H_\n")
        adapter = {"libs/way/CMakeLists.txt": "cairn_library(NAME way LAYER 3 SRCS way.cc HDRS way.h)\n",
                   "libs/way/README.md": "# way\n", "libs/way/way.h": header, "libs/way/way.cc": '#include "libs/way/way.h"\n'}
        self.assertEqual(tidy({**CLEAN, **adapter})[0], 0)
        code, output = tidy({**CLEAN, **adapter, "services/node/main.cc": '#include "libs/way/way.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("libs/way/way.h:3: foreign-header: includes ucp/api/ucp.h, and services/node/main.cc", output)

    def test_include_needs_a_dependency(self):
        lone = CLEAN["libs/pin/CMakeLists.txt"].replace("cairn::base", "")
        code, output = tidy({**CLEAN, "libs/pin/CMakeLists.txt": lone})
        self.assertEqual(code, 1)
        self.assertIn("libs/pin/table.cc:1: layer: includes base", output)

    def test_marks_are_listed_with_their_sites(self):
        self.assertEqual(tidy(CLEAN, "--marks"), (0, "pin_aged\tlibs/pin/table.cc:2\n"))
        self.assertEqual(tidy(CLEAN, "--marks", "libs/base"), (0, ""))


if __name__ == "__main__":
    unittest.main()
