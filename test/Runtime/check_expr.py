# RUN: %python %s %t %fake_driver
# Check expressions: values and bounds against a reference in Python, results that are just right and just
# wrong, and the sentences about broken expressions. The fake copy kernel makes D a copy of A, so A holds
# the result to be judged.
import math
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from rt import Tool, copy_manifest, write_npy

tool = Tool(sys.argv[1], sys.argv[2])
random.seed(3)
M, N, K = 6, 8, 20
X = [[struct.unpack("f", struct.pack("f", random.gauss(0, 1)))[0] for _ in range(K)] for _ in range(M)]
Y = [[struct.unpack("f", struct.pack("f", random.gauss(0, 1)))[0] for _ in range(K)] for _ in range(N)]
V = [[struct.unpack("f", struct.pack("f", random.gauss(0, 1)))[0]] for _ in range(M)]


def flat(rows):
    return [x for row in rows for x in row]


write_npy("x.npy", "f4", (M, K), flat(X))
write_npy("y.npy", "f4", (N, K), flat(Y))
write_npy("v.npy", "f4", (M, 1), flat(V))
copy_manifest("m.json", "f32", extra=[("X", "f32", 2), ("Y", "f32", 2), ("V", "f32", 2)])


def judge(check, result, *options):
    write_npy("a.npy", "f4", (len(result), len(result[0])), flat(result))
    return tool.run("k.ptx", "--manifest", "m.json", "--array", "A=@a.npy", "--array",
                    f"D={len(result)}x{len(result[0])}", "--array", "X=@x.npy", "--array", "Y=@y.npy", "--array",
                    "V=@v.npy", "--scalar", "alpha=2.5", "--check", check, *options)




def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


product = [[sum(X[m][k] * Y[n][k] for k in range(K)) for n in range(N)] for m in range(M)]
magnitude = [[sum(abs(X[m][k] * Y[n][k]) for k in range(K)) for n in range(N)] for m in range(M)]
top = [max(row) for row in product]
total = [sum(math.exp(x - t) for x in row) for row, t in zip(product, top)]


def each(f):
    return [[f32(f(m, n)) for n in range(N)] for m in range(M)]


