// The instruction forms of the emulator's families, expanded from the decoders' own patterns and
// tried one by one: what the coverage table is made of. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_EMULATOR_FORMS_H
#define TS_EMULATOR_FORMS_H

#include <string>
#include <string_view>
#include <vector>

namespace ts::emu {

/// "add[.sat].{u16|u32}" as add.u16, add.sat.u16, add.u32, add.sat.u32. Braces hold alternatives,
/// brackets alternatives that may also be left out; both nest.
std::vector<std::string> expandForms(std::string_view pattern);

struct FormStatus {
  std::string pattern;  // as the family wrote it
  std::string operands; // with which it was tried
  std::string form;
  bool executed = false;
  std::string why; // not executed: the note of the family, else what the decoder says
};

/// Every form of every family, in the order of the decoders.
std::vector<FormStatus> listForms();

} // namespace ts::emu

#endif // TS_EMULATOR_FORMS_H
