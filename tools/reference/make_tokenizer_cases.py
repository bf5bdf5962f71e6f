#!/usr/bin/env python3
"""make_tokenizer_cases.py MODEL.gguf OUT.json: the texts below with their ids by the reference.

Run as: python3 tools/reference/make_tokenizer_cases.py MODEL.gguf tests/data/tokenizer_cases.json
Needs: pip install gguf tokenizers
"""
import json
import sys

import reference_tokenizer

COMMAND = "tools/reference/make_tokenizer_cases.py MODEL.gguf tests/data/tokenizer_cases.json"
MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

TEXTS = {
    "empty": "",
    "one letter": "a",
    "one space": " ",
    "sentence": "The lighthouse keeper counted eleven ships before breakfast.",
    "leading space": " The tide was low.",
    "trailing space": "The tide was low. ",
    "trailing spaces": "The tide was low.    ",
    "double spaces": "two  spaces  between  words",
    "contractions": "it's we're they've I'm you'll he'd don't",
    "contractions in capitals": "IT'S WE'RE I'M",
    "apostrophes": "'tis the cats' ''s 's' rock 'n' roll",
    "quotes": "\u201cCurly\u201d and \u2018single\u2019 and \"plain\" quotes",
    "digits": "0123456789",
    "number in a sentence": "There were 12345 gulls and 7 pigeons.",
    "digits after spaces": "a  1   22    333\t4\n5 \n 6",
    "decimals and signs": "-3.14 + 2e10 = 1,000,000.00%",
    "other numbers": "\u00bd cup, Chapter \u2167, \u0663\u0664 and \u00b2",
    "digits in words": "h2o co2 b2b utf8 x86_64",
    "tabs": "\tone\t\ttwo\t\t\tthree",
    "newlines": "one\ntwo\n\nthree\n\n\nfour\n",
    "windows newlines": "one\r\ntwo\r\n\r\nthree",
    "mixed newlines": "a\r\rb\n\rc\r\n\n d \n e",
    "newline then spaces": "x\n    y\n        z",
    "spaces then newline": "x    \n    \n",
    "only white space": " \n\t \r\n  ",
    "sixty-four spaces": " " * 64,
    "hundred newlines": "\n" * 100,
    "long run then word": " " * 37 + "end",
    "no-break space": "10\u00a0km and 5\u00a0%",
    "odd spaces": "a\u2003b\u3000c\u2028d\u2029e\u1680f\u205fg\u202fh",
    "no white space at all": "a\u200bb\u180ec\ufeffd",
    "vertical white space": "a\x0bb\x0cc\x85d\x1ce",
    "c++": "#include <vector>\nint main() {\n  std::vector<int> v{1, 2};\n  return v[0] == 1 ? 0 : -1;\n}\n",
    "python": "def f(x, *, y=None):\n    \"\"\"Doc.\"\"\"\n    return {k: v**2 for k, v in x.items() if k != '_'}\n",
    "shell": "for f in *.txt; do wc -l \"$f\" | sort -n >> /tmp/out; done && echo $?",
    "html": "<p class=\"x\">5 &lt; 6 &amp;&amp; 7</p><!-- note -->",
    "json": "{\"a\": [1, 2.5, null, true], \"b\": {\"c\": \"\\u00e9\"}}",
    "url": "https://example.org/path/to?q=a%20b&n=10#frag",
    "markdown": "# Title\n\n* item **bold** `code`\n1. first\n\n| a | b |\n|---|---|\n",
    "latex": "$$\\int_0^1 x^2\\,dx = \\frac{1}{3}$$",
    "camel and snake": "getHTTPResponseCode parse_json_value KEBAB-CASE",
    "repeated letter": "a" * 50,
    "repeated punctuation": "!!!???...---===***",
    "long word": "pneumonoultramicroscopicsilicovolcanoconiosis",
    "french": "\u00c0 l'\u00e9t\u00e9, No\u00ebl \u00e9tait d\u00e9j\u00e0 loin ; o\u00f9 \u00e7a ?",
    "german": "Stra\u00dfe, \u00dcbergr\u00f6\u00dfe, Fu\u00dfg\u00e4nger\u00fcberg\u00e4nge",
    "polish": "Za\u017c\u00f3\u0142\u0107 g\u0119\u015bl\u0105 ja\u017a\u0144",
    "russian": "\u041a\u043e\u0440\u0430\u0431\u043b\u0438 \u0443\u0448\u043b\u0438 \u0432 \u043c\u043e\u0440\u0435.",
    "greek": "\u0397 \u03b8\u03ac\u03bb\u03b1\u03c3\u03c3\u03b1 \u03b5\u03af\u03bd\u03b1\u03b9 \u03ae\u03c1\u03b5\u03bc\u03b7.",
    "arabic": "\u0627\u0644\u0628\u062d\u0631 \u0647\u0627\u062f\u0626 \u0627\u0644\u064a\u0648\u0645.",
    "hebrew": "\u05d4\u05d9\u05dd \u05e9\u05e7\u05d8 \u05d4\u05d9\u05d5\u05dd",
    "hindi": "\u0938\u092e\u0941\u0926\u094d\u0930 \u0906\u091c \u0936\u093e\u0902\u0924 \u0939\u0948\u0964",
    "thai": "\u0e17\u0e30\u0e40\u0e25\u0e2a\u0e07\u0e1a\u0e27\u0e31\u0e19\u0e19\u0e35\u0e49",
    "chinese": "\u5927\u6d77\u4eca\u5929\u5f88\u5e73\u9759\uff0c\u8239\u90fd\u56de\u6765\u4e86\u3002",
    "japanese": "\u6d77\u306f\u4eca\u65e5\u9759\u304b\u3067\u3059\u3002\u30ab\u30bf\u30ab\u30ca\u3068\uff8a\uff9d\uff76\uff78",
    "korean": "\ubc14\ub2e4\ub294 \uc624\ub298 \uc870\uc6a9\ud569\ub2c8\ub2e4.",
    "full-width": "\uff21\uff22\uff23\u3000\uff11\uff12\uff13\uff01",
    "emoji": "Nice \U0001f600\U0001f44d\U0001f3fd, see you \U0001f30a!",
    "joined emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f \U0001f1eb\U0001f1f7",
    "combining": "e\u0301 a\u0308 n\u0303o \u0301 x\u0323\u0307",
    "private and rare": "\ue000 \U00020000 \U0010fffd \U0001d49c",
    "control characters": "a\x00b\x01c\x7fd\x1b[0m",
    "bytes without a token": "a\x04b \x06\x13! !\x14!\x16 \U00050000",
    "control tokens as text": "<|im_start|>user\nhi<|im_end|>\n<|endoftext|><repo_name>",
    "cut control token": "<|im_start <|im_start|",
}

