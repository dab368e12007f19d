// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See the header.
#include "OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ts_compile;

OutputFile::OutputFile(OutputFile &&other) noexcept
    : path(std::move(other.path)), temporary(std::move(other.temporary)) {
  other.temporary.reset();
}

OutputFile::~OutputFile() {
  if (temporary)
    consumeError(temporary->discard());
}

Error OutputFile::cannotWrite(std::error_code ec) const {
  return createStringError(ec, "cannot write '%s': %s", path.c_str(), ec.message().c_str());
}

Expected<OutputFile> OutputFile::open(StringRef path) {
  OutputFile file(path);
  if (path == "-")
    return file;
  sys::fs::file_status status;
  bool exists = !sys::fs::status(path, status) && sys::fs::exists(status);
  if (exists && sys::fs::is_directory(status))
    return file.cannotWrite(std::make_error_code(std::errc::is_a_directory));
  if (exists) {
    if (std::error_code ec = sys::fs::access(path, sys::fs::AccessMode::Write))
      return file.cannotWrite(ec);
    if (!sys::fs::is_regular_file(status))
      return file; // replacing a device or pipe by a file would be wrong
    SmallString<256> target;
    if (!sys::fs::real_path(path, target))
      file.path = target.str().str(); // a symbolic link stays, its target is replaced
  }
  Expected<sys::fs::TempFile> temporary = sys::fs::TempFile::create(file.path + ".%%%%%%.tmp");
  if (!temporary)
    return file.cannotWrite(errorToErrorCode(temporary.takeError()));
  file.temporary.emplace(std::move(*temporary));
  return file;
}

/// Writes to a stream and returns its error.
static std::error_code writeTo(raw_fd_ostream &stream, StringRef contents) {
  stream << contents;
  stream.flush();
  std::error_code ec = stream.error();
  stream.clear_error();
  return ec;
}

Error OutputFile::commit(StringRef contents) {
  std::error_code ec;
  if (path == "-") {
    ec = writeTo(outs(), contents);
  } else if (temporary) {
    raw_fd_ostream stream(temporary->FD, /*shouldClose=*/false);
    ec = writeTo(stream, contents);
    if (!ec)
      ec = errorToErrorCode(temporary->keep(path));
    else
      consumeError(temporary->discard());
    temporary.reset();
  } else {
    raw_fd_ostream stream(path, ec);
    if (!ec)
      ec = writeTo(stream, contents);
  }
  return ec ? cannotWrite(ec) : Error::success();
}
