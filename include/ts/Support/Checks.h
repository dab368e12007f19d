// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The registry of checks: what each id (TS115) is called, why it exists and how a program is
// mended. The entries stand in Checks.def. No check is implemented here, and nothing here needs
// MLIR: the verifier, the lowering, the runtime, the tools and the documentation all print from
// this table.
#ifndef TS_SUPPORT_CHECKS_H
#define TS_SUPPORT_CHECKS_H

#include <span>
#include <string>
#include <string_view>

namespace ts {

/// One enumerator per check, its value being the number in the id: CheckId::TS115 == 115.
enum class CheckId : unsigned {
#define TS_CHECK(id, name, title, why, fix) TS##id = id,
#include "ts/Support/Checks.def"
};

struct CheckInfo {
  CheckId id;
  std::string_view name;  ///< short, hyphenated: "arrival-count"
  std::string_view title; ///< one line: what is demanded
  std::string_view why;   ///< what goes wrong on the GPU otherwise
  std::string_view fix;   ///< what to change in the program
};

/// All checks, by rising id.
std::span<const CheckInfo> allChecks();

/// The entry of a check. Every enumerator has one.
const CheckInfo &checkInfo(CheckId id);

std::string_view checkName(CheckId id);
std::string_view checkTitle(CheckId id);
std::string_view checkWhy(CheckId id);
std::string_view checkFix(CheckId id);

/// "TS115", as it stands in brackets in front of a diagnostic.
std::string checkTag(CheckId id);

/// "[TS115] ", the prefix of a diagnostic.
std::string checkPrefix(CheckId id);

/// Finds a check by id ("TS115", "ts115", "115", "[TS115]") or by short name ("arrival-count").
/// Returns null where there is none; `suggestion` then holds the nearest id or name, or nothing.
const CheckInfo *findCheck(std::string_view text, std::string *suggestion = nullptr);

/// The text of `ts-compile --explain TS115`: title, why and fix, wrapped to `columns`.
std::string explainCheck(const CheckInfo &info, unsigned columns = 80);

} // namespace ts

#endif // TS_SUPPORT_CHECKS_H
