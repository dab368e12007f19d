# RUN: %python %s %t %fake_driver
# Launch expressions: 400 random ones evaluated by ts-run and by Python, and the sentences about broken
# ones. Each also goes through the canonical spelling, which ts-run prints in its messages.
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from rt import Tool

tool = Tool(sys.argv[1], sys.argv[2])
DIMS, STRIDES, SMS, GIVEN = (300, 64), (72, 1), 132, {"p": 7, "q": -3}
LIMIT = 1 << 63


class Undefined(Exception):
    pass


def generate(depth):
    """(text, value); raises Undefined where the evaluator has to complain."""
    pick = random.random()
    if depth == 0 or pick < 0.2:
        kind = random.randrange(6)
        if kind == 0:
            i = random.randrange(2)
            return random.choice((f"dim(A, {i})", f"dim( A,{i} )")), DIMS[i]
        if kind == 1:
            i = random.randrange(2)
            return f"stride(A, {i})", STRIDES[i]
        if kind == 2:
            return "sms()", SMS
        if kind == 3:
            name = random.choice("pq")
            return name, GIVEN[name]
        value = random.choice((0, 1, 2, 64, 1000, -5, 1 << 40, LIMIT - 1))
        return str(value), value
    left, a = generate(depth - 1)
    right, b = generate(depth - 1)
    op = random.choice(("+", "-", "*", "ceildiv", "div", "mod", "min", "max", "neg"))
    if op in "+-*":
        text, value = f"({left}) {op} ({right})", {"+": a + b, "-": a - b, "*": a * b}[op]
    elif op == "neg":
        text, value = f"-({left})", -a
    elif op in ("min", "max"):
        third, c = generate(depth - 1)
        text, value = f"{op}({left}, {right}, {third})", {"min": min, "max": max}[op](a, b, c)
    else:
        if b <= 0:
            raise Undefined
        text, value = f"{op}({left},{right})", {"ceildiv": -(-a // b), "div": a // b, "mod": a % b}[op]
    if not -LIMIT <= value < LIMIT:
        raise Undefined
    return text, value


def manifest(expressions):
    args = [{"name": "A", "kind": "buffer", "element": "f32", "rank": 2, "access": "read"}]
    args += [{"name": n, "kind": "scalar", "type": "index"} for n in GIVEN]
    args += [{"name": "alpha", "kind": "scalar", "type": "f32"}]
    args += [{"name": f"x{i}", "kind": "scalar", "type": "index", "value": e} for i, e in enumerate(expressions)]
    kernel = {"name": "k", "arch": "sm_90a", "args": args, "grid": ["1", "1", "1"], "block": [32, 1, 1],
              "params": [{"kind": "value", "type": "i64", "value": "stride(A, 0)"}]}  # so rows may be padded
    json.dump({"version": 1, "kernels": [kernel]}, open("m.json", "w"))


def dry(expressions):
    manifest(expressions)
    return tool.run("--manifest", "m.json", "--dry-run", "--array", "A=300x64:stride0=72", "--scalar", "p=7",
                    "--scalar", "q=-3", "--scalar", "alpha=1")


random.seed(20261129)
cases = []
while len(cases) < 400:
    try:
        cases.append(generate(4))
    except Undefined:
        pass
rc, out, err = dry([text for text, _ in cases])
found = dict(line.split(" (")[0].strip()[7:].split(" = ") for line in out.splitlines() if line.startswith("  scalar x"))
tool.expect("all evaluated", rc == 0 and len(found) == 400, (rc, out[:300], err))
for i, (text, value) in enumerate(cases):
    tool.expect(text, found.get(f"x{i}") == str(value), (found.get(f"x{i}"), value))

# text -> (column, message) from the parser
PARSE = {
    "": (1, "expected an integer, a name, a function or '(', found the end"),
    "1 +": (4, "expected an integer, a name, a function or '(', found the end"),
    "1 2": (3, "expected an operator or the end of the expression, found '2'"),
    "(1": (3, "expected ')', found the end"),
    "1)": (2, "expected an operator or the end of the expression, found ')'"),
    "p / 2": (3, "expected an operator or the end of the expression, found '/'"),
    "foo(1, 2)": (1, "unknown function 'foo'; there are dim, stride, sms, ceildiv, div, mod, min and max"),
    "ceildiv(1)": (1, "'ceildiv' takes two values, found 1"),
    "div(1, 2, 3)": (1, "'div' takes two values, found 3"),
    "max(1)": (1, "'max' takes two or more values, found 1"),
    "min(": (5, "expected an integer, a name, a function or '(', found the end"),
    "dim(A)": (6, "expected ',', found ')'"),
    "dim(3, 0)": (5, "expected the name of an array argument, found '3'"),
    "dim(A, p)": (8, "expected the number of a dimension, found 'p'"),
    "dim(A, 99)": (8, "no array has a dimension 99"),
    "sms(1)": (5, "expected ')', found '1'"),
    "9223372036854775808": (1, "the integer does not fit 64 bits"),
    "1 + $": (5, "expected an integer, a name, a function or '(', found '$'"),
    "(" * 200 + "1" + ")" * 200: (101, "the expression is nested more than 100 deep"),
    "-" * 200 + "p": (101, "the expression is nested more than 100 deep"),
    "+".join(["1"] * 600): (1000, "the expression has more than 1000 terms"),
}
for text, (column, message) in PARSE.items():
    rc, out, err = dry([text])
    shown = text if len(text) <= 100 else text[:100] + "..."
    if not text:
        tool.expect("empty", rc == 1 and "kernels[0].args[4].value: is empty" in err, err)
        continue
    tool.expect(text[:30], rc == 1 and f"kernels[0].args[4].value: column {column} of '{shown}': {message}" in err, err[-200:])

# text -> message from the evaluator or the reader
VALUE = {
    "9223372036854775807 + 1": "scalar 'x0' = 9223372036854775807 + 1: the value of '9223372036854775807 + 1' does not fit 64 bits",
    "dim(A,0)*(p+9223372036854775800)": "the value of 'dim(A, 0) * (p + 9223372036854775800)' does not fit 64 bits",
    "0 - (-9223372036854775808)": "the value of '0 - -9223372036854775808' does not fit 64 bits",
    "div(p, p - 7)": "the divisor of 'div(p, p - 7)' is 0, it has to be positive",
    "mod(p, q)": "the divisor of 'mod(p, q)' is -3, it has to be positive",
    "r + 1": "'r + 1' uses 'r', which is no argument",
    "A + 1": "'A + 1' uses 'A', which is an array",
    "alpha + 1": "'alpha + 1' uses 'alpha', which is no integer",
    "dim(p, 0)": "'dim(p, 0)' uses 'p', which is a scalar",
    "dim(A, 2)": "'dim(A, 2)' uses 'A', which is an array of rank 2",
    "x0 + 1": "scalar 'x0' is derived from itself",
}
for text, message in VALUE.items():
    rc, out, err = dry([text])
    tool.expect(text, rc == 1 and message in err, err)

# Scalars may be used before they are defined; needless parentheses go.
rc, out, err = dry(["x1 * 2", "((p)) - (q - (1 + 2)) * (3)"])
tool.expect("forward", rc == 0 and "scalar x0 = 50 (i64)" in out, (rc, out, err))
rc, out, err = dry(["((p)) - (q - (1 + 2)) * (3) + mod(1, 0)"])
tool.expect("canonical", "scalar 'x0' = p - (q - (1 + 2)) * 3 + mod(1, 0):" in err, err)
tool.done()
