#!/usr/bin/env python3
"""make_f32_model.py MODEL.gguf OUT.gguf: the same model with every weight unpacked to float32, exactly.

Any implementation that runs OUT in float32 arithmetic is then a reference for ours: engines differ in
how they round activations against packed weights, but not in what an unpacked weight is.
The unpacking is written out here rather than called from a library, so that it is independent of both
the reference engine and of libs/gguf. Prints the SHA-256 of all unpacked values, in the file's order, that
tests/unit/gguf/model_test.cc expects of libs/gguf. Needs: pip install gguf numpy
"""
import hashlib
import sys

import numpy as np
from gguf import GGMLQuantizationType as T
from gguf import GGUFReader, GGUFValueType, GGUFWriter


def halves(raw):
    return raw.copy().view(np.float16).astype(np.float32)


def nibbles(raw):
    """Low nibbles are values 0..15 of a group, high nibbles 16..31."""
    return np.concatenate([raw & 15, raw >> 4], axis=1).astype(np.float32)


def unpack(tensor):
    kind, raw = tensor.tensor_type, tensor.data
    shape = [int(n) for n in reversed(tensor.shape)]
    if kind == T.F32:
        return np.array(raw, dtype=np.float32).reshape(shape)
    if kind == T.F16:
        return np.array(raw).view(np.float16).astype(np.float32).reshape(shape)
    raw = np.ascontiguousarray(raw).reshape(-1).view(np.uint8)
    if kind == T.BF16:
        return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(shape)
    if kind == T.Q8_0:
        groups = raw.reshape(-1, 34)
        values = halves(groups[:, :2]) * groups[:, 2:].view(np.int8).astype(np.float32)
    elif kind == T.Q4_0:
        groups = raw.reshape(-1, 18)
        values = halves(groups[:, :2]) * (nibbles(groups[:, 2:]) - np.float32(8))
    elif kind == T.Q4_1:
        groups = raw.reshape(-1, 20)
        values = halves(groups[:, :2]) * nibbles(groups[:, 4:]) + halves(groups[:, 2:4])
    else:
        sys.exit(f"{tensor.name}: type {kind.name} is not one that Cairn reads")
    assert values.dtype == np.float32
    return values.reshape(shape)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source = GGUFReader(sys.argv[1])
    architecture = source.fields["general.architecture"].contents()
    out = GGUFWriter(sys.argv[2], architecture)
    for key, field in source.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        if key == "general.file_type":
            out.add_uint32(key, 0)  # "mostly F32"
        elif field.types[0] == GGUFValueType.ARRAY:
            out.add_array(key, field.contents())
        else:
            out.add_key_value(key, field.contents(), field.types[0])
    digest = hashlib.sha256()
    for tensor in source.tensors:
        values = unpack(tensor)
        digest.update(values.tobytes())
        out.add_tensor(tensor.name, values)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    print(f"{len(source.tensors)} tensors, sha256 of the values {digest.hexdigest()}")


main()