# Not UTF-8: Cairn's own rule, each such byte is a piece of its own.
BYTES = {
    "lone following byte": b"a\x80b",
    "cut character at the end": b"caf\xc3",
    "cut character inside": b"\xe4\xbdx \xe4\xbd\xa0",
    "surrogate": b"\xed\xa0\x80",
    "overlong": b"\xe0\x80\xaf ok",
    "latin-1": b"d\xe9j\xe0 vu 1\xe9 2",
    "every high byte": bytes(range(0x80, 0x100)),
}


def ids_of_bytes(reference, raw):
    ids = []
    while raw:
        try:
            text, broken = raw.decode("utf8"), b""
        except UnicodeDecodeError as error:
            text, broken = raw[: error.start].decode("utf8"), raw[error.start : error.end]
        ids += reference.encode(text).ids
        for byte in broken:
            token = reference.token_to_id(byte_character(byte))
            ids += [] if token is None else [token]
        raw = raw[len(text.encode("utf8")) + len(broken) :]
    return ids


def byte_character(byte):
    """How a byte-level vocabulary writes a byte above 0x7f."""
    if 0xA1 <= byte != 0xAD:
        return chr(byte)
    others = [*range(0x21), *range(0x7F, 0xA1), 0xAD]
    return chr(0x100 + others.index(byte))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    reference = reference_tokenizer.load(sys.argv[1])
    cases = [{"name": n, "text": t, "ids": reference.encode(t).ids} for n, t in TEXTS.items()]
    cases += [{"name": n, "hex": raw.hex(), "ids": ids_of_bytes(reference, raw)} for n, raw in BYTES.items()]
    lines = ",\n".join("    " + json.dumps(case) for case in cases)
    with open(sys.argv[2], "w", encoding="utf8") as out:
        out.write(f'{{\n  "command": "{COMMAND}",\n  "model_sha256": "{MODEL_SHA256}",\n')
        out.write(f'  "cases": [\n{lines}\n  ]\n}}\n')
    print(f"{len(cases)} cases")


main()
