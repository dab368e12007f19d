// Parses ts-run's command line. By hand, because the tool must not depend on LLVM.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Options.h"

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <functional>

using namespace ts;

const char *const helpText =
    R"(usage: ts-run KERNEL.ptx [options]      in the emulator
       ts-run KERNEL.ptx|KERNEL.cubin --device=cuda [options]

Runs a kernel compiled by ts-compile and checks what it computes. The launch (grid, parameters, tensor
maps) comes from the manifest that ts-compile wrote beside the kernel.

  --manifest FILE      the launch manifest; default: the kernel file with the ending .json
  --kernel NAME,..     which kernel, if the manifest has several; more than one run one after the
                       other on arrays of the same names, overlapping where programmatic dependent
                       launch lets them
  --array NAME=PART:.. an array argument; parts, in any order:
                         128x64        shape, outermost dimension first
                         @FILE.npy     values (and the shape, if none is given)
                         normal(SEED)  random, mean 0, deviation 1
                         ints(SEED) or ints(SEED, MAX)   random integers from -MAX to MAX (2)
                         zeros, ones, full(VALUE)
                         values(A, B, ...)   one for each element, row by row; a vector if no
                                       shape is given
                         magnitudes    random values without their signs
                         stride0=72    a stride in elements: pads the rows
                         offset=8      begins that many bytes after an aligned address
  --scalar NAME=VALUE  a scalar argument that the manifest does not derive
  --init KIND          values of input arrays that name none: normal (default), ints, zeros, ones
  --seed N             for random values without a seed of their own (1)
  --check 'D = EXPR'   compares an output with a NumPy-like expression; may be repeated:
                       names, numbers, + - * / @ .T, < <= > >= == !=, exp relu abs sqrt maximum
                       minimum where, sum(x, axis=1, keepdims=True), max(...), dim(x, i),
                       arange(n), reshape(x, n, ..), transpose(x, d, ..),
                       repeat(x, n, axis=i), x[i:j, :]
  --exact              demand equality: the inputs of each check have to be small integers
  --check-limit N      products of more multiplications are checked on a sample (2147483648)
  --out NAME=FILE.npy  writes an array after the run; '-' is the standard output
  --timeout SECONDS    after which a launch is given up (20 on a GPU, 600 in the emulator)
  --sms N              the value of sms(), instead of the device's number of multiprocessors (132 in
                       the emulator)
  --device KIND        emulator (default): runs PTX on the CPU, and finds races, hangs and misuse of
                       barriers and asynchronous engines; cuda: runs on the first CUDA device
  --dry-run            checks and prints the launch; needs neither the kernel file nor a GPU
  --verbose            prints the launch before running it
  --help, --version

of the emulator:
  --schedule KIND      who moves next: fair (default); random:SEED or random:FIRST-LAST, one run for
                       each seed; adversarial:K, the K-th warp or engine moves only when nothing else
                       can; adversarial, one run for each of them
  --all-schedules      fair, random:1-20 and adversarial, with a summary
  --steer FILE         along a JSON list of {"cta": RANK, "warp": WARP, "ptx_line": LINE}
  --trace FILE         Perfetto trace of the run (ui.perfetto.dev)
  --report text|json   how faults and runs are reported; json goes to the standard output (text)
  --no-race-check      faster; races and missing fences go unnoticed
  --no-undefined-check reads of memory that nobody has written go unnoticed
  --strict-tcgen05-fences  a missing tcgen05.fence is a fault, not a warning
  --threads N          of this machine (all)
  --max-steps N        warp instructions after which a launch is given up (no limit)
  --progress           prints how far a long run is, also where that is no terminal

of a GPU:
  --repeat N           times N more launches and prints the median
  --flops EXPR         operations of one launch, e.g. '2 * dim(A, 0) * dim(B, 0) * dim(A, 1)'

A '-' for KERNEL, the manifest or a .npy file to read is the standard input. Outputs are filled with
NaN before the launch and guarded on both sides, so unwritten elements and writes outside an array are
found. An output whose own check names it on the right side too, as in 'D = where(A > 0, A, D)', is
filled like an input, and there its old values are meant. Random inputs depend on their seed only.

