#!/usr/bin/env python3
"""Compares what ptxas says of each kernel (registers, stack, spills, static shared memory) with the checked-in table.

usage: resources.py [--write] NVCC TABLE FOLDER
  FOLDER is searched for the logs that ptxas_gate.sh keeps (*.o.ptxas). Growth, and a kernel that is not in the table, are
  findings (exit code 1); with another nvcc than the table's nothing can be compared (77: skipped). --write makes the
  table anew.
"""
import pathlib
import re
import subprocess
import sys

COLUMNS = ("registers", "stack", "spills", "shared")


def kernels_of(log):
    """name -> numbers in the order of COLUMNS."""
    found, name, stack, spills = {}, None, 0, 0
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '(.+)' for", line):
            name = match.group(1)
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            stack, spills = int(match.group(1)), int(match.group(2)) + int(match.group(3))
        elif (match := re.search(r"Used (\d+) registers", line)) and name:
            shared = re.search(r"(\d+) bytes smem", line)
            found[name] = (int(match.group(1)), stack, spills, int(shared.group(1)) if shared else 0)
    return found


def demangled(names):
    output = subprocess.run(["c++filt"], input="\n".join(names), stdout=subprocess.PIPE, text=True, check=True).stdout
    return output.splitlines()


def measured(folder):
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*.o.ptxas")):
        kernels = kernels_of(path.read_text())
        found.update(zip(demangled(kernels), kernels.values()) if kernels else [])
    return {re.sub(r"^void |\(anonymous namespace\)::|cairn::", "", name): row for name, row in found.items()}


def version_of(nvcc):
    output = subprocess.run([nvcc, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.search(r"V(\d+\.\d+\.\d+)", output).group(1)


def write(table, version, kernels):
    lines = [f"# nvcc {version}, sm_90a. Made by cmake/resources.py --write. A kernel that grows fails the test.",
             "# " + " ".join(COLUMNS) + " kernel (bytes but for the registers)"]
    lines += [" ".join(map(str, row)) + " " + name for name, row in sorted(kernels.items())]
    pathlib.Path(table).write_text("\n".join(lines) + "\n")


def main(arguments):
    if len(arguments) == 4 and arguments[0] == "--write":
        write(arguments[2], version_of(arguments[1]), measured(arguments[3]))
        return 0
    if len(arguments) != 3:
        print(__doc__)
        return 2
    nvcc, table, folder = arguments
    lines = pathlib.Path(table).read_text().splitlines()
    version = version_of(nvcc)
    if not lines[0].startswith(f"# nvcc {version},"):
        print(f"skipped: this is nvcc {version}; the table's is another: {lines[0]}")
        return 77
    known = {}
    for line in lines[2:]:
        *numbers, name = line.split(" ", len(COLUMNS))
        known[name] = tuple(map(int, numbers))
    kernels, findings = measured(folder), []
    for name, row in sorted(kernels.items()):
        if name not in known:
            findings.append(f"{name}: not in {table}")
        findings += [f"{name}: {column} {now}, {before} in the table"
                     for column, now, before in zip(COLUMNS, row, known.get(name, row)) if now > before]
    findings += [f"{name}: in the table, but not built" for name in sorted(set(known) - set(kernels))]
    print("\n".join(findings + [f"{len(kernels)} kernels, {len(findings)} findings"]))
    return 1 if findings or not kernels else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
