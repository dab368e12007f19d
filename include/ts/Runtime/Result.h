// A value or one sentence about why there is none: how the MLIR-free libraries report bad input.
// Not for programming errors (those are asserts) and not for errors inside MLIR code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_RUNTIME_RESULT_H
#define TS_RUNTIME_RESULT_H

#include <string>
#include <utility>
#include <variant>

namespace ts {

/// Whose fault an error is; ts-run turns it into its exit status.
enum class Fault {
  Input,       // the caller's: a file, an option, a launch that breaks a rule
  Environment, // the machine's: no GPU, no driver, out of memory
};

/// One sentence, lower-case start, no final period.
struct Error {
  std::string message;
  Fault fault = Fault::Input;
};

inline Error environmentError(std::string message) {
  return {std::move(message), Fault::Environment};
}

template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : storage(std::move(value)) {}
  Result(Error error) : storage(std::move(error)) {}

  explicit operator bool() const { return std::holds_alternative<T>(storage); }
  T &operator*() { return std::get<T>(storage); }
  const T &operator*() const { return std::get<T>(storage); }
  T *operator->() { return &std::get<T>(storage); }
  const T *operator->() const { return &std::get<T>(storage); }
  const Error &error() const { return std::get<Error>(storage); }

private:
  std::variant<T, Error> storage;
};

/// A result without a value.
struct Done {};
using Status = Result<Done>;

} // namespace ts

#endif // TS_RUNTIME_RESULT_H