RIGHT = {
    "D = X @ Y.T": each(lambda m, n: product[m][n]),
    "D = (Y @ X.T).T": each(lambda m, n: product[m][n]),
    "D = alpha * (X @ Y.T) - V / 2": each(lambda m, n: 2.5 * product[m][n] - V[m][0] / 2),
    "D = relu(X@Y.T) + abs(V)": each(lambda m, n: max(product[m][n], 0) + abs(V[m][0])),
    "D = maximum(X @ Y.T, V) * minimum(V, 0.5)": each(lambda m, n: max(product[m][n], V[m][0]) * min(V[m][0], 0.5)),
    "D = where(X @ Y.T > V, 1, -1)": each(lambda m, n: 1 if product[m][n] > V[m][0] else -1),
    "D = exp(X@Y.T - max(X@Y.T, axis=1, keepdims=True)) / sum(exp(X@Y.T - max(X@Y.T, axis=-1, keepdims=True)), axis=1, keepdims=True)":
        each(lambda m, n: math.exp(product[m][n] - top[m]) / total[m]),
    "D = sqrt(abs(X @ Y.T)) * 2e-1": each(lambda m, n: math.sqrt(abs(product[m][n])) * 0.2),
    "D = X @ Y.T + sum(X) - max(Y)": each(lambda m, n: product[m][n] + sum(flat(X)) - max(flat(Y))),
    "D = X[:, 4:12] * 2 + transpose(reshape(Y, 20, 8), 1, 0)[2:8, :8]":
        each(lambda m, n: 2 * X[m][n + 4] + flat(Y)[n * 8 + m + 2]),
    "D = repeat(repeat(V[:dim(X, 0) / 2], 2, axis=0), 8, axis=-1) + X[:, :8]": each(lambda m, n: V[m // 2][0] + X[m][n]),
    "D = V + reshape(sum(X * 0), 1, 1) + reshape(Y, 4, 40)[3:, :8]": each(lambda m, n: V[m][0] + flat(Y)[120 + n]),
    "D = transpose(reshape(repeat(reshape(X, 6, 4, 5), 2, axis=1)[:, :, :1], dim(X, 0), 8), 0, 1) + 0 * (X @ Y.T)":
        each(lambda m, n: X[m][n // 2 * 5]),
    "D = where(arange(dim(Y, 0)) < reshape(arange(6), 6, 1), arange(2 * 4), X @ Y.T)":
        each(lambda m, n: n if n < m else product[m][n]),
    "D = reshape(reshape(X @ Y.T, 48), 6, 8)": each(lambda m, n: product[m][n]),
    "P = X @ Y.T; E = exp(P - max(P, axis=1, keepdims=True, initial=-1e4)); D = E / maximum(sum(E, axis=1, keepdims=True), 1)":
        each(lambda m, n: math.exp(product[m][n] - top[m]) / total[m]),
    "Z = X[:, :0]; D = max(Z, axis=1, keepdims=True, initial=-2) + (Z @ Y[:, :0].T) + X[:, :8]": each(lambda m, n: X[m][n] - 2),
    "D = (V <= 0) * 4 + (V >= 0) + (V == V) - (V != V) + 0 * (X @ Y.T)": each(lambda m, n: (4 if V[m][0] <= 0 else 1) + 1),
}
for check, result in RIGHT.items():
    rc, out, err = judge(check, result)
    tool.expect(check, rc == 0 and f"{check}: ok, 48 compared (all)" in out, (rc, out, err))
    # One element off by a part in a thousand is far outside every bound.
    result[3][5] = result[3][5] * 1.001 + 0.01
    rc, out, err = judge(check, result)
    tool.expect("off " + check, rc == 1 and f"{check}: WRONG, 1 wrong of 48 compared (all)" in out and "; first at (3, 5): found" in out, (rc, out, err))

# The bound itself: 2 sqrt(K) 2^-24 sum |x| |y| and half a unit in the last place of the result.
result = each(lambda m, n: product[m][n])
bound = 2 * math.sqrt(K) * 2**-24 * magnitude[2][2]
for factor, right in ((0.9, True), (-0.9, True), (1.3, False), (-1.3, False)):
    result[2][2] = f32(product[2][2] + factor * bound)
    rc, out, err = judge("D = X @ Y.T", result)
    tool.expect(f"bound x {factor}", rc == (0 if right else 1), (rc, out, err))

# Without freedom there is equality: a copy, and sums of integers.
rc, out, err = judge("D = X", X)
tool.expect("copy", rc == 0 and "D = X: ok, 120 compared (all), exact" in out, (rc, out, err))
X[1][1] = struct.unpack("f", struct.pack("I", struct.unpack("I", struct.pack("f", X[1][1]))[0] + 1))[0]
rc, out, err = judge("D = X", X)
tool.expect("one bit", rc == 1 and "WRONG, 1 wrong of 120 compared (all), exact; first at (1, 1)" in out, (rc, out, err))



def small(rows):
    return [[round(2 * x) for x in row] for row in rows]


X, Y = small(X), small(Y)
write_npy("x.npy", "f4", (M, K), flat(X))
write_npy("y.npy", "f4", (N, K), flat(Y))
product = [[sum(X[m][k] * Y[n][k] for k in range(K)) for n in range(N)] for m in range(M)]
rc, out, err = judge("D = relu(X @ Y.T) - sum(X, axis=1, keepdims=1 == 1)", product)
tool.expect("keepdims", rc == 1 and "column 45: expected True or False" in err, err)
rc, out, err = judge("D = X @ Y.T", product, "--exact")
tool.expect("integers", rc == 0 and ", exact" in out, (rc, out, err))
product[0][0] = f32(product[0][0] + 2**-20)
rc, out, err = judge("D = X @ Y.T", product, "--exact")
tool.expect("integers", rc == 1 and "1 wrong" in out, (rc, out, err))
rc, out, err = judge("D = X @ Y.T / 3", product, "--exact")
tool.expect("not exact", rc == 1 and "48 elements leave room for rounding, so an exact comparison says nothing" in err, err)

# NaN and infinity.
result = [[float("nan")] * N for _ in range(M)]
rc, out, err = judge("D = X @ Y.T", result)
tool.expect("nan", rc == 1 and "48 wrong" in out and "found nan" in out, (rc, out, err))
rc, out, err = judge("D = 0 * (X @ Y.T) / 0", result)
tool.expect("nan expected", rc == 0, (rc, out, err))
result = [[float("inf")] * N for _ in range(M)]
rc, out, err = judge("D = 1 / abs(0 * (X @ Y.T))", result)
tool.expect("inf expected", rc == 0, (rc, out, err))

# A sample: 48 products of depth 20 are 960 multiplications.
product = [[sum(X[m][k] * Y[n][k] for k in range(K)) for n in range(N)] for m in range(M)]
rc, out, err = judge("D = X @ Y.T", product, "--check-limit", "300")
tool.expect("sample", rc == 0 and "12 compared of 48 (sample), exact" in out, (rc, out, err))
for m, n in ((0, 0), (0, N - 1), (M - 1, 0), (M - 1, N - 1)):
    wrong = [row[:] for row in product]
    wrong[m][n] += 1
    rc, out, err = judge("D = X @ Y.T", wrong, "--check-limit", "300")
    tool.expect("corner", rc == 1 and f"first at ({m}, {n})" in out, (rc, out, err))

C = "ts-run: error: --check "
BROKEN = {
    "": "column 1: expected the name of an output array, found the end",
    "D": "column 2: expected '=' after 'D', found the end",
    "D == X": "column 4: expected '=' after 'D', found '='",
    "D = ": "column 5: expected a number, a name or '(', found the end",
    "D = X @": "column 8: expected a number, a name or '(', found the end",
    "D = X Y": "column 7: expected an operator or the end, found 'Y'",
    "D = (X": "column 7: expected ')', found the end",
    "D = X.t": "column 6: expected '.T'",
    "D = cos(X)": "column 5: unknown function 'cos'; there are exp, relu, abs, sqrt, maximum, minimum, where, sum, max, bf16, f16, dim, arange, reshape, transpose, repeat",
    "D = maximum(X)": "column 5: 'maximum' takes 2 values, found 1",
    "D = sum(X, 1)": "column 12: expected 'axis=' or 'keepdims='",
    "D = sum(X, initial=1)": "column 12: expected 'axis=' or 'keepdims='",
    "D = max(X, initial=x)": "column 20: expected a number, found 'x'",
    "D = max(X[:, :0], axis=1)": "column 5: the maximum over no elements is not defined",
    "Z = X + 1; W = Z * 2; D = Z": "column 27: this name has its value already; use it where it is needed",
    "Z = X + 1;": "column 11: expected the name of an output array, found the end",
    "D = bf16(X, 1)": "column 5: 'bf16' takes 1 values, found 2",
    "D = sum(X, axis=x)": "column 17: expected the number of an axis, found 'x'",
    "D = 1e": "column 6: expected an operator or the end, found 'e'",
    "D = " + "(" * 150: "column 105: the expression is nested more than 100 deep",
    "D = X @ Q": "column 9: 'Q' is neither an array nor a scalar of the launch",
    "D = X @ Y": "column 7: the shapes of 6x20 @ 8x20 do not fit",
    "D = X + Y": "column 7: the shapes 6x20 and 8x20 do not fit",
    "D = X @ alpha": "column 7: '@' needs two or more dimensions, found 6x20 @ a scalar",
    "D = sum(X, axis=2)": "column 5: there is no axis 2 in 6x20",
    "D = reshape(X, 6, 19)": "column 5: 6x20 has 120 elements, 6x19 has 114",
    "D = reshape(X, 6, -20)": "column 5: 6x20 cannot become 6x-20",
    "D = reshape(X, V, 2)": "column 5: value 2 has to be an integer made of numbers and dim()",
    "D = reshape(X, dim(X, 0) / 4, 80)": "column 5: value 2 has to be an integer made of numbers and dim()",
    "D = reshape(X)": "column 5: 'reshape' takes 2 or more values, found 1",
    "D = dim(X, 2) * X": "column 5: there is no dimension 2 in 6x20",
    "D = transpose(X, 0, 0)": "column 5: expected each of the 2 dimensions of 6x20 once",
    "D = repeat(X, 2)": "column 5: 'repeat' needs 'axis='",
    "D = repeat(X, 2, keepdims=True)": "column 18: expected 'axis='",
    "D = repeat(X, 0, axis=1)": "column 5: cannot repeat 0 times",
    "D = repeat(X, 2, axis=2)": "column 5: there is no axis 2 in 6x20",
    "D = X + arange(21)": "column 7: the shapes 6x20 and 21 do not fit",
    "D = X + arange(V)": "column 9: the size has to be an integer from 0 to 2^26, made of numbers and dim()",
    "D = X + arange(-1)": "column 9: the size has to be an integer from 0 to 2^26, made of numbers and dim()",
    "D = X[3:7]": "column 6: range 3:7 is outside of dimension 0 of 6x20",
    "D = X[4:2]": "column 6: range 4:2 is outside of dimension 0 of 6x20",
    "D = X[:, :, :1]": "column 6: 3 ranges for 6x20",
    "D = X[:, :, :]": "column 14: there is no dimension 2 in 6x20",
    "D = X[1]": "column 8: expected ':', found ']'",
    "D = X[1:2": "column 10: expected ']', found the end",
}
for check, message in BROKEN.items():
    rc, out, err = judge(check, product)
    tool.expect(check[:30], (rc, err) == (1, f"{C}'{check}', {message}\n"), (rc, out, err))
for check, message in {"D = X": "the expression is 6x20, but 'D' is 6x8", "X = D": "'X' is no output of 'copy'",
                       "alpha = 1": "'alpha' is no output of 'copy'"}.items():
    rc, out, err = judge(check, product)
    tool.expect(check, (rc, err) == (1, f"{C}'{check}': {message}\n"), (rc, out, err))
# What is exact although it is no sum of integers: products with zero and powers of two, exp of zero and of what
# f32 has nothing for, and with them a softmax of equal scores over a power of two of keys.
write_npy("x.npy", "f4", (M, K), [0] * (M * K))
write_npy("y.npy", "f4", (N, K), [(i * 7) % 5 - 2 for i in range(N * K)])
ints = [[(n * K + k) * 7 % 5 - 2 for k in range(K)] for n in range(N)]
mean = [[sum(ints[k][n] for k in range(N)) / 8 for n in range(N)] for m in range(M)]
SOFTMAX = "S = where(arange(8) < {}, alpha * (X @ Y.T), -10000); E = exp(S - max(S, axis=1, keepdims=True)); " \
    "D = (bf16(E) @ Y[:, :8]) / sum(E, axis=1, keepdims=True)"
rc, out, err = judge(SOFTMAX.format(8), mean, "--exact")
tool.expect("equal scores", rc == 0 and "48 compared (all), exact" in out, (rc, out, err))
half = [[sum(ints[k][n] for k in range(4)) / 4 for n in range(N)] for m in range(M)]
rc, out, err = judge(SOFTMAX.format(4), half, "--exact")
tool.expect("equal scores, masked", rc == 0 and "48 compared (all), exact" in out, (rc, out, err))
half[2][3] += 2**-20
rc, out, err = judge(SOFTMAX.format(4), half)
tool.expect("equal scores, one off", rc == 1 and "1 wrong of 48" in out, (rc, out, err))
rc, out, err = judge(SOFTMAX.format(3), [[sum(ints[k][n] for k in range(3)) / 3 for n in range(N)] for m in range(M)], "--exact")
tool.expect("three keys", rc == 1 and "elements leave room for rounding" in err, (rc, out, err))

# A rounding that the expression asks for: of a sum of K terms 2^-8 a b each, four times the root of the sum of
# their squares is allowed, not their sum.
X0 = [[f32(random.gauss(0, 1)) for _ in range(K)] for _ in range(M)]
Y0 = [[f32(random.gauss(0, 1)) for _ in range(K)] for _ in range(N)]
write_npy("x.npy", "f4", (M, K), flat(X0))
write_npy("y.npy", "f4", (N, K), flat(Y0))
noise = 4 * 2**-8 * math.sqrt(sum((X0[2][k] * Y0[2][k])**2 for k in range(K)))
result = each(lambda m, n: sum(X0[m][k] * Y0[n][k] for k in range(K)))
for factor, right in ((0.97, True), (-0.97, True), (1.03, False), (-1.03, False)):
    result[2][2] = f32(sum(X0[2][k] * Y0[2][k] for k in range(K)) + factor * noise)
    rc, out, err = judge("D = bf16(X) @ Y.T", result)
    tool.expect(f"rounded factors x {factor}", rc == (0 if right else 1), (rc, out, err))
# Values one by one.
VALUES = ["k.ptx", "--manifest", "m.json", "--array", "A=@a.npy", "--array", "D=6x8", "--array", "X=@x.npy", "--array",
          "Y=@y.npy", "--scalar", "alpha=2.5", "--check", "D = V + 0 * (X @ Y.T)", "--array"]
write_npy("a.npy", "f4", (M, N), flat(each(lambda m, n: m - 1.5)))
rc, out, err = tool.run(*VALUES, "V=6x1:values(-1.5, -0.5,0.5, 1.5, 2.5, 35e-1)")
tool.expect("values", rc == 0 and "ok, 48 compared" in out, (rc, out, err))
rc, out, err = tool.run(*VALUES, "V=6x1:values(1, 2)")
tool.expect("too few values", (rc, err) == (1, "ts-run: error: --array V: found 2 values for an array of 6x1 elements\n"), (rc, out, err))
rc, out, err = tool.run(*VALUES, "V=values(1, 2)")
tool.expect("vector of values", rc == 1 and "array 'V' is 2, but 'copy' takes an array of rank 2" in err, (rc, out, err))
# An output on its own right side is what was there before; elsewhere it has no values.
rc, out, err = judge("D = where(X[:, :8] > 5000, X @ Y.T, D)", product)
tool.expect("output on the right", rc == 1 and "WRONG" in out and "neither" not in err, (out, err))
rc, out, err = judge("D = X @ Y.T + dim(D, 0)", product)
tool.expect("sizes of the output", rc == 1 and "'D' is neither an array nor a scalar" in err, err)
tool.done()
