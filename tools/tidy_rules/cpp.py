"""A reading of C++ that is good enough for style rules: text without comments and strings, and where functions are."""
import bisect
import re

_TOKENS = re.compile(
    r'//(?:[^\\\n]|\\[\s\S])*'                          # comment to the line's end
    r'|/\*[\s\S]*?\*/'                                  # comment
    r'|\bR"([^()\\\s]{0,16})\([\s\S]*?\)\1"'            # raw string
    r'|"(?:[^"\\\n]|\\[\s\S])*"'                        # string
    r"|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\[\s\S])+?'")      # character, not a digit separator


def _blank(match, keep_strings):
    token = match.group(0)
    if token.startswith("/"):
        return " " + "\n" * token.count("\n")
    if keep_strings:
        return token
    return '""' + "\n" * token.count("\n")


def without_comments(text):
    """Same lines, comments gone."""
    return _TOKENS.sub(lambda m: _blank(m, True), text)


def code_only(text):
    """Same lines, comments gone and every literal an empty string."""
    return _TOKENS.sub(lambda m: _blank(m, False), text)


def _without_directives(code):
    """Same lines; preprocessor lines and all branches of #if but the first are gone, so that braces balance."""
    kept, depth_dropped, in_directive = [], [], False
    for line in code.split("\n"):
        stripped = line.strip()
        is_directive = in_directive or stripped.startswith("#")
        if not in_directive:
            word = re.match(r"#\s*(\w+)", stripped)
            if word and word.group(1).startswith("if"):
                depth_dropped.append(False)
            elif word and word.group(1) in ("else", "elif") and depth_dropped:
                depth_dropped[-1] = True
            elif word and word.group(1) == "endif" and depth_dropped:
                depth_dropped.pop()
        in_directive = is_directive and stripped.endswith("\\")
        kept.append("" if is_directive or any(depth_dropped) else line)
    return "\n".join(kept)


def _strip_template(text):
    """Drops a leading template<...>."""
    match = re.match(r"template\s*<", text)
    if not match:
        return text
    depth = 0
    for i in range(match.end() - 1, len(text)):
        depth += {"<": 1, ">": -1}.get(text[i], 0)
        if depth == 0:
            return text[i + 1:].lstrip()
    return text


def _scope_of(statement):
    """What the brace after `statement` opens, at namespace or class level."""
    text = re.sub(r"^(?:\s*(?:public|private|protected)\s*:(?!:))+", "", statement).strip()
    text = _strip_template(text)
    if re.match(r"(inline\s+)?namespace\b", text) or text.startswith("extern \"\""):
        return "namespace"
    if re.match(r"(class|struct|union)\b", text):
        return "class"
    if "(" not in text or re.match(r"enum\b", text):
        return "other"
    has_initialisers = re.search(r"\)\s*(?:noexcept\s*)?:(?!:)", text)
    if has_initialisers and re.search(r"[\w>]$", text):
        return "initialiser"
    return "function"


class _LineOf:
    def __init__(self, text):
        self._starts = [0] + [m.end() for m in re.finditer("\n", text)]

    def __call__(self, offset):
        return bisect.bisect_right(self._starts, offset)


def functions(code):
    """(first line, last line, name) of every function body at namespace or class level; `code` from code_only."""
    code = _without_directives(code)
    line_of = _LineOf(code)
    scopes, found, start, parens = [], [], 0, 0
    for match in re.finditer(r"[{};()]", code):
        char, at = match.group(0), match.start()
        is_outside = not scopes or scopes[-1][0] in ("namespace", "class")
        if char in "()":
            parens = max(0, parens + (1 if char == "(" else -1))
        elif char == "{":
            kind = _scope_of(code[start:at]) if is_outside and parens == 0 else "inner"
            scopes.append((kind, start, parens))
            if kind in ("namespace", "class"):
                start, parens = at + 1, 0
        elif char == "}" and scopes:
            kind, began, parens = scopes.pop()
            if kind == "function":
                signature = code[began:].lstrip()
                first = line_of(len(code) - len(signature))
                name = re.search(r"([\w:~]+)\s*\(", signature)
                found.append((first, line_of(at), name.group(1) if name else "?"))
            if kind not in ("initialiser", "inner"):
                start = at + 1
        elif char == ";" and is_outside and parens == 0:
            start = at + 1
    return found
