// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Creating ops, any op of any dialect that the context has: where, from what, and which results.
// The named builders of ts ops (mlir_ts/ops.py, generated from ODS) call this one.
#include "Bindings.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir_ts;

namespace {
/// Where new ops go: before an op, or at the end of a block.
struct InsertionPoint {
  Block block;
  std::optional<Op> before;

  mlir::Block::iterator iterator() const {
    mlir::Block *in = block.get();
    if (!before)
      return in->end();
    mlir::Operation *op = before->get();
    if (op->getBlock() != in)
      throw Failure("the op of this insertion point was moved to another block");
    return op->getIterator();
  }
};
} // namespace

/// The types of the results by the op's own rule.
static void inferTypes(mlir::OperationState &state, mlir::MLIRContext *context) {
  std::string name = state.name.getStringRef().str();
  std::optional<mlir::RegisteredOperationName> info = state.name.getRegisteredInfo();
  if (!info->hasInterface<mlir::InferTypeOpInterface>()) {
    if (info->hasTrait<mlir::OpTrait::ZeroResults>())
      return;
    throw Failure("the results of '" + name +
                  "' do not follow from its operands: give their types");
  }
  std::vector<char> storage(info->getOpPropertyByteSize());
  mlir::OpaqueProperties properties(storage.data());
  mlir::DictionaryAttr attributes = state.attributes.getDictionary(context);
  Gather gather(*context);
  if (!storage.empty()) {
    info->initOpProperties(properties, mlir::OpaqueProperties(nullptr));
    auto emitError = [&] { return mlir::emitError(state.location); };
    if (mlir::failed(info->setOpPropertiesFromAttribute(*info, properties, attributes, emitError)))
      gather.fail("'" + name + "' does not take these attributes");
  }
  llvm::SmallVector<mlir::Type> types;
  mlir::LogicalResult inferred = info->getInterface<mlir::InferTypeOpInterface>()->inferReturnTypes(
      context, state.location, state.operands, attributes, properties, state.regions, types);
  if (!storage.empty())
    info->destroyOpProperties(properties);
  if (mlir::failed(inferred))
    gather.fail(
        "the types of the results of '" + name +
        "' do not follow from its operands and attributes: one is missing or does not fit, or "
        "the types have to be given");
  state.addTypes(types);
}

static Op create(const InsertionPoint &at, const std::string &name,
                 const std::vector<Value> &operands,
                 const std::optional<std::vector<Type>> &results, const py::dict &attributes,
                 unsigned regions, const Location &location, const std::vector<Block> &successors) {
  const ModuleRef &module = at.block.owner.module;
  mlir::MLIRContext *context = &module->context->get();
  mlir::Block::iterator where = at.iterator();
  mlir::OperationState state(location.loc, name);
  if (!state.name.isRegistered()) {
    // Errors of spelling are common; name what is near.
    std::string nearest;
    unsigned best = 4;
    for (mlir::RegisteredOperationName known : context->getRegisteredOperations()) {
      unsigned distance = known.getStringRef().edit_distance(name, true, best);
      if (distance < best) {
        best = distance;
        nearest = known.getStringRef().str();
      }
    }
    throw Failure("there is no op '" + name + "'" +
                  (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  }
  for (const Value &operand : operands) {
    if (operand.owner.module != module)
      throw Failure("an operand of '" + name + "' belongs to another module");
    state.operands.push_back(operand.get());
  }
  for (auto entry : attributes)
    state.addAttribute(entry.first.cast<std::string>(), toAttribute(module->context, entry.second));
  if (results)
    for (const Type &type : *results)
      state.types.push_back(type.type);
  else
    inferTypes(state, context);
  for (unsigned i = 0; i < regions; ++i)
    state.addRegion();
  for (const Block &successor : successors)
    state.addSuccessors(successor.get());
  Gather gather(*context);
  mlir::Operation *op = mlir::Operation::create(state);
  at.block.get()->getOperations().insert(where, op);
  return handleOf(module, op);
}

void mlir_ts::bindBuilder(py::module_ &m) {
  py::class_<InsertionPoint>(m, "InsertionPoint", "Where new ops go.")
      .def_static(
          "at_end", [](const Block &block) { return InsertionPoint{block, std::nullopt}; },
          py::arg("block"))
      .def_static(
          "before",
          [](const Op &op) {
            if (!op.get()->getBlock())
              throw Failure("the op is in no block");
            return InsertionPoint{handleOf(op.module, op.get()->getBlock()), op};
          },
          py::arg("op"))
      .def_property_readonly("block", [](const InsertionPoint &p) { return p.block; })
      .def("__repr__", [](const InsertionPoint &p) {
        std::string in = p.block.owner.get()->getName().getStringRef().str();
        return "<InsertionPoint " +
               (p.before ? "before " + p.before->get()->getName().getStringRef().str()
                         : "at the end of a block") +
               " in " + in + ">";
      });
  m.def("create", &create, py::arg("at"), py::arg("name"), py::arg("operands") = py::list(),
        py::arg("results") = py::none(), py::arg("attributes") = py::dict(), py::arg("regions") = 0,
        py::arg("location"), py::arg("successors") = py::list(),
        "Creates any op. Without `results` their types follow from the operands, where the op has "
        "such a rule. Nothing is verified here: Operation.verify and Module.verify do.");
}
