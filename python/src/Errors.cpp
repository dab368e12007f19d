// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Failures of the C++ side as exceptions of mlir_ts.errors: the classes are Python's, so that they
// read well in help(); here is only the way there.
#include "Bindings.h"
#include <utility>

using namespace mlir_ts;
namespace reports = ts::reports;

static const char *severityName(reports::Diagnostic::Severity severity) {
  switch (severity) {
  case reports::Diagnostic::Severity::Note:
    return "note";
  case reports::Diagnostic::Severity::Warning:
    return "warning";
  case reports::Diagnostic::Severity::Error:
    return "error";
  case reports::Diagnostic::Severity::Remark:
    return "remark";
  }
  return "error";
}

static py::dict placeOf(const reports::Place &place) {
  py::dict result;
  result["file"] = place.file;
  result["line"] = place.line;
  result["column"] = place.column;
  return result;
}

py::list mlir_ts::describe(const std::vector<reports::Diagnostic> &diagnostics) {
  py::list list;
  for (const reports::Diagnostic &diagnostic : diagnostics) {
    py::dict entry = placeOf(diagnostic.place);
    entry["severity"] = severityName(diagnostic.severity);
    entry["id"] = diagnostic.check ? "TS" + std::to_string(diagnostic.check) : std::string();
    entry["message"] = diagnostic.message;
    py::list notes;
    for (const auto &note : diagnostic.notes) {
      py::dict told = placeOf(note.place);
      told["message"] = note.message;
      notes.append(told);
    }
    entry["notes"] = notes;
    list.append(entry);
  }
  return list;
}

void mlir_ts::bindErrors(py::module_ &) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    auto raise = [](const char *name, const py::args &args) {
      py::object cls = py::module_::import("mlir_ts.errors").attr(name);
      py::object error = cls(*args);
      PyErr_SetObject(cls.ptr(), error.ptr());
    };
    try {
      if (thrown)
        std::rethrow_exception(std::move(thrown));
    } catch (const DiagnosedFailure &failure) {
      raise("CompileError",
            py::make_tuple(std::string(failure.what()), describe(failure.diagnostics)));
    } catch (const EnvironmentFailure &failure) {
      raise("EnvironmentError", py::make_tuple(std::string(failure.what())));
    } catch (const Failure &failure) {
      raise("Error", py::make_tuple(std::string(failure.what())));
    }
  });
}
