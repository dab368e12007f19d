// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the model of every kernel in the files, one line of JSON each: the compiler's half of the
// fuzz corpus. What does not parse has no model and is passed over; the verdict is
// ts-fuzz-replay's.
#include "ModelText.h"

#include "ts/Analysis/Reports/Collect.h"
#include "ts/InitAll.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <iostream>

using namespace mlir;

static void printModels(llvm::StringRef text, llvm::StringRef name, MLIRContext &context) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context), name.str());
  if (!module)
    return;
  module->walk([](mlir::ts::KernelOp kernel) {
    if (auto input = mlir::ts::collectReport(kernel))
      std::cout << ::ts::fuzz::writeModel(*input).dump(-1, ' ', false,
                                                       nlohmann::json::error_handler_t::replace)
                << '\n';
  });
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  mlir::ts::registerAllTSDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  for (int i = 1; i < argc; ++i) {
    auto file = llvm::MemoryBuffer::getFile(argv[i]);
    if (!file) {
      llvm::errs() << "error: cannot read '" << argv[i] << "': " << file.getError().message()
                   << '\n';
      return 2;
    }
    llvm::StringRef rest = (*file)->getBuffer();
    while (!rest.empty()) {
      auto [part, next] = rest.split("\n// -----");
      printModels(part, argv[i], context);
      rest = next;
    }
  }
  return 0;
}
