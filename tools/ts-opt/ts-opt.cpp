// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mlir-opt with the `ts` dialect, our passes, and the dialects and passes the pipelines need.
#include "ts/InitAll.h"
#include "ts/Support/Nesting.h"
#include "ts/Target/PTX/CrashGuard.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "ts-opt: error: " << message << '\n';
  return EXIT_FAILURE;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  mlir::ts::registerAllTSDialects(registry);
  registerAllPasses();
  mlir::ts::registerTSPasses();
  auto [inputName, outputName] =
      registerAndParseCLIOptions(argc, argv, "MLIR-TS optimizer driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, inputName, outputName, registry));

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &message);
  if (!input)
    return fail(message);
  // Upstream's parser recurses; refuse what would end in a stack overflow.
  if (!input->getBuffer().starts_with("ML\xefR"))
    if (auto place = ::ts::findTooDeep(input->getBuffer()))
      return fail(inputName + ":" + llvm::Twine(place->line) + ":" + llvm::Twine(place->column) +
                  ": brackets are nested more than " + llvm::Twine(::ts::kMaxNesting) +
                  " deep; no program needs that");
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(outputName, &message);
  if (!output)
    return fail(message);
  // Upstream's parser faults on some wrong inputs (array<index: 1>); they are still just wrong.
  LogicalResult result = failure();
  if (auto crash = mlir::ts::runGuarded(
          [&] { result = MlirOptMain(output->os(), std::move(input), registry, config); }))
    return fail(inputName + ": MLIR cannot process this text: " + *crash);
  if (failed(result))
    return EXIT_FAILURE;
  output->keep();
  return EXIT_SUCCESS;
}
