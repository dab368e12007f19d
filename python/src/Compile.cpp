// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes, checks, proof, PTX and cubin of a module, and the reports about it. A compilation works
// on a clone, so the module that Python holds stays as it was written.
#include "Interruptible.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "ts/Analysis/Protocol/Types.h"
#include "ts/Dialect/TS/Transforms/Chips.h"
#include "ts/Driver/Compiler.h"
#include "ts/InitAll.h"
#include "ts/Support/Checks.h"

using namespace mlir_ts;
namespace driver = mlir::ts::driver;
using driver::Emit;
using driver::ReportForm;
using driver::Status;

namespace {
/// What one compilation leaves.
struct Compiled {
  Status status = Status::Ok;
  std::string text, manifest, chip, source, missing, note;
  std::vector<ts::reports::Diagnostic> diagnostics;
  std::vector<ts::reports::KernelInput> kernels;
  std::optional<mlir::ts::PtxasResult> usage;
};
} // namespace

template <typename T>
static T choose(const std::string &name, const char *what,
                std::initializer_list<std::pair<const char *, T>> known) {
  std::string names;
  for (const auto &[text, value] : known) {
    if (name == text)
      return value;
    names += std::string(names.empty() ? "" : ", ") + text;
  }
  throw Failure("unknown " + std::string(what) + " '" + name + "'; known are " + names);
}

static Emit emitOf(const std::string &name) {
  return choose<Emit>(name, "output",
                      {{"lowered", Emit::Lowered},
                       {"mlir", Emit::MLIR},
                       {"ll", Emit::LLVM},
                       {"ptx", Emit::PTX},
                       {"cubin", Emit::Cubin}});
}

static ReportForm formOf(const std::string &name) {
  return choose<ReportForm>(name, "report",
                            {{"text", ReportForm::Text},
                             {"json", ReportForm::JSON},
                             {"perfetto", ReportForm::Perfetto},
                             {"sarif", ReportForm::SARIF},
                             {"html", ReportForm::HTML},
                             {"table", ReportForm::Table}});
}

static const char *statusName(Status status) {
  switch (status) {
  case Status::Ok:
    return "ok";
  case Status::Error:
    return "error";
  case Status::Refuted:
    return "refuted";
  case Status::Undecided:
    return "undecided";
  case Status::Environment:
    return "environment";
  }
  return "error";
}

static std::shared_ptr<Compiled> compile(const Module &module, const std::string &arch,
                                         const std::string &emit, const std::string &verify,
                                         bool checkOnly, bool fillBodies, bool lineInfo, bool usage,
                                         const std::string &ptxas, const std::string &source) {
  driver::CompileOptions options;
  options.emit = emitOf(emit);
  options.verify = choose<driver::Verify>(verify, "kind of verification",
                                          {{"error", driver::Verify::Error},
                                           {"warn", driver::Verify::Warn},
                                           {"off", driver::Verify::Off}});
  options.arch = arch;
  options.ptxas = ptxas;
  options.fillBodies = fillBodies;
  options.lineInfo = lineInfo;
  options.usage = usage;
  if (!arch.empty() && !mlir::ts::findChip(arch))
    throw Failure("[TS406] unknown arch '" + arch + "'; known are " + mlir::ts::knownChipNames());

  auto result = std::make_shared<Compiled>();
  result->source = source;
  Interruptible run;
  options.cancelled = &run.interrupted;
  run.wait([&] {
    Gather gather(module.context->get());
    driver::PhaseTimer timer;
    mlir::OwningOpRef<mlir::ModuleOp> clone(llvm::cast<mlir::ModuleOp>(module.op.get()->clone()));
    driver::Compiler compiler(*clone, options, gather.log(), timer);
    // What was built op by op has not been through a parser, which verifies.
    result->status = mlir::failed(mlir::verify(*clone)) ? Status::Error : compiler.check();
    if (result->status == Status::Ok && !checkOnly)
      result->status = compiler.generate();
    if (result->status == Status::Ok)
      result->status = compiler.verdict();
    result->text = std::move(compiler.text());
    result->manifest = compiler.manifest();
    result->chip = compiler.chip() ? std::string(compiler.chip()->name) : arch;
    result->missing = compiler.missing();
    result->note = compiler.note();
    result->usage = compiler.usage();
    result->kernels = std::move(compiler.kernels());
    if (result->usage)
      driver::addUsage(result->kernels, *result->usage);
    result->diagnostics = gather.take();
  });
  return result;
}

static std::string report(const Compiled &compiled, const std::string &form) {
  return driver::renderReport(formOf(form), compiled.source, compiled.status, compiled.chip,
                              compiled.kernels, compiled.diagnostics);
}

