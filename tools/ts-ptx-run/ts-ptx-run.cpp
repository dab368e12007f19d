// ts-ptx-run: runs PTX of any origin, in the emulator or on a GPU, from a launch file, and writes
// what the kernels left in their buffers. The comparisons of the two sides are made from these
// files. For kernels of ts-compile use ts-run. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#include "Backends.h"

#include "ts/Emulator/Forms.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include <unistd.h>

using namespace ts;

namespace {
constexpr int exitOk = 0, exitFailed = 1, exitEnvironment = 4;

const char *const helpText =
    R"(usage: ts-ptx-run KERNELS.ptx LAUNCH.json [options]

Runs the cases of a launch file and writes the buffers that have a "compare" to FOLDER/CASE.BUFFER.bin
(what the kernels printed to FOLDER/CASE.printf.txt).

  --device emulator|cuda  where (emulator)
  --out FOLDER            where the buffers go; without it nothing is written
  --case NAME             only this case; may be repeated
  --list                  prints the names of the cases and runs nothing
  --schedule KIND         of the emulator: fair, random:SEED or adversarial:VICTIM
  --trace FILE            of the emulator: a Perfetto trace
  --list-forms            prints every instruction form that the emulator knows of (as a pattern, tab,
                          form, tab, nothing or why it is not executed) and runs nothing
  --forms FILE            appends the executed instruction forms, one a line
  --no-races              of the emulator: races and missing fences are not looked for
  --strict                warnings of the emulator fail the case
  --timeout SECONDS       of one launch on a GPU (20)
  --max-steps N           warp instructions of one launch in the emulator (1000000000)
  --help

The launch file:
  {"cases": [{"name": "n", "entry": "kernel", "grid": [1], "block": [32], "cluster": [1],
    "dynamic_smem": 0, "pdl": false,
    "buffers": {"x": {"type": "f32", "count": 64, "init": "uniform", "low": -1, "high": 1, "seed": 1},
                "y": {"type": "f32", "count": 64, "compare": "exact"}},
    "params": ["x", {"buffer": "x", "offset": 16}, {"i32": 5}, {"f32": 0.5},
               {"map": "x", "type": "f32", "sizes": [8, 8], "strides": [32], "box": [8, 4],
                "element_strides": [1, 1], "swizzle": 0, "interleave": 0, "l2": 0, "fill": "zero"}]}]}
A case with several launches has "launches": [{entry, grid, ..., params}, ...] instead; with "pdl" a
launch may begin before the one in front of it has ended. Tensor maps are in the driver's order, innermost
dimension first. "init" is zero, poison (of outputs by default), bits (random; the default), ints (low to
high), uniform, linear (low to high in even steps), ramp (low, low + 1, ...) or file:NAME.

Exit status: 0 all is well; 1 a case failed, or bad input; 4 this machine cannot run it.
)";

struct Options {
  std::string ptx, launches, out, forms;
  std::vector<std::string> cases;
  bool cuda = false, list = false, help = false;
  RunOptions run;
};

