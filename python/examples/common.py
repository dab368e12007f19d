# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the examples share: their options, and running and checking a kernel. Not an example."""
import argparse
import sys

import numpy as np

import mlir_ts


def options(description, **sizes):
    """The command line: --arch, --device, --schedule, --sms, --seed and one option for each size."""
    parser = argparse.ArgumentParser(description=description.strip().splitlines()[0])
    parser.add_argument("--arch", default="", help="target; default: the example's")
    parser.add_argument("--device", default="emulator", choices=["emulator", "cuda"])
    parser.add_argument("--schedule", default="fair", help="of the emulator: fair, random:SEED, adversarial:K")
    parser.add_argument("--sms", type=int, default=132, help="multiprocessors that the emulator pretends to have")
    parser.add_argument("--seed", type=int, default=1)
    for name, value in sizes.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=value)
    return parser.parse_args()


def to_bf16(array):
    """float32 -> the bits of bf16, rounded to nearest even."""
    bits = array.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    """The bits of bf16 -> float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def run(kernel, args, *arrays, **more):
    """Checks, compiles and launches; prints the verdict. Ends the program with one sentence on failure."""
    try:
        print(kernel.check(args.arch).summary, end="")
        told = kernel(*arrays, arch=args.arch, device=args.device,
                      **({"schedule": args.schedule, "sms": args.sms} if args.device == "emulator" else {}), **more)
        if told is not None:
            print(f"emulator: {told.instructions} instructions in {told.seconds:.2f} s")
    except mlir_ts.Error as error:
        sys.exit(f"error: {error}")


def compare(name, found, wanted, bound):
    """Prints the largest error; ends the program when it is beyond the bound."""
    error = float(np.max(np.abs(found - wanted), initial=0.0))
    print(f"{name}: largest error {error:.3g}, bound {bound:.3g}")
    if not error <= bound:
        sys.exit(f"error: {name} is WRONG")
