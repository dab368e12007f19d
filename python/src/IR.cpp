// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules, ops, values, blocks and regions: reading and changing them.
#include "Bindings.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "ts/Support/Nesting.h"
#include "ts/Target/PTX/CrashGuard.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir_ts;

static ModuleRef parseModule(const ContextRef &context, const std::string &text,
                             const std::string &file) {
  if (auto place = ts::findTooDeep(text))
    throw Failure(file + ":" + std::to_string(place->line) + ": brackets are nested more than " +
                  std::to_string(ts::kMaxNesting) + " deep; no program needs that");
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, file), llvm::SMLoc());
  Gather gather(context->get());
  mlir::ParserConfig config(&context->get());
  mlir::OwningOpRef<mlir::ModuleOp> op;
  if (auto crash = mlir::ts::runGuarded(
          [&] { op = mlir::parseSourceFile<mlir::ModuleOp>(sources, config); }))
    throw Failure(file + ": MLIR's parser cannot read this text: " + *crash);
  if (!op)
    gather.fail("the module does not parse");
  return std::make_shared<Module>(context, std::move(op));
}

static void verify(const Op &op) {
  Gather gather(op.module->context->get());
  if (mlir::failed(mlir::verify(op.get())))
    gather.fail("the op does not verify");
}

static std::string textOf(const Op &op, bool locations, bool generic) {
  mlir::OpPrintingFlags flags;
  if (locations)
    flags.enableDebugInfo(true, false);
  if (generic)
    flags.printGenericOpForm();
  std::string text;
  llvm::raw_string_ostream stream(text);
  op.get()->print(stream, flags);
  return text;
}

static void erase(const Op &op) {
  mlir::Operation *gone = op.get();
  if (!gone->getParentOp())
    throw Failure("the module itself cannot be erased");
  for (mlir::Value result : gone->getResults())
    if (!result.use_empty())
      throw Failure("'" + gone->getName().getStringRef().str() +
                    "' cannot be erased: its result is still used by '" +
                    (*result.getUsers().begin())->getName().getStringRef().str() + "'");
  op.module->forget(gone);
  gone->erase();
}

template <typename Range> static auto handles(const ModuleRef &module, Range &&range) {
  std::vector<decltype(handleOf(module, *std::begin(range)))> list;
  for (auto thing : range)
    list.push_back(handleOf(module, thing));
  return list;
}

