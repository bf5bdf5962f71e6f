"""What is run: the phases, their programs and their deadlines."""
import hashlib
import json
import os
import platform
import shutil
import subprocess

from .runner import Phase, Step

PROGRAMS = ("kernels_smoke_gpu", "test_kernels_ops_gpu", "kernels_mma_equal", "kernels_timing")
NAMES = ("build", "correctness", "mma_equal", "timing", "sanitizer")
TOTAL_S = 585           # with a second for each program that must be ended, under 10 minutes
ELSEWHERE_S = 3600      # of a build that no GPU waits for
BUILT_BYTES_MAX = 64 << 20
_SOURCES = (".cc", ".cmake", ".cu", ".h", ".inc", ".sh", ".txt")
_FINDS = 99             # compute-sanitizer's exit code where it found something
# Small cases of each kernel with shared memory, for the sanitizer that is slowest.
_RACE_TESTS = ("RowsDecodeAsInDouble", "RowsPrefillAsInDouble", "ProductsAreThoseInDouble", "KeysTurnAsInDouble", "Checksum")


def find_tool(name):
    """In PATH, or where CUDA is installed if nobody says otherwise; or None."""
    usual = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", name)
    return shutil.which(name) or (usual if os.access(usual, os.X_OK) else None)


def build_phase(root, tree):
    """The phase, or why it cannot be."""
    cmake, nvcc = find_tool("cmake"), find_tool("nvcc")
    missing = [name for name, path in (("cmake", cmake), ("nvcc", nvcc)) if path is None]
    if missing:
        return None, f"no {' and no '.join(missing)} here: build elsewhere with --build-only, then use --prebuilt"
    configure = [cmake, "-S", os.path.join(root, "kernels"), "-B", tree, "-DCMAKE_BUILD_TYPE=Release", "-DCAIRN_CUDA=ON",
                 f"-DCMAKE_CUDA_COMPILER={nvcc}"]
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    build = [cmake, "--build", tree, "--target", "kernels_gpu_check", "--parallel", str(os.cpu_count() or 1)]
    return Phase("build", 180, [Step("configure", configure), Step("compile", build)], goes_on=False), ""


def phases(bin_dir, device, cublas):
    """All but the build."""
    env = {"CUDA_VISIBLE_DEVICES": device["uuid"]} if device.get("is_chosen") else None
    smoke, ops, mma_equal, timing = (os.path.join(bin_dir, name) for name in PROGRAMS)
    timing_argv = [timing, "--seconds", "100"] + (["--cublas", cublas] if cublas else [])
    return [
        Phase("correctness", 120, [Step("smoke", [smoke], 30, env), Step("ops", [ops], None, env)]),
        Phase("mma_equal", 40, [Step("mma_equal", [mma_equal, "--dots", "1e6", "--seconds", "25"], None, env)]),
        Phase("timing", 120, [Step("timing", timing_argv, None, env)]),
        sanitizer_phase(smoke, ops, env),
    ]


def sanitizer_phase(smoke, ops, env):
    tool = find_tool("compute-sanitizer") or "compute-sanitizer"

    def step(name, check, limit_s, program):
        argv = [tool, "--tool", check, "--error-exitcode", str(_FINDS), *program]
        return Step(name, argv, limit_s, env, is_optional=True, finds=_FINDS)
    return Phase("sanitizer", 120, [
        step("memcheck-smoke", "memcheck", 30, [smoke]),
        step("memcheck-ops", "memcheck", 60, [ops, "--one-seed"]),
        step("racecheck-ops", "racecheck", 60, [ops, "--one-seed", *_RACE_TESTS]),
    ], may_skip=True)


# ---- Programs that were made elsewhere ----------------------------------------------------------

def sources_digest(root):
    """Of all files of kernels/ that a build reads, by path."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(os.path.join(root, "kernels")):
        folders.sort()
        for name in sorted(name for name in files if name.endswith(_SOURCES)):
            path = os.path.join(folder, name)
            digest.update(os.path.relpath(path, root).encode() + b"\0")
            with open(path, "rb") as file:
                digest.update(file.read() + b"\0")
    return digest.hexdigest()


def _first_line_with(argv, word):
    try:
        output = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = output.decode("utf-8", "replace").splitlines()
    return next((line.strip() for line in lines if word in line), "")


def compiler_versions():
    return {"nvcc": _first_line_with([find_tool("nvcc") or "nvcc", "--version"], "release"),
            "c++": _first_line_with(["c++", "--version"], "")}


def keep_programs(root, tree, folder):
    """Copies what was built to `folder`, stripped, with a manifest. Bytes in all."""
    os.makedirs(folder, exist_ok=True)
    total = 0
    for name in PROGRAMS:
        target = os.path.join(folder, name)
        shutil.copy2(os.path.join(tree, "bin", name), target)
        if shutil.which("strip"):
            subprocess.run(["strip", target], check=True)
        total += os.path.getsize(target)
    manifest = dict(compiler_versions(), libc=" ".join(platform.libc_ver()), sources=sources_digest(root), bytes=total)
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)
        file.write("\n")
    return total


def check_prebuilt(root, folder):
    """(manifest with "is_current", "") or (None, what is wrong with the folder)."""
    missing = [name for name in PROGRAMS if not os.access(os.path.join(folder, name), os.X_OK)]
    if missing:
        return None, f"{folder} has no program {missing[0]}: make it with --build-only"
    try:
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        return dict(manifest, is_current=manifest["sources"] == sources_digest(root)), ""
    except (OSError, ValueError, KeyError, TypeError) as error:
        return None, f"{folder}/manifest.json: {error}"
