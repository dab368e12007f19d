// Functions that the system provides to device code: vprintf, __assertfail; malloc and free are
// refused. Source: CUDA C++ Programming Guide, "Formatted Output", "Assertion". SPDX-License-
// Identifier: Apache-2.0 WITH LLVM-exception
#include "../Core/Decode.h"

namespace ts::emu {
namespace {

uint64_t argument(Exec &x, unsigned lane, const std::vector<uint32_t> &offsets, size_t i,
                  unsigned bytes) {
  uint64_t value = 0;
  if (i < offsets.size())
    memcpy(&value, localBytes(x, lane, x.split.frame->localBase + offsets[i], bytes), bytes);
  return value;
}

std::string stringAt(Exec &x, unsigned lane, uint64_t address) {
  constexpr size_t longest = 1 << 16;
  std::string text;
  if (!address)
    return "(null)";
  for (char c; text.size() < longest; text += c) {
    load(x, lane, Space::Generic, address + text.size(), 1, &c);
    if (!c)
      break;
  }
  return text;
}

/// The values behind the format, each at its natural alignment.
class Values {
public:
  Values(Exec &x, unsigned lane, uint64_t address) : x(x), lane(lane), next(address) {}
  uint64_t take(unsigned bytes) {
    next = (next + bytes - 1) / bytes * bytes;
    uint64_t value = 0;
    load(x, lane, Space::Generic, next, bytes, &value);
    next += bytes;
    ++count;
    return value;
  }
  unsigned count = 0;

private:
  Exec &x;
  unsigned lane;
  uint64_t next;
};

class Formatter {
public:
  Formatter(Exec &x, unsigned lane, std::string text, uint64_t values)
      : x(x), lane(lane), text(std::move(text)), values(x, lane, values) {}

  std::string run() {
    while (at < text.size())
      if (text[at] == '%')
        conversion();
      else
        out += text[at++];
    return std::move(out);
  }
  unsigned count() const { return values.count; }

private:
  char peek() const { return at < text.size() ? text[at] : '\0'; }

  /// Digits, or a star that takes an int.
  void number(std::string &spec) {
    if (peek() == '*') {
      ++at;
      spec += std::to_string(int32_t(uint32_t(values.take(4))));
      return;
    }
    while (peek() >= '0' && peek() <= '9')
      spec += text[at++];
  }

  template <class T> void print(const std::string &spec, T value) {
    int size = snprintf(nullptr, 0, spec.c_str(), value);
    if (size < 0 || size > 1 << 20)
      return;
    std::string piece(size_t(size) + 1, '\0');
    snprintf(piece.data(), piece.size(), spec.c_str(), value);
    piece.pop_back();
    out += piece;
  }

  void conversion() {
    size_t start = at++;
    std::string spec = "%";
    while (peek() && strchr("-+ #0", peek()))
      spec += text[at++];
    number(spec);
    if (peek() == '.') {
      spec += text[at++];
      number(spec);
    }
    unsigned longs = 0, shorts = 0;
    for (; peek() && strchr("hlLzjtq", peek()); ++at)
      (peek() == 'h' ? shorts : longs) += 1;
    char kind = peek();
    ++at;
    switch (kind) {
    case '%':
      out += '%';
      return;
    case 'd':
    case 'i': {
      int64_t value = longs ? int64_t(values.take(8)) : int32_t(uint32_t(values.take(4)));
      value = shorts >= 2 ? int8_t(value) : shorts ? int16_t(value) : value;
      print(spec + "lld", (long long)value);
      return;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
      uint64_t value = values.take(longs ? 8 : 4);
      value = shorts >= 2 ? uint8_t(value) : shorts ? uint16_t(value) : value;
      print(spec + "ll" + kind, (unsigned long long)value);
      return;
    }
    case 'c':
      print(spec + "c", int(values.take(4)));
      return;
    case 's':
      print(spec + "s", stringAt(x, lane, values.take(8)).c_str());
      return;
    case 'p':
      print(spec + "p", reinterpret_cast<void *>(values.take(8)));
      return;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      print(spec + kind, std::bit_cast<double>(values.take(8)));
      return;
    default: // not a conversion: as it stands
      at = std::min(at, text.size());
      out += text.substr(start, at - start);
    }
  }

  Exec &x;
  unsigned lane;
  std::string text;
  Values values;
  std::string out;
  size_t at = 0;
};

// int vprintf(const char *format, const void *values)
void builtinPrintf(Exec &x, const std::vector<uint32_t> &arguments,
                   const std::vector<uint32_t> &results) {
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!x.active(lane))
      continue;
    Formatter formatter(x, lane, stringAt(x, lane, argument(x, lane, arguments, 0, 8)),
                        argument(x, lane, arguments, 1, 8));
    x.machine.print(formatter.run());
    uint32_t count = formatter.count();
    if (!results.empty())
      memcpy(localBytes(x, lane, x.split.frame->localBase + results[0], 4), &count, 4);
  }
}

// void __assertfail(const char *message, const char *file, unsigned line, const char *function,
//                   size_t charSize)
void builtinAssert(Exec &x, const std::vector<uint32_t> &arguments, const std::vector<uint32_t> &) {
  unsigned lane = x.firstLane();
  auto text = [&](size_t i) { return stringAt(x, lane, argument(x, lane, arguments, i, 8)); };
  fault(FaultKind::Trap, "%s:%u: %s: assertion '%s' failed in lane %u", text(1).c_str(),
        unsigned(argument(x, lane, arguments, 2, 4)), text(3).c_str(), text(0).c_str(), lane);
}

void builtinHeap(Exec &, const std::vector<uint32_t> &, const std::vector<uint32_t> &) {
  fault(FaultKind::Unsupported, "malloc and free in device code are not executed: there is no "
                                "device heap; allocate before the launch and pass a pointer");
}
} // namespace

Builtin findBuiltin(std::string_view name) {
  if (name == "vprintf")
    return builtinPrintf;
  if (name == "__assertfail" || name == "__assert_fail")
    return builtinAssert;
  if (name == "malloc" || name == "free")
    return builtinHeap;
  return nullptr;
}

} // namespace ts::emu
