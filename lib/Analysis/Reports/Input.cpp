// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header.
#include "ts/Analysis/Reports/Input.h"

namespace ts::reports {

std::string Place::text() const {
  return known() ? file + ":" + std::to_string(line) + ":" + std::to_string(column)
                 : "unknown location";
}

const Place &KernelInput::place(schedule::LocId loc) const {
  static const Place none;
  return loc >= 0 && size_t(loc) < places.size() ? places[size_t(loc)] : none;
}

const std::string &KernelInput::resourceName(int index) const {
  static const std::string none = "none";
  return index >= 0 && size_t(index) < kernel.resources.size()
             ? kernel.resources[size_t(index)].name
             : none;
}

std::string_view name(Diagnostic::Severity severity) {
  switch (severity) {
  case Diagnostic::Severity::Note:
    return "note";
  case Diagnostic::Severity::Remark:
    return "remark";
  case Diagnostic::Severity::Warning:
    return "warning";
  case Diagnostic::Severity::Error:
    return "error";
  }
  return "error";
}

} // namespace ts::reports