Exit status: 0 all is well; 1 a check failed, the emulator found a fault, or bad input; 4 this machine cannot run the kernel.

examples:
  ts-run gemm.ptx --array A=256x512 --array B=384x512 --array D=256x384 --check 'D = A @ B.T'
  ts-run gemm.ptx --all-schedules --array A=100x64:stride0=72:ints(7) --array B=@b.npy --array D=100x50 \
      --check 'D = relu(A @ B.T)' --out D=d.npy
  ts-run gemm.cubin --device=cuda --array A=8192x8192 --array B=8192x8192 --array D=8192x8192 \
      --repeat 20 --flops '2 * dim(A, 0) * dim(B, 0) * dim(A, 1)'
  ts-run --manifest gemm.json --array A=256x0 --array B=384x0 --array D=256x384 --dry-run
)";

namespace {
bool parseInteger(const std::string &text, int64_t &value) {
  char *end = nullptr;
  errno = 0;
  value = std::strtoll(text.c_str(), &end, 10);
  return !text.empty() && !*end && errno == 0 && !std::isspace(static_cast<unsigned char>(text[0]));
}

bool parseNumber(const std::string &text, double &value) {
  char *end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && !*end && std::isfinite(value);
}

/// "128x64"; a bare "-" dimension or an empty one is no shape.
bool parseShape(const std::string &text, std::vector<int64_t> &shape) {
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find('x', begin), text.size());
    int64_t extent;
    if (end == begin || !parseInteger(text.substr(begin, end - begin), extent) || extent < 0)
      return false;
    shape.push_back(extent);
    begin = end + 1;
  }
  return true;
}

