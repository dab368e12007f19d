// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Python holds of the IR: handles that keep the context and the module alive and that know
// when the op they stand for is gone, so that a stale handle is an exception and not a crash.
#ifndef TS_PYTHON_HANDLES_H
#define TS_PYTHON_HANDLES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "ts/Driver/Report.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace mlir_ts {

/// Becomes a Python exception; see Errors.cpp.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct EnvironmentFailure : Failure {
  using Failure::Failure;
};
/// With the diagnostics that say what is wrong.
struct DiagnosedFailure : Failure {
  DiagnosedFailure(const std::string &summary, std::vector<ts::reports::Diagnostic> diagnostics)
      : Failure(summary), diagnostics(std::move(diagnostics)) {}
  std::vector<ts::reports::Diagnostic> diagnostics;
};

/// An MLIR context with all dialects that a ts program may use.
class Context {
public:
  Context();
  mlir::MLIRContext &get() { return context; }

private:
  mlir::MLIRContext context;
};
using ContextRef = std::shared_ptr<Context>;

/// Gathers what the context says while it lives, instead of printing it.
class Gather {
public:
  explicit Gather(mlir::MLIRContext &context);
  ~Gather();
  std::vector<ts::reports::Diagnostic> take() const { return gathered.entries(); }
  mlir::ts::driver::DiagnosticLog &log() { return gathered; }
  /// Throws what was gathered, or `otherwise` if nothing was.
  [[noreturn]] void fail(const std::string &otherwise);

private:
  // The log sees a diagnostic first and passes it on to the handler that swallows it.
  mlir::MLIRContext &context;
  mlir::DiagnosticEngine::HandlerID silencer;
  mlir::ts::driver::DiagnosticLog gathered;
};

/// Stands for one op as long as it exists.
struct Node {
  mlir::Operation *op;
};
using NodeRef = std::shared_ptr<Node>;

class Module {
public:
  Module(ContextRef context, mlir::OwningOpRef<mlir::ModuleOp> op)
      : context(std::move(context)), op(std::move(op)) {}
  ~Module() { forgetAll(); }

  NodeRef node(mlir::Operation *of);
  /// After an op and everything in it was erased.
  void forget(mlir::Operation *erased);
  /// After a transformation: nothing that was known is sure to exist.
  void forgetAll();

  ContextRef context;
  mlir::OwningOpRef<mlir::ModuleOp> op;

private:
  llvm::DenseMap<mlir::Operation *, NodeRef> nodes;
};
using ModuleRef = std::shared_ptr<Module>;

/// A handle of an op; `get` throws when the op is gone.
struct Op {
  ModuleRef module;
  NodeRef node;
  mlir::Operation *get() const;
};
struct Value {
  Op owner; // the defining op, or the op around the block
  mlir::Value value;
  mlir::Value get() const {
    owner.get();
    return value;
  }
};
struct Block {
  Op owner; // the op around it
  mlir::Block *block;
  mlir::Block *get() const {
    owner.get();
    return block;
  }
};
struct Region {
  Op owner;
  unsigned index;
  mlir::Region &get() const { return owner.get()->getRegion(index); }
};
struct Type {
  ContextRef context;
  mlir::Type type;
};
struct Attribute {
  ContextRef context;
  mlir::Attribute attr;
};
struct Location {
  ContextRef context;
  mlir::LocationAttr loc;
};

Op handleOf(const ModuleRef &module, mlir::Operation *op);
Value handleOf(const ModuleRef &module, mlir::Value value);
Block handleOf(const ModuleRef &module, mlir::Block *block);

/// Prints anything that prints.
template <typename T> std::string printed(T &&thing) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  thing.print(stream);
  return text;
}

} // namespace mlir_ts

#endif // TS_PYTHON_HANDLES_H