static void bindValues(py::module_ &m) {
  py::class_<Value>(m, "Value", "A result of an op, or an argument of a block.")
      .def_property_readonly(
          "type", [](const Value &v) { return Type{v.owner.module->context, v.get().getType()}; })
      .def_property_readonly(
          "owner",
          [](const Value &v) -> py::object {
            if (v.get().getDefiningOp())
              return py::cast(v.owner);
            return py::cast(Block{v.owner, v.get().getParentBlock()});
          },
          "The op whose result this is, or the block whose argument it is.")
      .def_property_readonly("index",
                             [](const Value &v) -> unsigned {
                               if (auto result = llvm::dyn_cast<mlir::OpResult>(v.get()))
                                 return result.getResultNumber();
                               return llvm::cast<mlir::BlockArgument>(v.get()).getArgNumber();
                             })
      .def_property_readonly(
          "users",
          [](const Value &v) {
            return handles(v.owner.module, llvm::map_range(v.get().getUsers(),
                                                           [](mlir::Operation *op) { return op; }));
          })
      .def(
          "replace_all_uses_with",
          [](const Value &v, const Value &with) {
            if (v.get().getType() != with.get().getType())
              throw Failure("a value of type " + printed(v.get().getType()) +
                            " cannot be replaced by one of type " + printed(with.get().getType()));
            v.get().replaceAllUsesWith(with.get());
          },
          py::arg("other"), "All ops that use this value use the other one instead.")
      .def("__eq__", [](const Value &a, const Value &b) { return a.value == b.value; })
      .def("__eq__", [](const Value &, const py::object &) { return false; })
      .def("__hash__", [](const Value &v) { return size_t(mlir::hash_value(v.value)); })
      .def("__str__", [](const Value &v) { return printed(v.get()); })
      .def("__repr__",
           [](const Value &v) { return "<Value of type " + printed(v.get().getType()) + ">"; });

  py::class_<Block>(m, "Block", "A list of ops with arguments.")
      .def_property_readonly("arguments",
                             [](const Block &b) {
                               std::vector<Value> list;
                               for (mlir::BlockArgument argument : b.get()->getArguments())
                                 list.push_back(handleOf(b.owner.module, mlir::Value(argument)));
                               return list;
                             })
      .def_property_readonly("operations",
                             [](const Block &b) {
                               std::vector<Op> list;
                               for (mlir::Operation &op : *b.get())
                                 list.push_back(handleOf(b.owner.module, &op));
                               return list;
                             })
      .def_property_readonly("owner", [](const Block &b) { return b.owner; })
      .def(
          "add_argument",
          [](const Block &b, const Type &type, const Location &location) {
            return handleOf(b.owner.module,
                            mlir::Value(b.get()->addArgument(type.type, location.loc)));
          },
          py::arg("type"), py::arg("location"), "Appends an argument and returns it.")
      .def("__len__", [](const Block &b) { return b.get()->getOperations().size(); })
      .def("__eq__", [](const Block &a, const Block &b) { return a.block == b.block; })
      .def("__eq__", [](const Block &, const py::object &) { return false; })
      .def("__hash__", [](const Block &b) { return std::hash<void *>()(b.block); })
      .def("__repr__", [](const Block &b) {
        return "<Block of " + std::to_string(b.get()->getOperations().size()) + " ops in " +
               b.owner.get()->getName().getStringRef().str() + ">";
      });

  py::class_<Region>(m, "Region", "A list of blocks.")
      .def_property_readonly("owner", [](const Region &r) { return r.owner; })
      .def_property_readonly("blocks",
                             [](const Region &r) {
                               std::vector<Block> list;
                               for (mlir::Block &block : r.get())
                                 list.push_back(handleOf(r.owner.module, &block));
                               return list;
                             })
      .def(
          "add_block",
          [](const Region &r, const std::vector<Type> &types, const Location &location) {
            auto *block = new mlir::Block;
            r.get().push_back(block);
            for (const Type &type : types)
              block->addArgument(type.type, location.loc);
            return handleOf(r.owner.module, block);
          },
          py::arg("types"), py::arg("location"), "Appends a block with arguments of these types.")
      .def(
          "take",
          [](const Region &r, const Region &from) {
            if (r.owner.module != from.owner.module)
              throw Failure("a region can only take the blocks of one in the same module");
            r.get().takeBody(from.get());
          },
          py::arg("other"), "Moves the blocks of another region here, instead of its own.")
      .def("__repr__", [](const Region &r) {
        return "<Region " + std::to_string(r.index) + " of " +
               r.owner.get()->getName().getStringRef().str() + ">";
      });
}

