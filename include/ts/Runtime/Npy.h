// NumPy's .npy files: reading any C- or Fortran-ordered array of the element types we know, writing
// C-ordered ones. Not a reader of .npz archives, of pickled objects or of big-endian data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_RUNTIME_NPY_H
#define TS_RUNTIME_NPY_H

#include "ts/Runtime/HostArray.h"

#include <istream>

namespace ts {

/// The contents of a .npy file, row-major without gaps, as stored.
struct NpyFile {
  /// NumPy's type code without the byte order: f4, f2, i8, u1, V2, ...
  std::string code;
  std::vector<int64_t> shape;
  std::vector<uint8_t> data;
};

Result<NpyFile> readNpy(const std::string &path); // "-" is the standard input

/// Puts the file's elements into `array`, whose shape has to be the file's. Equal types are copied
/// bit for bit. NumPy has no bf16 and no fp8 of its own, so bf16 is read from V2 (what ml_dtypes
/// saves) or u2 and fp8 from V1 or u1, as bits. Anything else is converted with one rounding where
/// `type` is a floating type; `note` then says so. Integers are never made out of floats.
Status fillFromNpy(HostArray &array, const NpyFile &file, const std::string &path,
                   std::string &note);

/// Writes the elements; bf16 as <V2 (`np.load(f).view(ml_dtypes.bfloat16)`), fp8 as |u1.
Status writeNpy(const HostArray &array, const std::string &path); // "-" is the standard output

} // namespace ts

#endif // TS_RUNTIME_NPY_H
