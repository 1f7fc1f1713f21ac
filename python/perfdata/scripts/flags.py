# SPDX-License-Identifier: MIT
"""Names of flags and values out of the print formats of tracepoints."""
from __future__ import annotations

import re
from typing import Iterator, NamedTuple

_CALL = re.compile(r"__print_(flags|symbolic)\s*\(\s*(?:\(?[^,()]*\)?\s*)?REC->(\w+)\s*[^,]*,(.*)",
                   re.S)
_PAIR = re.compile(r"\{\s*([^,{}]+?)\s*,\s*\"((?:[^\"\\]|\\.)*)\"\s*\}")


class Named(NamedTuple):
    """A field that has names: of bits (`delimiter` is not None), or of values."""

    field: str
    delimiter: str | None
    values: list[tuple[int, str]]


def _number(text: str) -> int | None:
    """A constant expression: numbers, shifts, | and parentheses, with C's suffixes."""
    plain = re.sub(r"(?i)\b(0x[0-9a-f]+|\d+)u?l?l?\b", r"\1", text)
    plain = re.sub(r"\((?:unsigned |long |int |u64|u32|gfp_t|__force )+\)", "", plain)
    if not re.fullmatch(r"[\s0-9a-fA-FxX()|&~<>+-]+", plain) or len(plain) > 400:
        return None
    try:
        value = _evaluate(plain)
    except (ValueError, IndexError, RecursionError):
        return None
    return value & 0xFFFFFFFFFFFFFFFF


def _evaluate(text: str) -> int:
    tokens = re.findall(r"0[xX][0-9a-fA-F]+|\d+|<<|>>|[()|&~+-]", text)

    def atom() -> int:
        token = tokens.pop(0)
        if token == "(":
            value = level(0)
            if tokens.pop(0) != ")":
                raise ValueError
            return value
        if token == "~":
            return ~atom()
        if token == "-":
            return -atom()
        return int(token, 0) if token.lower().startswith("0x") else int(token)

    levels = ({"|": lambda a, b: a | b}, {"&": lambda a, b: a & b},
              {"<<": lambda a, b: a << min(b, 64), ">>": lambda a, b: a >> min(b, 64)},
              {"+": lambda a, b: a + b, "-": lambda a, b: a - b})

    def level(depth: int) -> int:
        if depth == len(levels):
            return atom()
        value = level(depth + 1)
        while tokens and tokens[0] in levels[depth]:
            value = levels[depth][tokens.pop(0)](value, level(depth + 1))
        return value

    value = level(0)
    if tokens:
        raise ValueError
    return value


def _argument_end(text: str) -> int:
    """Where the call's closing parenthesis is."""
    depth, quoted, at = 1, False, 0
    while at < len(text):
        if quoted:
            at += text[at] == "\\"
            quoted = text[at: at + 1] != '"'
        elif text[at] == '"':
            quoted = True
        else:
            depth += (text[at] == "(") - (text[at] == ")")
            if not depth:
                return at
        at += 1
    return at


def named_fields(print_format: str) -> Iterator[Named]:
    """The fields of a print format that have names."""
    for start in (match.start()
                  for match in re.finditer(r"__print_(?:flags|symbolic)", print_format)):
        match = _CALL.match(print_format[start: start + 65536])
        if not match:
            continue
        kind, field, rest = match.groups()
        rest = rest[: _argument_end(rest)]
        delimiter = None
        if kind == "flags":
            quoted = re.match(r"\s*\"((?:[^\"\\]|\\.)*)\"", rest)
            delimiter = quoted.group(1) if quoted else ""
        pairs = [(_number(value), name) for value, name in _PAIR.findall(rest)]
        yield Named(field, delimiter, [(value, name) for value, name in pairs if value is not None])