void mlir_ts::bindIR(py::module_ &m) {
  // The classes first: signatures in help() then name them.
  py::class_<Module, ModuleRef> module(m, "Module", "A builtin.module and what is in it.");
  py::class_<Op> op(m, "Operation", "Any op. A handle whose op is gone raises Error.");
  bindValues(m);

  module
      .def_static("parse", &parseModule, py::arg("context"), py::arg("text"),
                  py::arg("file") = "<text>", "Reads a module; raises CompileError.")
      .def_static(
          "create",
          [](const ContextRef &context, const std::optional<Location> &location) {
            mlir::Location at =
                location ? mlir::Location(location->loc) : mlir::UnknownLoc::get(&context->get());
            return std::make_shared<Module>(context, mlir::ModuleOp::create(at));
          },
          py::arg("context"), py::arg("location") = py::none(), "An empty module.")
      .def_property_readonly("context", [](const ModuleRef &self) { return self->context; })
      .def_property_readonly(
          "operation",
          [](const ModuleRef &self) { return handleOf(self, self->op->getOperation()); })
      .def_property_readonly(
          "body", [](const ModuleRef &self) { return handleOf(self, self->op->getBody()); })
      .def(
          "clone",
          [](const ModuleRef &self) {
            return std::make_shared<Module>(self->context,
                                            mlir::OwningOpRef<mlir::ModuleOp>(self->op->clone()));
          },
          "A copy in the same context.")
      .def(
          "verify", [](const ModuleRef &self) { verify(handleOf(self, self->op->getOperation())); },
          "Raises CompileError with what is wrong.")
      .def("__str__",
           [](const ModuleRef &self) {
             return textOf(handleOf(self, self->op->getOperation()), false, false);
           })
      .def("__repr__", [](const ModuleRef &self) {
        return "<Module of " + std::to_string(self->op->getBody()->getOperations().size()) +
               " ops>";
      });

  op.def_property_readonly("name",
                           [](const Op &o) { return o.get()->getName().getStringRef().str(); })
      .def_property_readonly("module", [](const Op &o) { return o.module; })
      .def_property_readonly("context", [](const Op &o) { return o.module->context; })
      .def_property_readonly("operands",
                             [](const Op &o) { return handles(o.module, o.get()->getOperands()); })
      .def_property_readonly("results",
                             [](const Op &o) {
                               std::vector<Value> list;
                               for (mlir::OpResult result : o.get()->getResults())
                                 list.push_back(handleOf(o.module, mlir::Value(result)));
                               return list;
                             })
      .def_property_readonly(
          "result",
          [](const Op &o) {
            if (o.get()->getNumResults() != 1)
              throw Failure("'" + o.get()->getName().getStringRef().str() + "' has " +
                            std::to_string(o.get()->getNumResults()) +
                            " results; 'result' wants one, use 'results'");
            return handleOf(o.module, mlir::Value(o.get()->getResult(0)));
          },
          "The only result.")
      .def_property_readonly("regions",
                             [](const Op &o) {
                               std::vector<Region> list;
                               for (unsigned i = 0; i < o.get()->getNumRegions(); ++i)
                                 list.push_back({o, i});
                               return list;
                             })
      .def_property_readonly(
          "attributes",
          [](const Op &o) {
            // Inherent ones (properties) and discardable ones alike.
            py::dict dict;
            mlir::Operation *op = o.get();
            for (mlir::NamedAttribute attr : op->getAttrs())
              dict[py::str(attr.getName().str())] = Attribute{o.module->context, attr.getValue()};
            if (auto all =
                    llvm::dyn_cast_or_null<mlir::DictionaryAttr>(op->getPropertiesAsAttribute()))
              for (mlir::NamedAttribute attr : all)
                dict[py::str(attr.getName().str())] = Attribute{o.module->context, attr.getValue()};
            return dict;
          },
          "A copy of the attributes by name; set_attribute changes them.")
      .def(
          "set_attribute",
          [](const Op &o, const std::string &name, const py::object &value) {
            o.get()->setAttr(name, toAttribute(o.module->context, value));
          },
          py::arg("name"), py::arg("value"),
          "Sets an attribute, given as an Attribute, a Type or a plain Python value.")
      .def(
          "remove_attribute",
          [](const Op &o, const std::string &name) { o.get()->removeAttr(name); }, py::arg("name"),
          "Removes an attribute, if it is there.")
      .def(
          "set_operand",
          [](const Op &o, unsigned index, const Value &value) {
            if (index >= o.get()->getNumOperands())
              throw py::index_error("there is no operand " + std::to_string(index));
            o.get()->setOperand(index, value.get());
          },
          py::arg("index"), py::arg("value"), "Replaces one operand.")
      .def_property(
          "location", [](const Op &o) { return Location{o.module->context, o.get()->getLoc()}; },
          [](const Op &o, const Location &location) { o.get()->setLoc(location.loc); },
          "Where the op comes from; diagnostics point there.")
      .def_property_readonly("parent",
                             [](const Op &o) -> py::object {
                               mlir::Operation *parent = o.get()->getParentOp();
                               return parent ? py::cast(handleOf(o.module, parent)) : py::none();
                             })
      .def_property_readonly("block",
                             [](const Op &o) -> py::object {
                               mlir::Block *block = o.get()->getBlock();
                               return block ? py::cast(handleOf(o.module, block)) : py::none();
                             })
      .def("verify", &verify, "Raises CompileError with what is wrong.")
      .def("erase", &erase, "Erases the op; its results must not be used.")
      .def(
          "walk",
          [](const Op &o) {
            std::vector<Op> list;
            o.get()->walk<mlir::WalkOrder::PreOrder>(
                [&](mlir::Operation *inner) { list.push_back(handleOf(o.module, inner)); });
            return list;
          },
          "This op and all ops in it, outer ones first.")
      .def("text", &textOf, py::arg("locations") = false, py::arg("generic") = false,
           "The op as MLIR text.")
      .def("__str__", [](const Op &o) { return textOf(o, false, false); })
      .def("__repr__",
           [](const Op &o) {
             return o.node->op ? "<Operation " + o.get()->getName().getStringRef().str() + ">"
                               : std::string("<Operation, gone>");
           })
      .def("__eq__", [](const Op &a, const Op &b) { return a.node == b.node; })
      .def("__eq__", [](const Op &, const py::object &) { return false; })
      .def("__hash__", [](const Op &o) { return std::hash<void *>()(o.node.get()); });
}
