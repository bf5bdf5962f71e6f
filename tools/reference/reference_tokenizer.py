"""The independent tokenizer that ours is held against: Hugging Face's `tokenizers`, built from a GGUF.

Facts (of llama.cpp's `smollm` rules): every Unicode number stands alone, then GPT-2's pattern cuts what
lies between, then byte-level BPE. Control tokens are NOT registered: a text that spells one is ordinary
text, as in Cairn. Needs: pip install gguf tokenizers
"""
from gguf import GGUFReader
from tokenizers import Tokenizer, models, pre_tokenizers


def load(path):
    fields = GGUFReader(path).fields
    value = {name: fields["tokenizer.ggml." + name].contents() for name in ("pre", "tokens", "merges")}
    if value["pre"] != "smollm":
        raise SystemExit(f"{path}: rules {value['pre']}; this reference knows smollm")
    vocabulary = {token: i for i, token in enumerate(value["tokens"])}
    merges = [tuple(merge.split(" ")) for merge in value["merges"]]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    rest = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, rest])
    return tokenizer
