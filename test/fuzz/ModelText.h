// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's schedule model and memory map as one line of JSON, so that a program that needs MLIR
// to read it can be replayed in the sanitizer build, which has no MLIR. For tests: the format
// follows the structs, is not stable, and leaves out what equals its default.
#ifndef TS_TEST_FUZZ_MODELTEXT_H
#define TS_TEST_FUZZ_MODELTEXT_H

#include "ts/Analysis/Reports/Input.h"

#include <nlohmann/json.hpp>

namespace ts::fuzz {

nlohmann::json writeModel(const reports::KernelInput &input);
/// Throws nlohmann::json::exception where a value has the wrong type.
reports::KernelInput readModel(const nlohmann::json &text);

} // namespace ts::fuzz

#endif // TS_TEST_FUZZ_MODELTEXT_H