Result<Options> parseOptions(int argc, char **argv) {
  Options o;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i], value;
    if (size_t equals = name.find('='); name.rfind("--", 0) == 0 && equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    } else if (name == "--device" || name == "--out" || name == "--case" || name == "--schedule" ||
               name == "--trace" || name == "--forms" || name == "--timeout" ||
               name == "--max-steps") {
      if (++i == argc)
        return Error{name + " wants a value"};
      value = argv[i];
    }
    if (name == "--help" || name == "-h")
      o.help = true;
    else if (name == "--list")
      o.list = true;
    else if (name == "--no-races")
      o.run.checkRaces = false;
    else if (name == "--strict")
      o.run.warningsAreFaults = true;
    else if (name == "--device" && (value == "cuda" || value == "emulator"))
      o.cuda = value == "cuda";
    else if (name == "--out")
      o.out = value;
    else if (name == "--case")
      o.cases.push_back(value);
    else if (name == "--schedule")
      o.run.schedule = value;
    else if (name == "--trace")
      o.run.trace = value;
    else if (name == "--forms")
      o.forms = value;
    else if (name == "--timeout" && std::strtod(value.c_str(), nullptr) > 0)
      o.run.timeoutSeconds = std::strtod(value.c_str(), nullptr);
    else if (name == "--max-steps" && std::strtoll(value.c_str(), nullptr, 10) > 0)
      o.run.maxSteps = std::strtoull(value.c_str(), nullptr, 10);
    else if (name.size() > 1 && name[0] == '-')
      return Error{"bad option '" + std::string(argv[i]) + "'; --help lists them"};
    else
      files.push_back(name);
  }
  if (!o.help && files.size() != 2)
    return Error{"expected a PTX file and a launch file; --help says more"};
  if (!o.help) {
    o.ptx = files[0];
    o.launches = files[1];
  }
  return o;
}

Status writeFile(const std::string &path, const void *data, size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char *>(data), static_cast<std::streamsize>(bytes));
  file.close();
  if (!file)
    return Error{"cannot write '" + path + "': " + std::strerror(errno)};
  return Done{};
}

Status writeOutputs(const Case &test, const std::string &folder, const std::string &printed) {
  for (const Buffer &buffer : test.buffers) {
    if (!buffer.output)
      continue;
    Status status = writeFile(folder + "/" + test.name + "." + buffer.name + ".bin",
                              buffer.bytes.data(), buffer.bytes.size());
    if (!status)
      return status;
  }
  if (printed.empty())
    return Done{};
  return writeFile(folder + "/" + test.name + ".printf.txt", printed.data(), printed.size());
}

Status runCase(const std::string &ptx, Case &test, const Options &o, std::set<std::string> &forms) {
  std::string printed;
  Status status = o.cuda ? runOnCuda(ptx, test, o.run, printed)
                         : runOnEmulator(ptx, o.ptx, test, o.run, printed, forms);
  if (!status || o.out.empty())
    return status;
  return writeOutputs(test, o.out, printed);
}

int report(const Error &error) {
  std::cerr << "ts-ptx-run: error: " << error.message << std::endl;
  return error.fault == Fault::Environment ? exitEnvironment : exitFailed;
}
} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && std::string(argv[1]) == "--list-forms") {
    for (const emu::FormStatus &form : emu::listForms())
      std::cout << form.pattern << '\t' << form.form << '\t' << form.why << '\n';
    return exitOk;
  }
  Result<Options> options = parseOptions(argc, argv);
  if (!options)
    return report(options.error());
  if (options->help) {
    std::cout << helpText;
    return exitOk;
  }
  Result<std::vector<Case>> cases = parseLaunchFile(options->launches);
  if (!cases)
    return report(cases.error());
  Result<std::string> ptx = readFile(options->ptx);
  if (!ptx)
    return report(ptx.error());
  int status = exitOk;
  std::set<std::string> forms;
  std::set<std::string> wanted(options->cases.begin(), options->cases.end());
  for (Case &test : *cases) {
    if (!options->cases.empty() && !wanted.erase(test.name))
      continue;
    if (options->list) {
      std::cout << test.name << "\n";
      continue;
    }
    if (Status done = runCase(*ptx, test, *options, forms); !done) {
      status = report(done.error());
      if (options->cuda)
        break; // the device may be unusable after an error
    } else {
      std::cout << test.name << ": ran" << std::endl;
    }
  }
  for (const std::string &name : wanted)
    status = report({options->launches + " has no case '" + name + "'"});
  if (!options->forms.empty()) {
    std::ofstream file(options->forms, std::ios::app);
    for (const std::string &form : forms)
      file << form << "\n";
  }
  std::cout.flush();
  if (options->cuda)
    _exit(status); // a hanging kernel must not hold the process
  return status;
}
