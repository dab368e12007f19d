// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function per group of names of the extension module; Module.cpp calls them in order.
#ifndef TS_PYTHON_BINDINGS_H
#define TS_PYTHON_BINDINGS_H

#include "Handles.h"
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace mlir_ts {
namespace py = pybind11;

void bindErrors(py::module_ &m);  // exceptions, and how failures become them
void bindTypes(py::module_ &m);   // Context, Type, Attribute, Location
void bindIR(py::module_ &m);      // Module, Operation, Value, Block, Region
void bindBuilder(py::module_ &m); // create, InsertionPoint
void bindCompile(py::module_ &m); // passes, compile, checks
void bindRun(py::module_ &m);     // manifests, launches, emulator, CUDA

/// Diagnostics as the dicts that mlir_ts.errors makes objects of.
py::list describe(const std::vector<ts::reports::Diagnostic> &diagnostics);

/// Python value -> attribute: bool, int, float, str, list or tuple, dict, None (unit), Type,
/// Attribute. Anything else is an error that names it.
mlir::Attribute toAttribute(const ContextRef &context, const py::handle &value);

} // namespace mlir_ts

#endif // TS_PYTHON_BINDINGS_H