static void runPasses(const ModuleRef &module, const std::string &pipeline) {
  std::string said;
  llvm::raw_string_ostream errors(said);
  mlir::FailureOr<mlir::OpPassManager> parsed = mlir::parsePassPipeline(pipeline, errors);
  if (mlir::failed(parsed))
    throw Failure("'" + pipeline + "' is no pass pipeline: " + said);
  mlir::PassManager passes(&module->context->get(), parsed->getOpAnchorName());
  static_cast<mlir::OpPassManager &>(passes) = std::move(*parsed);
  module->forgetAll();
  Interruptible run;
  run.wait([&] {
    Gather gather(module->context->get());
    driver::SkipPasses skip(module->context->get(), &run.interrupted);
    if (mlir::failed(passes.run(module->op.get())))
      gather.fail("the passes failed");
  });
}

static py::dict usageOf(const Compiled &compiled) {
  py::dict kernels;
  if (compiled.usage)
    for (const mlir::ts::PtxasKernel &kernel : compiled.usage->kernels) {
      py::dict entry;
      entry["registers"] = kernel.registers;
      entry["barriers"] = kernel.barriers;
      entry["stack_bytes"] = kernel.stackBytes;
      entry["spill_store_bytes"] = kernel.spillStoreBytes;
      entry["spill_load_bytes"] = kernel.spillLoadBytes;
      entry["static_shared_bytes"] = kernel.sharedBytes;
      kernels[py::str(kernel.name)] = entry;
    }
  return kernels;
}

/// Who writes and who reads a pipeline of this type, as the protocol component says.
static std::pair<std::string, std::string> pipelineSides(const std::string &type) {
  namespace protocol = ts::protocol;
  auto word = [](protocol::SideKind kind) -> std::string {
    switch (kind) {
    case protocol::SideKind::Async:
      return "async";
    case protocol::SideKind::Tma:
      return "tma";
    case protocol::SideKind::Umma:
      return "umma";
    case protocol::SideKind::Clc:
      return "clc";
    }
    llvm_unreachable("covered above");
  };
  for (unsigned i = 0; i < protocol::numPipelineTypes; ++i)
    if (auto known = protocol::PipelineType(i); protocol::name(known) == type)
      return {word(protocol::producerKind(known)), word(protocol::consumerKind(known))};
  throw Failure("there is no pipeline type '" + type + "'");
}

void mlir_ts::bindCompile(py::module_ &m) {
  mlir::registerTransformsPasses();
  mlir::ts::registerTSPasses();
  py::class_<Compiled, std::shared_ptr<Compiled>>(m, "Compiled")
      .def_property_readonly("status", [](const Compiled &c) { return statusName(c.status); })
      .def_property_readonly("text", [](const Compiled &c) { return py::bytes(c.text); })
      .def_readonly("manifest", &Compiled::manifest)
      .def_readonly("chip", &Compiled::chip)
      .def_readonly("missing", &Compiled::missing)
      .def_readonly("note", &Compiled::note)
      .def_property_readonly("diagnostics",
                             [](const Compiled &c) { return describe(c.diagnostics); })
      .def_property_readonly("usage", &usageOf)
      .def("report", &report, py::arg("form") = "text")
      .def("summary", [](const Compiled &c) { return driver::summaryOf(c.kernels); });
  m.def("_compile", &compile, py::arg("module"), py::arg("arch"), py::arg("emit"),
        py::arg("verify"), py::arg("check_only"), py::arg("fill_bodies"), py::arg("line_info"),
        py::arg("usage"), py::arg("ptxas"), py::arg("source"));
  m.def("run_passes", &runPasses, py::arg("module"), py::arg("pipeline"),
        "Runs a pipeline in MLIR's spelling, for example \"builtin.module(ts-verify)\". Handles of "
        "ops of the module become stale. Ctrl-C leaves out the passes that have not begun.");
  m.def("pipeline_sides", &pipelineSides, py::arg("type"),
        "Who writes and who reads a pipeline of this type: 'async' (threads), 'tma', 'umma' or "
        "'clc'.");
  m.def(
      "chips_for",
      [](const Op &op) {
        auto kernel = llvm::dyn_cast<mlir::ts::KernelOp>(op.get());
        if (!kernel)
          throw Failure("expected a ts.kernel");
        // What was built op by op may lack the very attributes that are looked at.
        Gather gather(*kernel->getContext());
        if (mlir::failed(mlir::verify(kernel)))
          gather.fail("the kernel is not right");
        std::vector<std::string> names;
        for (llvm::StringRef name : mlir::ts::chipsFor(kernel))
          names.push_back(name.str());
        return names;
      },
      py::arg("kernel"),
      "The architectures that have everything a ts.kernel uses, oldest first; the table is that of "
      "TS227 and TS228.");
  m.def("explain", [](const std::string &check) {
    std::string suggestion;
    if (const ts::CheckInfo *info = ts::findCheck(check, &suggestion))
      return ts::explainCheck(*info);
    throw Failure("there is no check '" + check + "'" +
                  (suggestion.empty() ? "" : "; did you mean '" + suggestion + "'?"));
  });
}
