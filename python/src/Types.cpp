// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Context, types, attributes and locations. Types and attributes are read from text in MLIR's
// spelling; attributes also come from plain Python values.
#include "Bindings.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "ts/Support/Nesting.h"
#include "ts/Target/PTX/CrashGuard.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir_ts;

/// Parses what has to fill the whole text.
template <typename T, typename Parse>
static T parseWhole(const ContextRef &context, const std::string &text, const char *what,
                    Parse parse) {
  if (auto place = ts::findTooDeep(text))
    throw Failure(std::string("this ") + what + " is nested more than " +
                  std::to_string(ts::kMaxNesting) + " deep");
  Gather gather(context->get());
  T result;
  size_t read = 0;
  if (auto crash = mlir::ts::runGuarded([&] { result = parse(text, &context->get(), &read); }))
    throw Failure(std::string("MLIR's parser cannot read the ") + what + " '" + text + "'");
  if (!result) {
    // Places in a text of one line help nobody; the error is at the line of the caller.
    std::vector<ts::reports::Diagnostic> said = gather.take();
    std::string summary = "'" + text + "' is no " + what;
    for (ts::reports::Diagnostic &diagnostic : said) {
      diagnostic.place = {};
      if (!diagnostic.check) // those of a check say what they are about
        diagnostic.message = summary + ": " + diagnostic.message;
    }
    throw DiagnosedFailure(summary, std::move(said));
  }
  if (!llvm::StringRef(text).drop_front(read).trim().empty())
    throw Failure("there is more than one " + std::string(what) + " in '" + text + "'");
  return result;
}

mlir::Attribute mlir_ts::toAttribute(const ContextRef &context, const py::handle &value) {
  mlir::Builder builder(&context->get());
  if (value.is_none())
    return builder.getUnitAttr();
  if (py::isinstance<Attribute>(value))
    return value.cast<Attribute>().attr;
  if (py::isinstance<Type>(value))
    return mlir::TypeAttr::get(value.cast<Type>().type);
  if (py::isinstance<py::bool_>(value))
    return builder.getBoolAttr(value.cast<bool>());
  if (py::isinstance<py::int_>(value))
    return builder.getI64IntegerAttr(value.cast<int64_t>());
  if (py::isinstance<py::float_>(value))
    return builder.getF64FloatAttr(value.cast<double>());
  if (py::isinstance<py::str>(value))
    return builder.getStringAttr(value.cast<std::string>());
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    llvm::SmallVector<mlir::Attribute> elements;
    for (py::handle element : value)
      elements.push_back(toAttribute(context, element));
    return builder.getArrayAttr(elements);
  }
  if (py::isinstance<py::dict>(value)) {
    llvm::SmallVector<mlir::NamedAttribute> entries;
    for (auto entry : value.cast<py::dict>())
      entries.push_back(builder.getNamedAttr(entry.first.cast<std::string>(),
                                             toAttribute(context, entry.second)));
    return builder.getDictionaryAttr(entries);
  }
  throw py::type_error("a " + std::string(py::str(py::type::of(value).attr("__name__"))) +
                       " is no attribute: expected Attribute, Type, bool, int, float, str, list, "
                       "dict or None (unit)");
}

static py::object fromAttribute(const Attribute &self) {
  return llvm::TypeSwitch<mlir::Attribute, py::object>(self.attr)
      .Case([](mlir::BoolAttr attr) -> py::object { return py::bool_(attr.getValue()); })
      .Case([](mlir::IntegerAttr attr) -> py::object {
        return py::int_(attr.getValue().isSignedIntN(64) ? attr.getValue().getSExtValue()
                                                         : attr.getValue().getLimitedValue());
      })
      .Case([](mlir::FloatAttr attr) -> py::object { return py::float_(attr.getValueAsDouble()); })
      .Case([](mlir::StringAttr attr) -> py::object { return py::str(attr.getValue().str()); })
      .Case([&](mlir::TypeAttr attr) -> py::object {
        return py::cast(Type{self.context, attr.getValue()});
      })
      .Case([&](mlir::ArrayAttr attr) -> py::object {
        py::list list;
        for (mlir::Attribute element : attr)
          list.append(fromAttribute({self.context, element}));
        return list;
      })
      .Default([&](mlir::Attribute) { return py::cast(self); });
}

static Location fileLocation(const ContextRef &context, const std::string &file, unsigned line,
                             unsigned column) {
  return {context, mlir::FileLineColLoc::get(&context->get(), file, line, column)};
}

