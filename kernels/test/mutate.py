#!/usr/bin/env python3
"""Leaves out every operation of sk that tests reach, one site at a time, lowers every wait by one, and moves every
marked index (sk::Index) up and down by one: some test must fail, or the site stands in redundant_sites.txt with its reason. There a site is its file and the operation's number
among those of its kind in that file, which edits elsewhere do not change: "SyncWarp#3" is the third.

usage: mutate.py [--random N] [--seed S] PROGRAM[:PART OF A TEST'S NAME[,PART...]]...
  Sites are found by PROGRAM --sites, and changed by SK_SKIP, SK_LESS, SK_UP and SK_DOWN; nothing is built. Sites in *_test.cc are left
  alone: there tests are the mutants. --random N tries N of the mutants, drawn by S (printed).
"""
import argparse
import collections
import concurrent.futures
import os
import random
import subprocess
import sys

REDUNDANT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "redundant_sites.txt")
Mutant = collections.namedtuple("Mutant", "program kind site name")
SECONDS_MAX = 120  # a mutant that runs longer counts as noticed


def redundant_sites():
    """"skip|less|up|down FILE OPERATION#NUMBER" -> its reason."""
    found = {}
    with open(REDUNDANT) as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            mutant, separator, reason = line.partition(": ")
            if not separator or len(mutant.split()) != 3 or not reason.strip():
                sys.exit(f"{REDUNDANT}:{number}: expected 'skip|less|up|down FILE OPERATION#NUMBER: reason'")
            found[mutant] = reason
    return found


def run(program, **environment):
    path, _, filters = program.partition(":")
    command = [path, "--sites"] + [part for part in filters.split(",") if part]
    try:
        done = subprocess.run(command, env={**os.environ, "SK_SEEDS": "8", **environment}, timeout=SECONDS_MAX,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except subprocess.TimeoutExpired:
        return False, ""
    return done.returncode == 0, done.stdout


def mutants_of(program):
    passes, output = run(program)
    if not passes:
        sys.exit(f"{program}: its tests fail without any mutation")
    sites = [line.split()[1:3] for line in output.splitlines() if line.startswith("site ")]
    sites = sorted((site.rsplit(":", 1)[0], int(site.rsplit(":", 1)[1]), operation) for site, operation in sites)
    numbers = collections.Counter()
    for file, line, operation in sites:
        numbers[file, operation] += 1
        if file.endswith("_test.cc"):
            continue
        name = f"{file} {operation}#{numbers[file, operation]}"
        if operation == "Index":
            yield Mutant(program, "up", f"{file}:{line}", "up " + name)
            yield Mutant(program, "down", f"{file}:{line}", "down " + name)
            continue
        yield Mutant(program, "skip", f"{file}:{line}", "skip " + name)
        if "Wait" in operation or operation.endswith("Named"):
            yield Mutant(program, "less", f"{file}:{line}", "less " + name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    seed = arguments.seed or random.SystemRandom().randrange(1, 1 << 32)
    mutants = [mutant for program in arguments.programs for mutant in mutants_of(program)]
    if arguments.random and arguments.random < len(mutants):
        mutants = random.Random(seed).sample(mutants, arguments.random)
    known, wrong, reached = redundant_sites(), [], set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        results = list(workers.map(lambda mutant: run(mutant.program, **{"SK_" + mutant.kind.upper(): mutant.site}), mutants))
    for mutant, (passes, _) in zip(mutants, results):
        reached.add(mutant.name)
        if passes and mutant.name not in known:
            wrong.append(f"{mutant.name} at {mutant.site}: every test of {os.path.basename(mutant.program)} passes")
        elif not passes and mutant.name in known:
            wrong.append(f"{mutant.name} at {mutant.site}: listed as redundant, but a test notices")
    if not arguments.random:
        wrong += [f"{name}: listed as redundant, but never reached" for name in sorted(set(known) - reached)]
    print("\n".join(wrong + [f"{len(mutants)} mutants, {len(wrong)} findings; seed {seed}"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