/// "normal", "ints(3)", "ints(3, 5)", "zeros", "full(0.5)", "values(0, 3, 5)"
bool parseFilling(const std::string &text, Filling &filling) {
  size_t open = text.find('(');
  std::string name = text.substr(0, open);
  std::vector<std::string> values;
  if (open != std::string::npos) {
    if (text.back() != ')')
      return false;
    std::string inside = text.substr(open + 1, text.size() - open - 2) + ",";
    for (size_t begin = 0; begin < inside.size();) {
      size_t end = inside.find(',', begin);
      while (begin < end && inside[begin] == ' ')
        ++begin;
      values.push_back(inside.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  if (name == "zeros" || name == "ones") {
    filling.kind = Filling::Kind::Constant;
    filling.value = name == "ones";
    return open == std::string::npos;
  }
  if (name == "full") {
    filling.kind = Filling::Kind::Constant;
    return values.size() == 1 && parseNumber(values[0], filling.value);
  }
  if (name == "values") {
    filling.kind = Filling::Kind::Listed;
    for (const std::string &value : values)
      if (!parseNumber(value, filling.list.emplace_back()))
        return false;
    return !values.empty();
  }
  if (name != "normal" && name != "ints")
    return false;
  filling.kind = name == "ints" ? Filling::Kind::Ints : Filling::Kind::Normal;
  if (values.size() > (name == "ints" ? 2u : 1u))
    return false;
  int64_t seed;
  if (!values.empty()) {
    if (!parseInteger(values[0], seed))
      return false;
    filling.seed = static_cast<uint64_t>(seed);
  }
  return values.size() < 2 || (parseInteger(values[1], filling.largest) && filling.largest >= 1 &&
                               filling.largest <= 1 << 20);
}

Status parseArrayPart(const std::string &option, const std::string &part, ArraySpec &spec) {
  auto bad = [&](const std::string &what) { return Error{"--array " + option + ": " + what}; };
  int64_t value;
  std::vector<int64_t> shape;
  Filling filling;
  if (part.substr(0, 1) == "@") {
    spec.file = part.substr(1);
    if (spec.file.empty())
      return bad("'@' wants a file name");
  } else if (part.substr(0, 7) == "offset=") {
    if (!parseInteger(part.substr(7), value) || value < 0 || value > HostArray::guardBytes)
      return bad("'" + part + "': expected 0 to " + std::to_string(HostArray::guardBytes) +
                 " bytes");
    spec.offsetBytes = value;
  } else if (part.size() > 8 && part.substr(0, 6) == "stride" && part[7] == '=' &&
             std::isdigit(static_cast<unsigned char>(part[6]))) {
    if (!parseInteger(part.substr(8), value) || value < 0)
      return bad("'" + part + "': expected a number of elements");
    spec.strides[static_cast<unsigned>(part[6] - '0')] = value;
  } else if (part == "magnitudes") {
    spec.magnitudes = true;
  } else if (parseShape(part, shape)) {
    spec.shape = shape;
  } else if (parseFilling(part, filling)) {
    spec.filling = filling;
  } else {
    return bad("'" + part + "' is no shape (128x64), @FILE.npy, normal(SEED), ints(SEED), zeros, " +
               "ones, full(VALUE), values(A, ..), magnitudes, strideN=ELEMENTS or offset=BYTES");
  }
  return Done{};
}

Status parseArray(const std::string &text, Options &options) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return Error{"--array " + text + ": expected NAME=SHAPE, NAME=@FILE.npy or the like"};
  ArraySpec &spec = options.arrays[text.substr(0, equals)];
  for (size_t begin = equals + 1; begin <= text.size();) {
    size_t end = std::min(text.find(':', begin), text.size());
    if (Status status = parseArrayPart(text, text.substr(begin, end - begin), spec); !status)
      return status;
    begin = end + 1;
  }
  if (!spec.file.empty() && spec.filling)
    return Error{"--array " + text + ": the values come either from a file or from a filling"};
  if (spec.filling && spec.filling->kind == Filling::Kind::Listed && !spec.shape)
    spec.shape = std::vector<int64_t>{static_cast<int64_t>(spec.filling->list.size())};
  return Done{};
}

/// NAME=VALUE into a map; a name may be given once.
Status parsePair(const std::string &option, const std::string &text,
                 std::map<std::string, std::string> &pairs) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return Error{option + " " + text + ": expected NAME=VALUE"};
  if (!pairs.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
    return Error{option + " " + text + ": '" + text.substr(0, equals) + "' is given twice"};
  return Done{};
}

/// One option that takes a value.
Status parseValueOption(const std::string &name, const std::string &value, Options &options) {
  int64_t integer = 0;
  auto wantInteger = [&](int64_t low) -> Status {
    if (!parseInteger(value, integer) || integer < low)
      return Error{name + " " + value + ": expected an integer of " + std::to_string(low) +
                   " or more"};
    return Done{};
  };
  Status status = Done{};
  if (name == "--manifest") {
    options.manifestFile = value;
  } else if (name == "--kernel") {
    options.kernelName = value;
  } else if (name == "--array") {
    return parseArray(value, options);
  } else if (name == "--scalar") {
    return parsePair(name, value, options.scalars);
  } else if (name == "--out") {
    return parsePair(name, value, options.outs);
  } else if (name == "--check") {
    options.checks.push_back(value);
  } else if (name == "--init") {
    if (!parseFilling(value, options.defaultFilling) ||
        options.defaultFilling.kind == Filling::Kind::Listed)
      return Error{"--init " + value + ": expected normal, ints, zeros, ones or full(VALUE)"};
  } else if (name == "--flops") {
    options.flops = value;
  } else if (name == "--seed") {
    status = wantInteger(0);
    options.seed = static_cast<uint64_t>(integer);
  } else if (name == "--sms") {
    status = wantInteger(1);
    if (status && integer > 1 << 16)
      return Error{"--sms " + value + ": expected 65536 or less"};
    options.sms = integer;
  } else if (name == "--repeat") {
    status = wantInteger(0);
    options.repeat = integer;
  } else if (name == "--check-limit") {
    status = wantInteger(1);
    options.maxProducts = static_cast<double>(integer);
  } else if (name == "--timeout") {
    double seconds = 0;
    if (!parseNumber(value, seconds) || seconds <= 0)
      return Error{"--timeout " + value + ": expected a number of seconds"};
    options.timeoutSeconds = seconds;
  } else if (name == "--schedule") {
    Result<ScheduleSet> set = parseSchedule(value);
    if (!set)
      return set.error();
    options.schedules = *set;
  } else if (name == "--steer") {
    options.steerFile = value;
  } else if (name == "--trace") {
    options.traceFile = value;
  } else if (name == "--threads") {
    status = wantInteger(1);
    if (status && integer > 4096)
      return Error{"--threads " + value + ": expected 4096 or less"};
    options.threads = static_cast<unsigned>(integer);
  } else if (name == "--max-steps") {
    status = wantInteger(1);
    options.maxSteps = static_cast<uint64_t>(integer);
  } else if (name == "--report") {
    if (value != "text" && value != "json")
      return Error{"--report " + value + ": expected text or json"};
    options.jsonReport = value == "json";
  } else { // --device
    if (value != "cuda" && value != "emulator")
      return Error{"--device " + value + ": expected cuda or emulator"};
    options.emulator = value == "emulator";
  }
  return status;
}

/// What the device does not have would be ignored in silence.
Status checkCombination(Options &options) {
  bool steered = !options.steerFile.empty();
  if (int(options.schedules.has_value()) + options.everySchedule + steered > 1)
    return Error{"--schedule, --all-schedules and --steer exclude each other"};
  const char *wrong = nullptr;
  if (options.emulator)
    wrong = options.repeat ? "--repeat" : !options.flops.empty() ? "--flops" : nullptr;
  else
    wrong = options.schedules            ? "--schedule"
            : options.everySchedule      ? "--all-schedules"
            : steered                    ? "--steer"
            : !options.traceFile.empty() ? "--trace"
            : options.jsonReport         ? "--report"
            : options.noRaceCheck        ? "--no-race-check"
            : options.noUndefinedCheck   ? "--no-undefined-check"
            : options.strictTensorFences ? "--strict-tcgen05-fences"
            : options.threads            ? "--threads"
            : options.maxSteps           ? "--max-steps"
            : options.progress           ? "--progress"
                                         : nullptr;
  if (wrong && !options.dryRun)
    return Error{std::string(wrong) + (options.emulator ? " is for --device=cuda: the emulator's "
                                                          "times say nothing about a GPU's"
                                                        : " is for --device=emulator")};
  if (options.everySchedule)
    options.schedules = allSchedules();
  if (!options.schedules)
    options.schedules = ScheduleSet{{emu::Schedule{}}, false};
  if (!options.traceFile.empty() && options.schedules->several())
    return Error{"--trace is of one run; name one schedule, e.g. --schedule=random:3"};
  return Done{};
}
} // namespace

Result<Options> parseOptions(int argc, char **argv) {
  static constexpr const char *valueOptions[] = {
      "--manifest", "--kernel", "--array", "--scalar", "--out",         "--check",    "--init",
      "--flops",    "--seed",   "--sms",   "--repeat", "--check-limit", "--timeout",  "--device",
      "--schedule", "--steer",  "--trace", "--report", "--threads",     "--max-steps"};
  struct Flag {
    const char *name;
    bool Options::*field;
  };
  static constexpr Flag flags[] = {{"--exact", &Options::exact},
                                   {"--dry-run", &Options::dryRun},
                                   {"--verbose", &Options::verbose},
                                   {"--help", &Options::help},
                                   {"-h", &Options::help},
                                   {"--version", &Options::version},
                                   {"--all-schedules", &Options::everySchedule},
                                   {"--no-race-check", &Options::noRaceCheck},
                                   {"--no-undefined-check", &Options::noUndefinedCheck},
                                   {"--strict-tcgen05-fences", &Options::strictTensorFences},
                                   {"--progress", &Options::progress}};
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "-" || word.substr(0, 1) != "-") {
      if (!options.kernelFile.empty())
        return Error{"there are two kernel files, '" + options.kernelFile + "' and '" + word + "'"};
      options.kernelFile = word;
      continue;
    }
    bool found = false;
    for (const Flag &flag : flags)
      if (word == flag.name)
        options.*flag.field = found = true;
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    for (const char *known : valueOptions) {
      if (found || name != known)
        continue;
      found = true;
      if (equals == std::string::npos && ++i == argc)
        return Error{name + " wants a value"};
      std::string value = equals == std::string::npos ? argv[i] : word.substr(equals + 1);
      if (Status status = parseValueOption(name, value, options); !status)
        return status.error();
    }
    if (!found)
      return Error{"unknown option '" + word + "'; --help lists them"};
  }
  if (Status status = checkCombination(options); !status)
    return status.error();
  return options;
}