void mlir_ts::bindTypes(py::module_ &m) {
  py::class_<Context, ContextRef>(m, "Context",
                                  "Owns types, attributes and modules; has all dialects of ts.")
      .def(py::init<>())
      .def("__repr__", [](const ContextRef &) { return "<Context>"; });

  py::class_<Type>(m, "Type", "An MLIR type, for example Type.parse(context, \"memref<8xf32>\").")
      .def_static(
          "parse",
          [](const ContextRef &context, const std::string &text) {
            auto parse = [](llvm::StringRef t, mlir::MLIRContext *c, size_t *n) {
              return mlir::parseType(t, c, n);
            };
            return Type{context, parseWhole<mlir::Type>(context, text, "type", parse)};
          },
          py::arg("context"), py::arg("text"), "The type that `text` spells; raises CompileError.")
      .def_property_readonly("context", [](const Type &t) { return t.context; })
      .def_property_readonly(
          "shape",
          [](const Type &t) -> py::object {
            auto shaped = llvm::dyn_cast<mlir::ShapedType>(t.type);
            if (!shaped || !shaped.hasRank())
              return py::none();
            py::list shape;
            for (int64_t dim : shaped.getShape())
              shape.append(mlir::ShapedType::isDynamic(dim) ? py::object(py::none())
                                                            : py::object(py::int_(dim)));
            return shape;
          },
          "Sizes of a memref, vector or tensor, None for dynamic ones; None for other types.")
      .def_property_readonly(
          "element",
          [](const Type &t) -> py::object {
            if (auto shaped = llvm::dyn_cast<mlir::ShapedType>(t.type))
              return py::cast(Type{t.context, shaped.getElementType()});
            return py::none();
          },
          "Element type of a memref, vector or tensor; None for other types.")
      .def_property_readonly("is_integer",
                             [](const Type &t) { return llvm::isa<mlir::IntegerType>(t.type); })
      .def_property_readonly("is_index",
                             [](const Type &t) { return llvm::isa<mlir::IndexType>(t.type); })
      .def_property_readonly("is_float",
                             [](const Type &t) { return llvm::isa<mlir::FloatType>(t.type); })
      .def_property_readonly("width",
                             [](const Type &t) -> py::object {
                               if (!t.type.isIntOrFloat())
                                 return py::none();
                               return py::int_(t.type.getIntOrFloatBitWidth());
                             })
      .def("__str__", [](const Type &t) { return printed(t.type); })
      .def("__repr__", [](const Type &t) { return "Type(" + printed(t.type) + ")"; })
      .def("__eq__", [](const Type &a, const Type &b) { return a.type == b.type; })
      .def("__eq__", [](const Type &, const py::object &) { return false; })
      .def("__hash__", [](const Type &t) { return size_t(mlir::hash_value(t.type)); });

  py::class_<Attribute>(m, "Attribute", "An MLIR attribute.")
      .def_static(
          "parse",
          [](const ContextRef &context, const std::string &text) {
            auto parse = [](llvm::StringRef t, mlir::MLIRContext *c, size_t *n) {
              return mlir::parseAttribute(t, c, mlir::Type(), n);
            };
            return Attribute{context,
                             parseWhole<mlir::Attribute>(context, text, "attribute", parse)};
          },
          py::arg("context"), py::arg("text"), "The attribute that `text` spells.")
      .def_static(
          "of",
          [](const ContextRef &context, const py::object &value) {
            return Attribute{context, toAttribute(context, value)};
          },
          py::arg("context"), py::arg("value"),
          "From bool, int (i64), float (f64), str, list, dict, None (unit) or Type.")
      .def_static(
          "integer",
          [](const Type &type, int64_t value) {
            if (!type.type.isIntOrIndex())
              throw Failure("an integer attribute wants an integer type or index, not " +
                            printed(type.type));
            return Attribute{type.context, mlir::IntegerAttr::get(type.type, value)};
          },
          py::arg("type"), py::arg("value"))
      .def_static(
          "float",
          [](const Type &type, double value) {
            if (!llvm::isa<mlir::FloatType>(type.type))
              throw Failure("a float attribute wants a float type, not " + printed(type.type));
            return Attribute{type.context, mlir::FloatAttr::get(type.type, value)};
          },
          py::arg("type"), py::arg("value"))
      .def_static(
          "array_i32",
          [](const ContextRef &context, const std::vector<int32_t> &values) {
            return Attribute{context, mlir::DenseI32ArrayAttr::get(&context->get(), values)};
          },
          py::arg("context"), py::arg("values"))
      .def_static(
          "array_i64",
          [](const ContextRef &context, const std::vector<int64_t> &values) {
            return Attribute{context, mlir::DenseI64ArrayAttr::get(&context->get(), values)};
          },
          py::arg("context"), py::arg("values"))
      .def_property_readonly("value", &fromAttribute,
                             "As a Python value where there is one, else the attribute itself.")
      .def("__str__", [](const Attribute &a) { return printed(a.attr); })
      .def("__repr__", [](const Attribute &a) { return "Attribute(" + printed(a.attr) + ")"; })
      .def("__eq__", [](const Attribute &a, const Attribute &b) { return a.attr == b.attr; })
      .def("__eq__", [](const Attribute &, const py::object &) { return false; })
      .def("__hash__", [](const Attribute &a) { return size_t(mlir::hash_value(a.attr)); });

  py::class_<Location>(m, "Location", "Where an op comes from; diagnostics point there.")
      .def_static("file", &fileLocation, py::arg("context"), py::arg("file"), py::arg("line"),
                  py::arg("column") = 0)
      .def_static(
          "unknown",
          [](const ContextRef &context) {
            return Location{context, mlir::UnknownLoc::get(&context->get())};
          },
          py::arg("context"))
      .def_static(
          "named",
          [](const Location &at, const std::string &name) {
            auto text = mlir::StringAttr::get(&at.context->get(), name);
            return Location{at.context, mlir::NameLoc::get(text, at.loc)};
          },
          py::arg("at"), py::arg("name"), "A location that also has a name.")
      .def_property_readonly(
          "place",
          [](const Location &l) -> py::object {
            if (auto file = mlir::LocationAttr(l.loc).findInstanceOf<mlir::FileLineColLoc>())
              return py::make_tuple(file.getFilename().str(), file.getLine(), file.getColumn());
            return py::none();
          },
          "(file, line, column), or None")
      .def("__str__", [](const Location &l) { return printed(l.loc); })
      .def("__repr__", [](const Location &l) { return "Location(" + printed(l.loc) + ")"; });
}
