"""The prompts of the demo: passages of real texts that every Debian has, in ever new orders, with a question about each set.

Everything is drawn from one seed, so that every run, on every machine with the same texts, asks the same.
"""
import os
import random

FOLDER = "/usr/share/common-licenses"
SOURCES = ("Apache-2.0", "GPL-2", "GPL-3", "LGPL-2.1", "MPL-1.1", "MPL-2.0", "GFDL-1.3", "Artistic", "CC0-1.0")
PASSAGE_TOKENS = (64, 160)  # what a passage may have; the answers tell what each really had
_WORDS = (64, 96)           # of these texts, at 1.1 to 1.6 tokens a word
_PASSAGES = 56              # so that each is used three times, about
_SPANS = (4, 10)

# In front of the passages, so that they start at different positions.
_OPENINGS = ("",
             "Answer from the passages below.\n\n",
             "You are a careful lawyer who reads licences for a living. Read all of the passages below, then answer the question "
             "behind them in one or two plain sentences.\n\n")
_QUESTIONS = ("What must a person do who passes on copies of the work?",
              "Which warranty does the author give?",
              "May the work be sold for money?",
              "What happens to a patent licence in a lawsuit?",
              "Who may change the text of the licence itself?",
              "Must the source code be made available, and how?",
              "What does the licence say about trademarks?",
              "When do the rights under the licence end?")


def _cut(text, rng):
    """Consecutive runs of words; line ends and indents are dropped, as a retrieval pipeline would."""
    words = text.split()
    at = 0
    while at + _WORDS[1] <= len(words):
        count = rng.randint(*_WORDS)
        yield " ".join(words[at:at + count]) + "\n\n"
        at += count


def passages(rng):
    found = []
    for name in SOURCES:
        with open(os.path.join(FOLDER, name), encoding="utf-8", errors="replace") as file:
            found += list(_cut(file.read(), rng))
    return rng.sample(sorted(set(found)), _PASSAGES)


def _segments(i, chosen):
    """Opening, passages and question number `i`, as POST /v1/completions takes them."""
    segments = [{"kind": "span", "text": text} for text in chosen]
    opening = _OPENINGS[i % len(_OPENINGS)]
    if opening:
        segments.insert(0, {"kind": "prefix", "text": opening})
    question = f"Question {i + 1}: {_QUESTIONS[i % len(_QUESTIONS)]}\nAnswer: The licence says that"
    return [*segments, {"kind": "dependent", "text": question}]


def prompts(count, new_count):
    """Two lists: `count` prompts, and `new_count` others that ask new questions about passages of the first ones."""
    rng = random.Random(20260101)
    pool = passages(rng)
    out, seen = [], set()
    for i in range(count + new_count):
        chosen = rng.sample(pool if i < count else sorted(seen), rng.randint(*_SPANS))
        if i % 4 == 1:  # the same passage twice in one prompt
            chosen[-1] = chosen[0]
        seen.update(chosen)
        out.append(_segments(i, chosen))
    return out[:count], out[count:]
