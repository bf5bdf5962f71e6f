#!/usr/bin/env python3
"""compare_logits.py REF_DIR MODEL.gguf CAIRN_LOGITS --kv f32|bf16 [-- ARGUMENTS OF CAIRN_LOGITS]

Holds the worker's logits against those of an independent engine on the exactly unpacked weights
(REF_DIR from make_outputs.py), prints what differs and exits 1 beyond the limits:
  --kv f32    passage: |difference| <= 1e-3
  --kv bf16   passage: |difference| <= 0.5, argmax equal in >= 98.5 %, and different only where the
              reference's own margin (top-1 minus top-2) is below 0.3
  greedy prompts, f32: the same ids up to the first position whose reference margin is below 2e-3
              bf16: a different id only where the reference's margin is below 0.3
CAIRN_LOGITS is run as `CAIRN_LOGITS MODEL.gguf IDS.json OUT.f32 --kv f32|bf16 ...`: it reads a JSON list
of token ids, and writes the logits of every position as float32, little-endian, row-major,
[ids, vocabulary], without a header. Greedy ids are checked by running prompt and reference ids as one
prompt: an argmax at each position tells what the worker would have chosen. Needs: pip install numpy
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

LIMITS = {
    "f32": {"difference": 1e-3, "argmax": 1.0, "margin": 2e-3},
    "bf16": {"difference": 0.5, "argmax": 0.985, "margin": 0.3},
}


def ours(args, ids):
    with tempfile.TemporaryDirectory() as folder:
        ids_file, out_file = Path(folder) / "ids.json", Path(folder) / "out.f32"
        ids_file.write_text(json.dumps(ids))
        command = [args.tool, args.model, str(ids_file), str(out_file), "--kv", args.kv, *args.arguments]
        subprocess.run(command, check=True)
        logits = np.fromfile(out_file, dtype="<f4")
    if logits.size == 0 or logits.size % len(ids):
        sys.exit(f"{args.tool} wrote {logits.size} values for {len(ids)} ids")
    return logits.reshape(len(ids), -1)


def compare_passage(args, limit):
    reference_dir = Path(args.reference)
    ids = json.loads((reference_dir / "passage.ids.json").read_text())
    theirs = np.fromfile(reference_dir / "passage.f32", dtype="<f4").reshape(len(ids), -1)
    mine = ours(args, ids)
    if mine.shape != theirs.shape:
        sys.exit(f"shape {mine.shape}, reference {theirs.shape}")
    finite = bool(np.isfinite(mine).all())
    difference = np.abs(mine.astype(np.float64) - theirs)
    places = np.flatnonzero(mine.argmax(1) != theirs.argmax(1))
    top2 = np.sort(np.partition(theirs, -2, axis=1)[:, -2:], axis=1)
    margins = top2[:, 1] - top2[:, 0]
    equal = 1 - len(places) / len(ids)
    worst = float(margins[places].max()) if len(places) else 0.0
    row, column = np.unravel_index(difference.argmax(), difference.shape)
    passed = finite and difference.max() <= limit["difference"] and equal >= limit["argmax"]
    if args.kv == "bf16":
        passed &= worst < limit["margin"]
    print(json.dumps({"passage": len(ids), "max_difference": float(difference.max()), "at": [int(row), int(column)],
                      "mean_difference": float(difference.mean()), "argmax_equal": equal,
                      "largest_margin_where_different": worst, "finite": finite, "passed": bool(passed)}))
    return passed


def compare_greedy(args, limit):
    passed = True
    for prompt in json.loads((Path(args.reference) / "greedy.json").read_text()):
        start, count = len(prompt["prompt"]), len(prompt["greedy"])
        chosen = ours(args, prompt["prompt"] + prompt["greedy"][:-1])[start - 1 :].argmax(1)
        different = [k for k in range(count) if chosen[k] != prompt["greedy"][k]]
        checked = count
        if args.kv == "f32":  # past a near tie two right engines may part
            checked = next((k for k in range(count) if prompt["margin"][k] < limit["margin"]), count)
            bad = [k for k in different if k < checked]
        else:
            bad = [k for k in different if prompt["margin"][k] >= limit["margin"]]
        print(json.dumps({"prompt": prompt["name"], "ids": count, "checked": checked, "bad": bad,
                          "different": [[k, prompt["margin"][k]] for k in different]}))
        passed &= not bad
    return passed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("reference")
    parser.add_argument("model")
    parser.add_argument("tool")
    parser.add_argument("--kv", choices=LIMITS, required=True)
    parser.add_argument("arguments", nargs="*")
    args = parser.parse_args()
    passed = compare_passage(args, LIMITS[args.kv])
    passed &= compare_greedy(args, LIMITS[args.kv])
    sys.exit(0 if passed else 1)


main()
