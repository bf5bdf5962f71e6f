"""Loads an independent engine from a file that the caller names, for the other scripts here.

The file must define `Ref(path, n_ctx, threads, fa, kv)` with
  .tokenize(text, parse_special=bool) -> ids
  .clear(); .eval(ids, pos0=0, logits="all"|"last") -> float32 [n, vocabulary]
and nothing else is assumed; tools/reference/README.md says where such a file comes from.
"""
import importlib.util
import sys
from pathlib import Path

import numpy as np


def load(engine_file, model, context=4096, threads=2):
    path = Path(engine_file).resolve()
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Ref(model, n_ctx=context, threads=threads, fa=0, kv="f32")


def order(logits):
    """Ids from the highest logit down; of equal logits the lowest id first, as a greedy sampler."""
    return np.lexsort((np.arange(len(logits)), -logits))


def greedy(ref, ids, count):
    """`count` greedy ids after `ids`, and by how much each was ahead of the second."""
    ref.clear()
    logits = ref.eval(ids)[0]
    out, margins = [], []
    for step in range(count):
        best, second = order(logits)[:2]
        out.append(int(best))
        margins.append(float(logits[best] - logits[second]))
        if step + 1 < count:
            logits = ref.eval([int(best)], pos0=len(ids) + step)[0]
    return out, margins
