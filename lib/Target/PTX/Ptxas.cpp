// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding and running ptxas. Its output is read in PtxasOutput.cpp.
#include "ts/Target/PTX/Ptxas.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

using namespace llvm;
using namespace mlir::ts;

static StringRef environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static bool isProgram(const Twine &path) {
  return sys::fs::is_regular_file(path) && sys::fs::can_execute(path);
}

/// The text of a file, or nothing.
static std::string readFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// ptxas of the nvidia-cuda-nvcc package under a site-packages folder, or nothing. The package has
/// used nvidia/cuda_nvcc/bin and, since CUDA 13, nvidia/cu13/bin.
static std::string ptxasInSitePackages(const Twine &sitePackages) {
  SmallString<256> root;
  (sitePackages + "/nvidia").toVector(root);
  std::error_code ec;
  for (sys::fs::directory_iterator it(root, ec), end; it != end && !ec; it.increment(ec)) {
    std::string path = it->path() + "/bin/ptxas";
    if (isProgram(path))
      return path;
  }
  return {};
}

/// ptxas under PREFIX/lib/python3.x/site-packages, or nothing.
static std::string ptxasInPrefix(const Twine &prefix) {
  SmallString<256> lib;
  (prefix + "/lib").toVector(lib);
  std::error_code ec;
  for (sys::fs::directory_iterator it(lib, ec), end; it != end && !ec; it.increment(ec)) {
    if (!sys::path::filename(it->path()).starts_with("python3"))
      continue;
    std::string path = ptxasInSitePackages(it->path() + "/site-packages");
    if (!path.empty())
      return path;
  }
  return {};
}

/// Asks the python3 of the PATH for its packages (its own folder need not tell: shims, wrappers).
static std::string ptxasOfActivePython() {
  ErrorOr<std::string> python = sys::findProgramByName("python3");
  SmallString<128> output;
  if (!python || sys::fs::createTemporaryFile("ts-python", "txt", output))
    return {};
  scope_exit remove([&] { (void)sys::fs::remove(output); });
  StringRef args[] = {*python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"};
  std::optional<StringRef> redirects[] = {StringRef(""), output.str(), StringRef("")};
  if (sys::ExecuteAndWait(*python, args, std::nullopt, redirects, /*SecondsToWait=*/20) != 0)
    return {};
  return ptxasInSitePackages(StringRef(readFile(output)).trim());
}

Expected<std::string> mlir::ts::findPtxas(const PtxasSearch &search) {
  struct Given {
    StringRef path, origin;
  };
  for (Given given :
       {Given{search.option, "--ptxas"}, Given{environment("TS_PTXAS"), "TS_PTXAS"}}) {
    if (given.path.empty())
      continue;
    if (isProgram(given.path))
      return given.path.str();
    return createStringError("the ptxas that %s names is not a program: '%s'",
                             given.origin.str().c_str(), given.path.str().c_str());
  }
  if (StringRef home = environment("CUDA_HOME"); !home.empty() && isProgram(home + "/bin/ptxas"))
    return (home + "/bin/ptxas").str();
  if (ErrorOr<std::string> path = sys::findProgramByName("ptxas"))
    return *path;
  // Binaries stand in <project>/build/bin, so the project is two folders up.
  std::string found = ptxasInPrefix(search.toolDir + "/../../.venv");
  for (const char *variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (StringRef prefix = environment(variable); found.empty() && !prefix.empty())
      found = ptxasInPrefix(prefix);
  if (found.empty())
    found = ptxasOfActivePython();
  if (!found.empty())
    return found;
  return createStringError(
      "ptxas was not found (looked at --ptxas, TS_PTXAS, CUDA_HOME/bin, PATH, the project's .venv "
      "and the active Python); 'pip install nvidia-cuda-nvcc' brings it");
}

/// Waits for a program and returns its exit status, -1 without one; kills it when that is wanted.
static int waitOrKill(const sys::ProcessInfo &started, const std::atomic<bool> *cancelled,
                      std::string &error) {
  using namespace std::chrono_literals;
  if (!cancelled)
    return sys::Wait(started, /*SecondsToWait=*/std::nullopt, &error).ReturnCode;
  // Most of what ptxas gets takes it a few tenths of a second.
  for (auto pause = 1ms;; pause = std::min(2 * pause, 32ms)) {
    // Without Polling a program that is still running would be killed at once.
    sys::ProcessInfo ended = sys::Wait(started, /*SecondsToWait=*/0, &error, nullptr, true);
    if (ended.Pid != 0)
      return ended.ReturnCode;
    if (*cancelled) {
      ::kill(started.Pid, SIGKILL);
      return sys::Wait(started, /*SecondsToWait=*/std::nullopt, &error).ReturnCode;
    }
    std::this_thread::sleep_for(pause);
  }
}

Expected<PtxasResult> mlir::ts::runPtxas(StringRef program, StringRef ptx, StringRef chip,
                                         const std::atomic<bool> *cancelled) {
  SmallString<128> input, cubin, log;
  scope_exit remove([&] {
    for (SmallString<128> *path : {&input, &cubin, &log})
      if (!path->empty())
        (void)sys::fs::remove(*path);
  });
  int fd = -1;
  std::error_code ec = sys::fs::createTemporaryFile("ts", "ptx", fd, input);
  if (!ec) {
    raw_fd_ostream stream(fd, /*shouldClose=*/true);
    stream << ptx;
    stream.close();
    ec = stream.error();
    stream.clear_error();
  }
  if (!ec)
    ec = sys::fs::createTemporaryFile("ts", "cubin", cubin);
  if (!ec)
    ec = sys::fs::createTemporaryFile("ts", "log", log);
  if (ec)
    return createStringError("no temporary file for ptxas: " + ec.message());

  std::string arch = ("-arch=" + chip).str();
  StringRef args[] = {program, "-v", "-lineinfo", arch, input, "-o", cubin};
  std::optional<StringRef> redirects[] = {StringRef(""), log.str(), log.str()};
  std::string error;
  bool failedToRun = false;
  sys::ProcessInfo started = sys::ExecuteNoWait(program, args, std::nullopt, redirects,
                                                /*MemoryLimit=*/0, &error, &failedToRun);
  int status = failedToRun ? -1 : waitOrKill(started, cancelled, error);
  if (failedToRun || status < 0)
    return createStringError("'%s' could not be run: %s", program.str().c_str(),
                             error.empty() ? "it was stopped by a signal" : error.c_str());
  PtxasResult result;
  result.assembled = status == 0;
  parsePtxasOutput(readFile(log), ptx, result);
  if (result.assembled)
    result.cubin = readFile(cubin);
  return result;
}
