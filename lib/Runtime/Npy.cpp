// Reader and writer of .npy files (format versions 1 to 3).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/Npy.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace ts;

namespace {
constexpr char magic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
constexpr size_t maxRank = 32;

/// The header is the text of a Python dictionary; this reads exactly the three keys it may have.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  bool run() {
    if (!accept('{'))
      return false;
    bool hasType = false, hasOrder = false, hasShape = false;
    while (!accept('}')) {
      std::string key;
      if (!parseString(key) || !accept(':'))
        return false;
      if (key == "descr" && !hasType)
        hasType = parseString(descr);
      else if (key == "fortran_order" && !hasOrder)
        hasOrder = parseBool(fortranOrder);
      else if (key == "shape" && !hasShape)
        hasShape = parseShape();
      else
        return false;
      if (!accept(',') && !peek('}'))
        return false;
    }
    return hasType && hasOrder && hasShape;
  }

  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;

private:
  void skipSpace() {
    while (pos < text.size() && std::isspace(static_cast<unsigned char>(text[pos])))
      ++pos;
  }
  bool peek(char c) {
    skipSpace();
    return pos < text.size() && text[pos] == c;
  }
  bool accept(char c) {
    bool found = peek(c);
    pos += found;
    return found;
  }
  bool parseString(std::string &out) {
    char quote = peek('\'') ? '\'' : '"';
    if (!accept(quote))
      return false;
    size_t end = text.find(quote, pos);
    if (end == std::string_view::npos)
      return false;
    out = text.substr(pos, end - pos);
    pos = end + 1;
    return true;
  }
  bool parseBool(bool &out) {
    skipSpace();
    out = text.substr(pos, 4) == "True";
    bool known = out || text.substr(pos, 5) == "False";
    pos = std::min(text.size(), pos + (out ? 4 : 5));
    return known;
  }
  bool parseShape() {
    if (!accept('('))
      return false;
    while (!accept(')')) {
      skipSpace();
      int64_t value = 0;
      size_t begin = pos;
      for (; pos < text.size() && std::isdigit(static_cast<unsigned char>(text[pos])); ++pos)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text[pos] - '0', &value))
          return false;
      if (begin == pos || shape.size() == maxRank)
        return false;
      shape.push_back(value);
      if (!accept(',') && !peek(')'))
        return false;
    }
    return true;
  }

  std::string_view text;
  size_t pos = 0;
};

/// The element type a NumPy type code stands for, if NumPy has that type itself.
std::optional<ElementType> typeOfCode(const std::string &code) {
  static constexpr std::pair<const char *, ElementType> table[] = {
      {"f8", ElementType::F64}, {"f4", ElementType::F32}, {"f2", ElementType::F16},
      {"i8", ElementType::I64}, {"i4", ElementType::I32}, {"i2", ElementType::I16},
      {"i1", ElementType::I8},  {"u8", ElementType::U64}, {"u4", ElementType::U32},
      {"u2", ElementType::U16}, {"u1", ElementType::U8}};
  for (auto [name, type] : table)
    if (code == name)
      return type;
  return std::nullopt;
}

/// How writeNpy spells a type.
std::string codeOfType(ElementType type) {
  switch (type) {
  case ElementType::BF16:
    return "<V2";
  case ElementType::F8E4M3:
  case ElementType::F8E5M2:
  case ElementType::F8E8M0:
    return "|u1";
  default:
    return std::string(elementSize(type) == 1 ? "|" : "<") +
           (isFloat(type)    ? "f"
            : isSigned(type) ? "i"
                             : "u") +
           std::to_string(elementSize(type));
  }
}

/// Whether the file's elements are the array's bits.
bool sameBits(ElementType type, const std::string &code) {
  if (type == ElementType::BF16)
    return code == "V2" || code == "u2";
  if (isFloat(type) && elementBits(type) == 8)
    return code == "V1" || code == "u1";
  return typeOfCode(code) == type;
}

void fortranToC(NpyFile &file, int64_t size) {
  std::vector<uint8_t> result(file.data.size());
  int64_t count = static_cast<int64_t>(file.data.size()) / size;
  for (int64_t linear = 0; linear < count; ++linear) {
    int64_t rest = linear, from = 0, step = 1;
    // Row-major numbers vary fastest in the last dimension, column-major ones in the first.
    std::vector<int64_t> index(file.shape.size());
    for (size_t i = index.size(); i-- > 0;) {
      index[i] = rest % file.shape[i];
      rest /= file.shape[i];
    }
    for (size_t i = 0; i < index.size(); ++i) {
      from += index[i] * step;
      step *= file.shape[i];
    }
    std::memcpy(&result[linear * size], &file.data[from * size], static_cast<size_t>(size));
  }
  file.data = std::move(result);
}

