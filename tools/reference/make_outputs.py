#!/usr/bin/env python3
"""make_outputs.py F32.gguf OUT_DIR --engine FILE [--passage FILE] [--tokens 640] [--count 64]

Runs the exact float32 model in an independent engine (KV in float32, no flash attention) and writes
  OUT_DIR/passage.ids.json   the first `tokens` ids of a real text
  OUT_DIR/passage.f32        its logits: float32, [tokens, vocabulary], row-major, no header
  OUT_DIR/greedy.json        for each prompt of prompts.json: ids, `count` greedy ids, margins
compare_logits.py reads them. Needs what --engine needs (README.md), and numpy.
"""
import argparse
import json
from pathlib import Path

import engine

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("out")
parser.add_argument("--engine", required=True)
parser.add_argument("--passage", default="/usr/share/common-licenses/Apache-2.0")
parser.add_argument("--tokens", type=int, default=640)
parser.add_argument("--count", type=int, default=64)
parser.add_argument("--threads", type=int, default=2)
args = parser.parse_args()

out = Path(args.out)
out.mkdir(parents=True, exist_ok=True)
ref = engine.load(args.engine, args.model, threads=args.threads)

text = Path(args.passage).read_text(encoding="utf8")
ids = ref.tokenize(text, parse_special=False)[: args.tokens]
assert len(ids) == args.tokens, f"{args.passage} has only {len(ids)} tokens"
(out / "passage.ids.json").write_text(json.dumps(ids))
ref.clear()
logits = ref.eval(ids, logits="all")
logits.astype("<f4").tofile(out / "passage.f32")
print(f"passage: {logits.shape}, largest |logit| {abs(logits).max():.2f}", flush=True)

rows = []
for prompt in json.loads((Path(__file__).parent / "prompts.json").read_text(encoding="utf8")):
    ids = ref.tokenize(prompt["text"], parse_special=prompt.get("control", False))
    chosen, margins = engine.greedy(ref, ids, args.count)
    rows.append({"name": prompt["name"], "prompt": ids, "greedy": chosen, "margin": margins})
    print(f"{prompt['name']}: {len(ids)} prompt tokens, smallest margin {min(margins):.4g}", flush=True)
(out / "greedy.json").write_text(json.dumps(rows))
