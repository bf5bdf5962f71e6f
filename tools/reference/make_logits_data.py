#!/usr/bin/env python3
"""make_logits_data.py F32.gguf OUT.json --engine FILE: the small, committed part of the reference.

For a few prompts: their ids, the greedy ids that follow with margins (top-1 minus top-2 logit), and of
the prompt's last position the 16 highest logits and 32 spread over the vocabulary. The weights are the
exact float32 ones (make_f32_model.py), KV is float32. Run as
  python3 tools/reference/make_logits_data.py F32.gguf tests/data/reference_logits.json --engine ENGINE.py
"""
import argparse
import json
from importlib.metadata import version
from pathlib import Path

import engine

COMMAND = "tools/reference/make_logits_data.py F32.gguf tests/data/reference_logits.json --engine ENGINE.py"
MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
PROMPTS = ["facts", "python", "french", "chat"]
GREEDY, TOP, SPREAD = 16, 16, 32


def row_of(ref, prompt):
    ids = ref.tokenize(prompt["text"], parse_special=prompt.get("control", False))
    chosen, margins = engine.greedy(ref, ids, GREEDY)
    ref.clear()
    logits = ref.eval(ids)[0]
    top = [int(i) for i in engine.order(logits)[:TOP]]
    spread = [i * len(logits) // SPREAD for i in range(SPREAD)]
    return {
        "name": prompt["name"],
        "prompt": ids,
        "greedy": chosen,
        "margin": [round(m, 6) for m in margins],
        "logits": [[i, round(float(logits[i]), 6)] for i in top + spread],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--engine", required=True)
    args = parser.parse_args()
    ref = engine.load(args.engine, args.model)
    prompts = json.loads((Path(__file__).parent / "prompts.json").read_text(encoding="utf8"))
    rows = [row_of(ref, prompt) for prompt in prompts if prompt["name"] in PROMPTS]
    lines = ",\n".join("    " + json.dumps(row) for row in rows)
    with open(args.out, "w", encoding="utf8") as out:
        out.write(f'{{\n  "command": "{COMMAND}",\n  "engine": "xllamacpp {version("xllamacpp")}",\n')
        out.write(f'  "model_sha256": "{MODEL_SHA256}",\n  "prompts": [\n{lines}\n  ]\n}}\n')
    for row in rows:
        print(row["name"], len(row["prompt"]), "tokens, smallest margin", min(row["margin"]))


main()
