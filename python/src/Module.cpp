// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extension module mlir_ts._core: what Python needs of the C++ libraries, and no more. What
// users see is in python/mlir_ts.
#include "Bindings.h"

PYBIND11_MODULE(_core, m) {
  m.doc() = "The C++ side of mlir_ts.";
  mlir_ts::bindErrors(m);
  mlir_ts::bindTypes(m);
  mlir_ts::bindIR(m);
  mlir_ts::bindBuilder(m);
  mlir_ts::bindCompile(m);
  mlir_ts::bindRun(m);
  m.attr("__version__") = TS_VERSION;
}
