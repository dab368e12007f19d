"""Number formats of tensor cores in NumPy: what the references of check.py compute with.

Each format is a table of the values of its codes, made from the format's definition; encoding takes the
nearest value (ties to the even code). Nothing here is taken from the emulator.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np


def table(exponent_bits, mantissa_bits, bias, nan_codes=()):
    codes = np.arange(1 << (1 + exponent_bits + mantissa_bits))
    sign = np.where(codes >> (exponent_bits + mantissa_bits), -1.0, 1.0)
    exponent = codes >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = codes & ((1 << mantissa_bits) - 1)
    scale = 2.0 ** mantissa_bits
    value = np.where(exponent == 0, mantissa / scale * 2.0 ** (1 - bias), (1 + mantissa / scale) * 2.0 ** (exponent - bias))
    value = sign * value
    value[list(nan_codes)] = np.nan
    return value


E4M3 = table(4, 3, 7, (0x7F, 0xFF))
E2M1 = table(2, 1, 1)
UE8M0 = np.concatenate([2.0 ** (np.arange(255) - 127.0), [np.nan]])


def encode(values, codes):
    """The codes of the nearest values of a table of at most 256."""
    finite = np.flatnonzero(np.isfinite(codes))
    finite = finite[np.argsort(codes[finite], kind="stable")]
    ordered = codes[finite]
    at = np.clip(np.searchsorted(ordered, values), 1, len(ordered) - 1)
    low, high = ordered[at - 1], ordered[at]
    up = (values - low > high - values) | ((values - low == high - values) & (finite[at] % 2 == 0))
    return finite[np.where(up, at, at - 1)].astype(np.uint8)


def to_bf16(values):
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(words):
    return (words.astype(np.uint32) << 16).view(np.float32)


def to_tf32(values):
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)  # as the tensor core reads f32: cut off
