"""Malformed inputs made from the examples, the same ones for the same seed. Running tools on them is
malformed.py's part.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re

NUMBERS = [b"0", b"-1", b"3", b"65537", b"1048577", b"2147483648", b"4294967296", b"9223372036854775807",
           b"-9223372036854775808", b"99999999999999999999999", b"1e400", b"0x", b"7.5"]
TOKEN = re.compile(rb'"[^"\n]*"|[%@#!]?[A-Za-z_][\w.$]*|\d+|\S')


def truncated(rng, text):
    return text[: rng.randrange(len(text))]


def mutated_bytes(rng, text):
    data = bytearray(text)
    for _ in range(rng.randint(1, 6)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def swapped_tokens(rng, text):
    tokens = list(TOKEN.finditer(text))
    first, second = sorted(rng.sample(range(len(tokens)), 2))
    a, b = tokens[first], tokens[second]
    return (text[: a.start()] + b.group() + text[a.end() : b.start()] + a.group() + text[b.end() :])


def dropped_token(rng, text):
    token = rng.choice(list(TOKEN.finditer(text)))
    return text[: token.start()] + text[token.end() :]


def absurd_number(rng, text):
    number = rng.choice(list(re.finditer(rb"(?<![\w%.])\d+", text)))
    return text[: number.start()] + rng.choice(NUMBERS) + text[number.end() :]


def deleted_lines(rng, text):
    lines = text.splitlines(keepends=True)
    for _ in range(rng.randint(1, 3)):
        del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def doubled_line(rng, text):
    lines = text.splitlines(keepends=True)
    line = rng.randrange(len(lines))
    return b"".join(lines[: line + 1] + lines[line:])


def moved_line(rng, text):
    lines = text.splitlines(keepends=True)
    line = lines.pop(rng.randrange(len(lines)))
    lines.insert(rng.randrange(len(lines)), line)
    return b"".join(lines)


MUTATIONS = [truncated, mutated_bytes, swapped_tokens, dropped_token, absurd_number, absurd_number,
             deleted_lines, doubled_line, moved_line]


def without_comments(text):
    """Comment-only lines carry RUN lines and prose: mutating those tests nothing."""
    return b"".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith(b"//"))


def special_inputs(examples):
    """Inputs that no mutation reaches: empty, binary, very long, deeply nested."""
    yield "empty", b""
    yield "nul", b"\0" * 64
    yield "binary", bytes(range(256)) * 16
    yield "long-name", b"%" + b"a" * 1_000_000
    yield "unclosed-string", b'gpu.module @m attributes {x = "' + b"y" * 100_000
    for name, text in examples:
        match = re.search(rb"= ceildiv\(", text)
        if match:
            deep = text[: match.end()] + b"(" * 50_000 + text[match.end() :]
            yield f"deep-expression-{name}", deep
            wide = text[: match.start()] + b"= " + b"1 + " * 20_000 + text[match.start() + 2 :]
            yield f"wide-expression-{name}", wide
            break


def inputs(rng, examples, count):
    """`count` named inputs of mutated examples, plus the special ones."""
    examples = [(name, without_comments(text)) for name, text in examples]
    for index in range(count):
        name, text = examples[index % len(examples)]
        mutation = MUTATIONS[(index // len(examples)) % len(MUTATIONS)]
        yield f"{index:03}-{mutation.__name__}-{name}", mutation(rng, text)
    yield from special_inputs(examples)
