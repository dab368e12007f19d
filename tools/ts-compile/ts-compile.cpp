// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ts-compile: the whole pipeline in one command. See Options.cpp for what it takes.
#include "Compile.h"
#include "Options.h"
#include "ts/Support/Checks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

using namespace ts_compile;

static void listChecks() {
  for (const ts::CheckInfo &check : ts::allChecks())
    llvm::outs() << llvm::formatv("{0}  {1,-24} {2}\n", ts::checkTag(check.id), check.name,
                                  check.title);
}

static Status explain(llvm::StringRef text) {
  std::string suggestion;
  if (const ts::CheckInfo *check = ts::findCheck(text, &suggestion)) {
    llvm::outs() << ts::explainCheck(*check);
    return Status::Ok;
  }
  llvm::raw_ostream &out = llvm::WithColor::error(llvm::errs(), "ts-compile");
  out << "there is no check '" << text << "'";
  if (!suggestion.empty())
    out << "; did you mean '" << suggestion << "'?";
  out << " (--list-checks lists all)\n";
  return Status::Error;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  Status status;
  if (std::optional<Status> ended = parseOptions(argc, argv, options)) {
    status = *ended;
  } else if (options.listChecks) {
    listChecks();
    status = Status::Ok;
  } else if (!options.explain.empty()) {
    status = explain(options.explain);
  } else {
    status = compile(options, argv[0]);
  }
  return static_cast<int>(status);
}
