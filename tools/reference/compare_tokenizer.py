#!/usr/bin/env python3
"""compare_tokenizer.py MODEL.gguf CAIRN_TOKENISE FILE_OR_FOLDER... [--characters] [--random N]

Holds the ids of cairn-tokenise against the reference's (reference_tokenizer.py), file by file, and
exits 1 if any file differs. A file that is not UTF-8 is compared as the reference sees it, with U+FFFD
for broken parts (Cairn keeps the bytes instead), and counted apart.
--characters also compares every Unicode character, in 4 contexts: differences there come from the two
sides' Unicode versions and are counted, not failed, if the character is unassigned in Python's version.
--random N compares N texts strung together at random from what tokenizers trip over.
Needs: pip install gguf tokenizers
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

import reference_tokenizer

FILE_BYTES_MAX = 4 << 20  # limits::kTokenizerTextBytesMax
FILES_PER_RUN = 200


def files_under(paths):
    for path in map(Path, paths):
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*") if p.is_file() and not p.is_symlink())
        else:
            yield path


def ids_of_ours(args, paths):
    for start in range(0, len(paths), FILES_PER_RUN):
        command = [args.tokenise, args.model, *map(str, paths[start : start + FILES_PER_RUN])]
        run = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        yield from map(json.loads, run.stdout.splitlines())


def first_difference(ours, theirs):
    return next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))


def compare_files(args, reference):
    counts = {"files": 0, "tokens": 0, "bytes": 0, "not_utf8": 0, "too_long": 0, "lossy": 0, "different": 0}
    with tempfile.TemporaryDirectory() as folder:
        paths, texts = [], []
        for path in files_under(args.paths):
            raw = path.read_bytes()
            if len(raw) > FILE_BYTES_MAX:
                counts["too_long"] += 1
                continue
            text = raw.decode("utf8", errors="replace")
            if text.encode("utf8") != raw:
                counts["not_utf8"] += 1
                path = Path(folder) / f"{len(paths)}.txt"
                path.write_bytes(text.encode("utf8"))
            paths.append(path)
            texts.append(text)
        for path, text, ours in zip(paths, texts, ids_of_ours(args, paths)):
            theirs = reference.encode(text).ids
            counts["files"] += 1
            counts["tokens"] += len(theirs)
            counts["bytes"] += len(text.encode("utf8"))
            counts["lossy"] += not ours["same_bytes"]
            if ours["ids"] != theirs:
                counts["different"] += 1
                at = first_difference(ours["ids"], theirs)
                print(f"{path}: token {at}: ours {ours['ids'][at:at + 6]}, reference {theirs[at:at + 6]}")
    print(json.dumps(counts))
    return counts["different"] == 0


def differing(args, reference, groups):
    """The groups whose text (their members, one a line) the two sides cut differently."""
    with tempfile.TemporaryDirectory() as folder:
        texts = ["\n".join(text for _, text in group) for group in groups]
        paths = [Path(folder) / f"{i}.txt" for i in range(len(groups))]
        for path, text in zip(paths, texts):
            path.write_bytes(text.encode("utf8"))
        ours = ids_of_ours(args, paths)
        return [g for g, text, o in zip(groups, texts, ours) if o["ids"] != reference.encode(text).ids]


def compare_characters(args, reference):
    contexts = ["a{}b", " {}x", "{}  1", "!{}'s {}"]
    characters = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    different, unexplained = 0, 0
    for context in contexts:
        cases = [(c, context.replace("{}", c)) for c in characters]
        groups = differing(args, reference, [cases[i : i + 512] for i in range(0, len(cases), 512)])
        for [(c, _)] in differing(args, reference, [[case] for group in groups for case in group]):
            different += 1
            if unicodedata.category(c) != "Cn":
                unexplained += 1
                print(f"U+{ord(c):04X} {unicodedata.name(c, '')} in {context!r}")
    print(json.dumps({"characters": len(characters), "contexts": contexts, "different": different,
                      "different_and_assigned": unexplained, "unicode": unicodedata.unidata_version}))
    return unexplained == 0


ODD_PARTS = [
    " ", "  ", "\t", "\n", "\r\n", "\r", "\u00a0", "\u3000", "\u2028", "\u200b", "\u180e", "\x85", "\x1c",
    "1", "42", "\u0663", "\u2167", "\u00bd", "\u4e00", "a", "Z", "word", "it's", "'ll", "'S", "'", "''re",
    "\u00e9", "e\u0301", "\u0301", "\u4f60\u597d", "\u304b\u3099", "\ud55c\uae00", "\u0627\u0644", "\u0939\u093f",
    "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1eb\U0001f1f7", "\u2764\ufe0f",
    "!", "...", "#include <", "==", "{", "}", "<|im_start|>", "<|endoftext|>", "\x00", "\x04", "\x7f", "_", "-",
]


def compare_random(args, reference):
    rng = random.Random(args.seed)
    cases = []
    for _ in range(args.random):
        parts = rng.choices(ODD_PARTS, k=rng.randint(1, 12))
        cases.append("".join(part * rng.choice([1, 1, 1, 2, 5]) for part in parts))
    different = differing(args, reference, [[("", case)] for case in cases])
    for [(_, case)] in different[:10]:
        print(f"random text {case!r}")
    print(json.dumps({"random_texts": len(cases), "seed": args.seed, "different": len(different)}))
    return not different


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("model")
    parser.add_argument("tokenise")
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--characters", action="store_true")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    reference = reference_tokenizer.load(args.model)
    equal = compare_files(args, reference)
    if args.characters:
        equal &= compare_characters(args, reference)
    if args.random:
        equal &= compare_random(args, reference)
    sys.exit(0 if equal else 1)


main()