Result<NpyFile> readStream(std::istream &in, const std::string &path) {
  auto bad = [&](const std::string &what) { return Error{path + ": " + what}; };
  uint8_t head[12];
  if (!in.read(reinterpret_cast<char *>(head), 10) || std::memcmp(head, magic, sizeof magic) != 0)
    return bad("is no .npy file");
  size_t length = head[8] | head[9] << 8;
  if (head[6] < 1 || head[6] > 3)
    return bad("has .npy format version " + std::to_string(head[6]) + ", expected 1, 2 or 3");
  if (head[6] > 1) {
    if (!in.read(reinterpret_cast<char *>(head) + 10, 2))
      return bad("ends inside its header");
    length |= static_cast<size_t>(head[10]) << 16 | static_cast<size_t>(head[11]) << 24;
  }
  if (length > (1u << 20))
    return bad("has a header of " + std::to_string(length) + " bytes, expected under a mebibyte");
  std::string text(length, ' ');
  if (!in.read(text.data(), static_cast<std::streamsize>(length)))
    return bad("ends inside its header");
  HeaderParser header(text);
  if (!header.run())
    return bad("has a header that is no plain array (descr, fortran_order, shape)");

  NpyFile file;
  file.shape = header.shape;
  const std::string &descr = header.descr;
  bool known = descr.size() == 3 && std::strchr("<|=", descr[0]) &&
               (typeOfCode(descr.substr(1)) || descr.substr(1) == "V2" || descr.substr(1) == "V1");
  if (!known)
    return bad("holds elements of type '" + descr +
               "', expected little-endian f2 f4 f8, i1 to i8, u1 to u8, V1 or V2");
  file.code = descr.substr(1);
  int64_t size = descr[2] - '0', total = size;
  bool empty = std::find(file.shape.begin(), file.shape.end(), 0) != file.shape.end();
  for (int64_t extent : file.shape)
    if (!empty && __builtin_mul_overflow(total, extent, &total))
      return bad("has the impossible shape " + shapeText(file.shape));
  if (empty)
    total = 0;
  // Read what is there rather than reserve what the header claims.
  constexpr int64_t chunk = int64_t(1) << 24;
  while (static_cast<int64_t>(file.data.size()) < total) {
    size_t old = file.data.size();
    auto want = static_cast<size_t>(std::min(chunk, total - static_cast<int64_t>(old)));
    file.data.resize(old + want);
    if (!in.read(reinterpret_cast<char *>(&file.data[old]), static_cast<std::streamsize>(want)))
      return bad("ends after " + std::to_string(static_cast<int64_t>(old) + in.gcount()) +
                 " bytes of data, expected " + std::to_string(total));
  }
  if (header.fortranOrder && file.shape.size() > 1)
    fortranToC(file, size);
  return file;
}
} // namespace

Result<NpyFile> ts::readNpy(const std::string &path) {
  if (path == "-")
    return readStream(std::cin, "the standard input");
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Error{path + ": cannot be read: " + std::strerror(errno)};
  return readStream(in, path);
}

Status ts::fillFromNpy(HostArray &array, const NpyFile &file, const std::string &path,
                       std::string &note) {
  if (file.shape != array.layout().shape)
    return Error{path + ": has shape " + shapeText(file.shape) + ", but array '" + array.name() +
                 "' is " + shapeText(array.layout().shape)};
  int64_t count = array.elementCount();
  ElementType type = array.type();
  // Two elements share a byte, which no NumPy type says: values come rounded from wider types.
  if (elementBits(type) >= 8 && sameBits(type, file.code)) {
    int64_t size = elementSize(type);
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(&array.image()[array.byteOffset(i)], &file.data[i * size],
                  static_cast<size_t>(size));
    return Done{};
  }
  std::optional<ElementType> from = typeOfCode(file.code);
  if (!from || !isFloat(type) || (elementBits(type) < 8 && !isFloat(*from)))
    return Error{path + ": holds elements of type " + file.code + ", but array '" + array.name() +
                 "' is " + elementTypeName(type)};
  int64_t size = elementSize(*from);
  for (int64_t i = 0; i < count; ++i)
    array.store(i, loadElement(*from, &file.data[i * size]));
  note = path + ": rounded from " + elementTypeName(*from) + " to " + elementTypeName(type);
  return Done{};
}

Status ts::writeNpy(const HostArray &array, const std::string &path) {
  if (elementBits(array.type()) < 8)
    return Error{path + ": array '" + array.name() + "' is " + elementTypeName(array.type()) +
                 ", which NumPy files cannot hold"};
  std::string header =
      "{'descr': '" + codeOfType(array.type()) + "', 'fortran_order': False, 'shape': (";
  const std::vector<int64_t> &shape = array.layout().shape;
  for (size_t i = 0; i < shape.size(); ++i)
    header += std::to_string(shape[i]) + (i + 1 < shape.size() ? ", "
                                          : shape.size() == 1  ? ","
                                                               : "");
  header += "), }";
  // The data begins at a multiple of 64 bytes; the header ends in a line feed.
  size_t prefix = sizeof magic + 4;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';

  std::ofstream file;
  if (path != "-") {
    file.open(path, std::ios::binary | std::ios::trunc);
    if (!file)
      return Error{path + ": cannot be written: " + std::strerror(errno)};
  }
  std::ostream &out = path == "-" ? std::cout : file;
  out.write(magic, sizeof magic);
  const char version[] = {1, 0, static_cast<char>(header.size() & 0xFF),
                          static_cast<char>(header.size() >> 8)};
  out.write(version, sizeof version);
  out << header;
  int64_t size = elementSize(array.type()), count = array.elementCount();
  std::vector<char> buffer;
  constexpr size_t flushAt = size_t(1) << 20;
  buffer.reserve(flushAt + 8);
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t *element = &array.image()[array.byteOffset(i)];
    buffer.insert(buffer.end(), element, element + size);
    if (buffer.size() >= flushAt || i + 1 == count) {
      out.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
      buffer.clear();
    }
  }
  out.flush();
  if (!out)
    return Error{path + ": cannot be written: " + std::strerror(errno)};
  return Done{};
}
