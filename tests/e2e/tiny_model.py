"""Writes a small random Llama with a byte vocabulary as a GGUF file: real enough for the worker, and quick under sanitizers.

2 layers, 4 query and 2 KV heads of 16, 8192 positions, all weights F32; the same for the same seed on every machine. A KV block of
16 tokens in bf16 has BLOCK_BYTES. Ids 0 to 2 are control tokens, 3 to 258 the bytes. The end of text has an embedding of zeros, so
that greedy answers never end by themselves.
"""
import array
import random
import struct

NAME = "tiny"
BLOCK_BYTES = 4096
POSITIONS = 8192
_HIDDEN, _FFN, _KV, _LAYERS, _END = 64, 128, 32, 2, 2
_UINT32, _FLOAT32, _STRING, _ARRAY, _INT32 = 4, 6, 8, 9, 5
_ALIGNMENT = 32


def _byte_alphabet():
    """GPT-2's printable stand-in for each byte."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte if byte in plain else next(others)) for byte in range(256)]


def _text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def _pair(key, kind, packed):
    return _text(key) + struct.pack("<I", kind) + packed


def _strings(values):
    return struct.pack("<IQ", _STRING, len(values)) + b"".join(map(_text, values))


def _metadata():
    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *_byte_alphabet()]
    types = [3] * 3 + [1] * 256
    numbers = {"llama.block_count": _LAYERS, "llama.embedding_length": _HIDDEN, "llama.feed_forward_length": _FFN,
               "llama.attention.head_count": 4, "llama.attention.head_count_kv": 2, "llama.context_length": POSITIONS,
               "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": _END}
    return [_pair("general.architecture", _STRING, _text("llama")), _pair("general.name", _STRING, _text(NAME)),
            *(_pair(key, _UINT32, struct.pack("<I", value)) for key, value in numbers.items()),
            _pair("llama.attention.layer_norm_rms_epsilon", _FLOAT32, struct.pack("<f", 1e-5)),
            _pair("llama.rope.freq_base", _FLOAT32, struct.pack("<f", 10000)),
            _pair("tokenizer.ggml.model", _STRING, _text("gpt2")), _pair("tokenizer.ggml.pre", _STRING, _text("smollm")),
            _pair("tokenizer.ggml.tokens", _ARRAY, _strings(tokens)),
            _pair("tokenizer.ggml.token_type", _ARRAY,
                  struct.pack(f"<IQ{len(types)}i", _INT32, len(types), *types)),
            _pair("tokenizer.ggml.merges", _ARRAY, _strings([]))]


def _tensors(rng):
    def matrix(name, rows, columns):
        return name, (columns, rows), [rng.uniform(-0.35, 0.35) for _ in range(rows * columns)]

    def norm(name):
        return name, (_HIDDEN,), [rng.uniform(0.8, 1.2) for _ in range(_HIDDEN)]
    name, shape, embedding = matrix("token_embd.weight", 259, _HIDDEN)
    embedding[_END * _HIDDEN:(_END + 1) * _HIDDEN] = [0.0] * _HIDDEN
    yield name, shape, embedding
    yield norm("output_norm.weight")
    for i in range(_LAYERS):
        yield norm(f"blk.{i}.attn_norm.weight")
        yield norm(f"blk.{i}.ffn_norm.weight")
        for part, rows, columns in (("attn_q", _HIDDEN, _HIDDEN), ("attn_k", _KV, _HIDDEN), ("attn_v", _KV, _HIDDEN),
                                    ("attn_output", _HIDDEN, _HIDDEN), ("ffn_gate", _FFN, _HIDDEN),
                                    ("ffn_up", _FFN, _HIDDEN), ("ffn_down", _HIDDEN, _FFN)):
            yield matrix(f"blk.{i}.{part}.weight", rows, columns)


def gguf(seed=1):
    """The file's bytes."""
    pairs, tensors = _metadata(), list(_tensors(random.Random(seed)))
    head, body = [], b""
    for name, shape, values in tensors:
        head.append(_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(body)))
        data = array.array("f", values).tobytes()
        body += data + bytes(-len(data) % _ALIGNMENT)
    front = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs) + b"".join(head)
    return front + bytes(-len(front) % _ALIGNMENT) + body
