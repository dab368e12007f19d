// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An output that is known to be writable before the work starts and that appears whole or not at
// all: an earlier file of that name stays until the new one is complete.
#ifndef TS_TOOLS_TS_COMPILE_OUTPUTFILE_H
#define TS_TOOLS_TS_COMPILE_OUTPUTFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <optional>
#include <string>

namespace ts_compile {

class OutputFile {
public:
  /// `path` may be "-" for standard output.
  static llvm::Expected<OutputFile> open(llvm::StringRef path);

  /// Whether this is a file, so that another one can stand beside it.
  bool isFile() const { return temporary.has_value(); }

  /// Writes everything; may be called once.
  llvm::Error commit(llvm::StringRef contents);

  OutputFile(OutputFile &&other) noexcept;
  ~OutputFile();

private:
  explicit OutputFile(llvm::StringRef path) : path(path) {}
  llvm::Error cannotWrite(std::error_code ec) const;

  std::string path;
  /// Empty for standard output and for devices and pipes, which are written in place.
  std::optional<llvm::sys::fs::TempFile> temporary;
};

} // namespace ts_compile

#endif // TS_TOOLS_TS_COMPILE_OUTPUTFILE_H
