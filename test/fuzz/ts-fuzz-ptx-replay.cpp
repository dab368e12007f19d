// Replays PTX texts and mutants of each through the emulator, for the sanitizer build. A mutant
// changes tokens rather than bytes, so most of them still parse. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#include "PtxFuzz.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace {

std::vector<std::string> splitLines(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Replaces a run of digits, a word's modifier or a whole line.
std::string mutate(const std::string &text, std::mt19937_64 &random) {
  static const char *const numbers[] = {"0",
                                        "1",
                                        "3",
                                        "16",
                                        "31",
                                        "32",
                                        "64",
                                        "255",
                                        "1024",
                                        "65535",
                                        "2147483648",
                                        "4294967295",
                                        "18446744073709551615",
                                        "-1",
                                        "-8"};
  static const char *const modifiers[] = {
      ".b32",     ".u64",    ".s8",           ".f16",
      ".v4",      ".shared", ".global",       ".sync",
      ".aligned", ".async",  ".x1",           ".x128",
      ".b128",    ".pred",   ".cta_group::2", ".shared::cluster"};
  std::vector<std::string> lines = splitLines(text);
  for (size_t n = 1 + random() % 4; n > 0 && !lines.empty(); --n) {
    std::string &line = lines[random() % lines.size()];
    size_t kind = random() % 5;
    if (kind == 0) {
      line = lines[random() % lines.size()];
    } else if (kind == 1) {
      std::swap(line, lines[random() % lines.size()]);
    } else if (kind == 2 && !line.empty()) {
      line[random() % line.size()] = char(random() % 96 + 32);
    } else if (kind == 3) {
      size_t dot = line.find('.', line.empty() ? 0 : random() % line.size());
      size_t end = line.find_first_of(". \t", dot == std::string::npos ? dot : dot + 1);
      if (dot != std::string::npos)
        line.replace(dot, end == std::string::npos ? end : end - dot,
                     modifiers[random() % std::size(modifiers)]);
    } else {
      size_t digit = line.find_first_of("0123456789", line.empty() ? 0 : random() % line.size());
      if (digit != std::string::npos)
        line.replace(digit, line.find_first_not_of("0123456789", digit) - digit,
                     numbers[random() % std::size(numbers)]);
    }
  }
  std::string out;
  for (const std::string &line : lines)
    out += line + "\n";
  return out;
}
} // namespace

int main(int argc, char **argv) {
  uint64_t seed = 1, mutants = 0;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg == "--mutants" && i + 1 < argc)
      mutants = std::strtoull(argv[++i], nullptr, 10);
    else if (arg == "--seed" && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (arg[0] != '-')
      files.push_back(arg);
    else
      return std::fprintf(stderr, "usage: ts-fuzz-ptx-replay [--mutants N] [--seed S] PTX...\n"), 2;
  }
  unsigned long texts = 0, launches = 0;
  for (const std::string &file : files) {
    std::ifstream in(file, std::ios::binary);
    if (!in)
      return std::fprintf(stderr, "error: cannot read '%s'\n", file.c_str()), 2;
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    launches += ts::fuzz::runPtxText(text);
    ++texts;
    std::mt19937_64 random(seed + texts * 7919);
    for (uint64_t n = 0; n < mutants; ++n, ++texts) {
      std::string mutant = mutate(text, random);
      if (const char *last =
              std::getenv("TS_FUZZ_LAST")) // the one at fault when this run ends here
        std::ofstream(last, std::ios::binary) << mutant;
      launches += ts::fuzz::runPtxText(mutant);
    }
  }
  std::printf("%lu texts, %lu launches\n", texts, launches);
  return launches ? 0 : 1;
}
