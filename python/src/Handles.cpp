// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Handles.h"
#include "ts/Driver/Compiler.h"

using namespace mlir_ts;

Context::Context()
    : context(mlir::ts::driver::compilerDialects(), mlir::MLIRContext::Threading::DISABLED) {
  context.printOpOnDiagnostic(false);
  context.loadAllAvailableDialects();
}

Gather::Gather(mlir::MLIRContext &context)
    : context(context), silencer(context.getDiagEngine().registerHandler(
                            [](mlir::Diagnostic &) { return mlir::success(); })),
      gathered(context) {}

Gather::~Gather() { context.getDiagEngine().eraseHandler(silencer); }

void Gather::fail(const std::string &otherwise) {
  std::vector<ts::reports::Diagnostic> diagnostics = take();
  throw DiagnosedFailure(otherwise, std::move(diagnostics));
}

NodeRef Module::node(mlir::Operation *of) {
  NodeRef &known = nodes[of];
  if (!known)
    known = std::make_shared<Node>(Node{of});
  return known;
}

void Module::forget(mlir::Operation *erased) {
  erased->walk([&](mlir::Operation *inner) {
    auto known = nodes.find(inner);
    if (known == nodes.end())
      return;
    known->second->op = nullptr;
    nodes.erase(known);
  });
}

void Module::forgetAll() {
  for (auto &[op, node] : nodes)
    node->op = nullptr;
  nodes.clear();
}

mlir::Operation *Op::get() const {
  if (!node->op)
    throw Failure(
        "this op is gone: it was erased, or its module was transformed by a pass; ask the "
        "module for its ops again");
  return node->op;
}

Op mlir_ts::handleOf(const ModuleRef &module, mlir::Operation *op) {
  return {module, module->node(op)};
}

Value mlir_ts::handleOf(const ModuleRef &module, mlir::Value value) {
  mlir::Operation *owner = value.getDefiningOp();
  if (!owner)
    owner = value.getParentBlock()->getParentOp();
  return {handleOf(module, owner), value};
}

Block mlir_ts::handleOf(const ModuleRef &module, mlir::Block *block) {
  return {handleOf(module, block->getParentOp()), block};
}
