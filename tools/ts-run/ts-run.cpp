// ts-run: runs a compiled kernel from its launch manifest and checks what it computes. Everything
// that is worth calling from elsewhere lives in lib/Runtime; this file is the order of the steps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Emulate.h"

#include "ts/Runtime/Check.h"
#include "ts/Runtime/CudaLaunch.h"
#include "ts/Runtime/Npy.h"
#include "ts/Support/Checks.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include <unistd.h>

using namespace ts;

namespace {
// A TMA store writes whole chunks of this size (measured on an H200, docs/running.md).
constexpr int64_t kTmaChunkBytes = 16;

constexpr int exitOk = 0, exitFailed = 1, exitEnvironment = 4;
constexpr int64_t dryRunSms = 132; // an H200's; the emulator's too
constexpr double gpuTimeout = 20;  // s

class Session {
public:
  explicit Session(Options options) : options(std::move(options)) {
    for (const auto &[name, file] : this->options.outs)
      toStdout |= file == "-";
  }

  int run() {
    Status status = prepare();
    if (status && options.dryRun) {
      log() << describeAll();
      return exitOk;
    }
    if (status)
      status = options.emulator ? emulate() : launch();
    if (!status) {
      std::cerr << "ts-run: error: " << status.error().message << "\n";
      return status.error().fault == Fault::Environment ? exitEnvironment : exitFailed;
    }
    return failed ? exitFailed : exitOk;
  }

private:
  /// Where sentences go: not between the bytes of an array on the standard output.
  std::ostream &log() { return toStdout || options.jsonReport ? std::cerr : std::cout; }
  void complain(const std::string &what) {
    judged.lines.push_back(what);
    judged.ok = false;
  }

  std::string describeAll() const {
    std::string text;
    for (const LaunchPlan &plan : plans)
      text += describe(plan);
    return text;
  }

  // Reads everything and works the launch out.
  Status prepare() {
    if (!options.steerFile.empty()) {
      Result<ScheduleSet> steered = readSteering(options.steerFile);
      if (!steered)
        return steered.error();
      options.schedules = *steered;
    }
    if (Status status = readManifest(); !status)
      return status;
    if (Status status = readScalars(); !status)
      return status;
    if (Status status = readChecks(); !status)
      return status;
    if (Status status = readArrays(); !status)
      return status;
    if (options.dryRun) {
      inputs.sms = options.sms.value_or(dryRunSms);
    } else {
      Result<std::string> image = readFile(options.kernelFile);
      if (!image)
        return image.error();
      kernelImage = *image;
    }
    if (options.emulator && !options.dryRun) {
      if (kernelImage.compare(0, 4,
                              "\x7f"
                              "ELF") == 0)
        return Error{"'" + options.kernelFile +
                     "' is a cubin, and the emulator runs PTX: pass the " + ".ptx (ts-compile -o " +
                     baseName() + ".ptx), or --device=cuda on a GPU"};
      inputs.sms = options.sms.value_or(dryRunSms);
    } else if (!options.dryRun) {
      Result<std::unique_ptr<CudaDevice>> opened = CudaDevice::open();
      if (!opened)
        return opened.error();
      device = std::move(*opened);
      inputs.sms = options.sms.value_or(device->sms);
    }
    Result<std::vector<LaunchPlan>> planned = sequence.plan(inputs);
    if (!planned)
      return planned.error();
    plans = std::move(*planned);
    return Done{};
  }

  /// The kernel file without its ending.
  std::string baseName() const {
    size_t dot = options.kernelFile.rfind('.'), slash = options.kernelFile.rfind('/');
    bool ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
    return options.kernelFile.substr(0, ending ? dot : std::string::npos);
  }

  Status readManifest() {
    if (options.kernelFile.empty() && !(options.dryRun && !options.manifestFile.empty()))
      return Error{"there is no kernel file; --help shows the usage"};
    std::string path = options.manifestFile;
    if (path.empty() && options.kernelFile == "-")
      return Error{"a kernel from the standard input needs --manifest"};
    if (path == "-" && options.kernelFile == "-")
      return Error{"the kernel and the manifest cannot both be the standard input"};
    if (path.empty()) {
      path = baseName() + ".json";
    }
    Result<std::string> text = readFile(path);
    if (!text)
      return Error{checkPrefix(CheckId::TS502) + "the launch manifest " + text.error().message};
    Result<Manifest> parsed = parseManifest(*text, path == "-" ? "the standard input" : path);
    if (!parsed)
      return parsed.error();
    manifest = *parsed;
    Result<LaunchSequence> found = findSequence(manifest, options.kernelName);
    if (!found)
      return found.error();
    sequence = std::move(*found);
    return Done{};
  }

  /// The array or scalar arguments, for a message about a name that is none.
  std::string argNames(bool arrays) {
    std::string names;
    for (const ManifestArg &arg : kernel->args)
      if (arg.isArray() == arrays && (arrays || !arg.value))
        names += (names.empty() ? "" : ", ") + arg.name;
    return names.empty() ? "none" : names;
  }

  Status readScalars() {
    for (const auto &[name, text] : options.scalars) {
      const ManifestArg *arg = kernel->findArg(name);
      if (arg && !arg->isArray() && arg->value)
        return Error{"--scalar " + name + ": '" + name + "' is derived, as " + arg->value->str()};
      if (!arg || arg->isArray())
        return Error{"--scalar " + name + ": '" + kernel->name + "' has no such scalar; it takes " +
                     argNames(/*arrays=*/false)};
      Result<ScalarValue> value = parseScalar(arg->element, text);
      if (!value)
        return Error{"--scalar " + name + ": " + value.error().message};
      inputs.scalars[name] = *value;
    }
    return Done{};
  }

  Status readArrays() {
    for (const auto &[name, spec] : options.arrays) {
      const ManifestArg *arg = kernel->findArg(name);
      if (!arg || !arg->isArray())
        return Error{"--array " + name + ": '" + kernel->name + "' has no such array; it takes " +
                     argNames(/*arrays=*/true)};
      ArrayLayout layout;
      if (!spec.file.empty()) {
        Result<NpyFile> file = readNpy(spec.file);
        if (!file)
          return file.error();
        layout.shape = file->shape;
        files[name] = std::move(*file);
      }
      if (!spec.shape && spec.file.empty())
        return Error{"--array " + name + ": there is no shape; give one, e.g. --array " + name +
                     "=128x64"};
      if (spec.shape)
        layout.shape = *spec.shape;
      if (arg->access == Access::Write && (spec.filling || !spec.file.empty()))
        return Error{"--array " + name + ": '" + kernel->name +
                     "' only writes this array, so it takes no values, unless its --check names " +
                     "what it held before, as in 'D = where(A > 0, A, D)'"};
      layout.offsetBytes = spec.offsetBytes;
      if (Status status = setStrides(name, spec, layout); !status)
        return status;
      if (Status status = HostArray::check(name, arg->element, layout); !status)
        return status;
      inputs.arrays[name] = layout;
    }
    for (const auto &[name, path] : options.outs)
      if (const ManifestArg *arg = kernel->findArg(name); !arg || !arg->isArray())
        return Error{"--out " + name + ": '" + kernel->name + "' has no such array; it takes " +
                     argNames(/*arrays=*/true)};
    return Done{};
  }

  Status readChecks() {
    for (const std::string &text : options.checks) {
      Result<CheckExpr> check = CheckExpr::parse(text);
      if (!check)
        return check.error();
      checks.push_back(*check);
      // What an output held before counts where the kernel is to leave parts of it alone.
      for (ManifestArg &arg : sequence.joined.args)
        if (arg.isArray() && arg.access == Access::Write && arg.name == check->output &&
            check->usesValuesOf(arg.name))
          arg.access = Access::ReadWrite;
    }
    return Done{};
  }

  static Status setStrides(const std::string &name, const ArraySpec &spec, ArrayLayout &layout) {
    // A padded dimension moves everything outside it, unless that has a stride of its own too.
    layout.strides = contiguousStrides(layout.shape);
    for (size_t i = layout.shape.size(); i-- > 0;) {
      auto given = spec.strides.find(static_cast<unsigned>(i));
      if (given != spec.strides.end())
        layout.strides[i] = given->second;
      else if (i + 1 < layout.shape.size() &&
               __builtin_mul_overflow(layout.strides[i + 1],
                                      std::max<int64_t>(layout.shape[i + 1], 1),
                                      &layout.strides[i]))
        return Error{"--array " + name + ": the strides do not fit 64 bits"};
    }
    for (const auto &[dim, stride] : spec.strides)
      if (dim >= layout.shape.size())
        return Error{"--array " + name + ": there is no dimension " + std::to_string(dim) + " in " +
                     shapeText(layout.shape)};
    return Done{};
  }

  static void fillListed(HostArray &array, const std::vector<double> &values) {
    for (size_t i = 0; i < values.size(); ++i)
      array.store(static_cast<int64_t>(i), values[i]);
  }

  Status createArrays() {
    uint64_t ordinal = 0;
    for (const ManifestArg &arg : kernel->args) {
      if (!arg.isArray())
        continue;
      ++ordinal;
      Result<HostArray> created =
          HostArray::create(arg.name, arg.element, inputs.arrays.at(arg.name));
      if (!created)
        return created.error();
      HostArray &array = arrays.emplace(arg.name, std::move(*created)).first->second;
      if (arg.access == Access::Write)
        continue;
      const ArraySpec &spec = options.arrays.at(arg.name);
      size_t listed = spec.filling ? spec.filling->list.size() : 0;
      if (listed && static_cast<int64_t>(listed) != array.elementCount())
        return Error{"--array " + arg.name + ": found " + std::to_string(listed) +
                     " values for an array of " + shapeText(array.layout().shape) + " elements"};
      if (!spec.file.empty()) {
        std::string note;
        Status status = fillFromNpy(array, files.at(arg.name), spec.file, note);
        if (!status)
          return status;
        if (!note.empty())
          log() << "note: " << note << "\n";
        continue;
      }
      // Arrays without a seed of their own must not be equal to each other.
      Filling filling = spec.filling.value_or(options.defaultFilling);
      uint64_t seed = filling.seed.value_or(options.seed * 1000003 + ordinal);
      if (filling.kind == Filling::Kind::Normal)
        fillNormal(array, seed, spec.magnitudes);
      else if (filling.kind == Filling::Kind::Ints)
        fillInts(array, seed, filling.largest, spec.magnitudes);
      else if (filling.kind == Filling::Kind::Listed)
        fillListed(array, filling.list);
      else
        fillConstant(array, filling.value);
    }
    return Done{};
  }

  Status begin() {
    if (Status status = createArrays(); !status)
      return status;
    given = arrays; // what the checks read, and what inputs are compared with
    if (options.verbose)
      log() << describeAll();
    if (nothingToLaunch(plans))
      log() << kernel->name << ": the grid is empty, so there is nothing to launch\n";
    return Done{};
  }

  Status emulate() {
    if (Status status = begin(); !status)
      return status;
    Emulation emulation(options, kernel->name, plans, std::move(kernelImage), *inputs.sms, log());
    Result<bool> ok =
        emulation.run(given, arrays, [this](Emulation::Arrays &) -> Result<Judgement> {
          judged = {};
          if (Status status = judge(); !status)
            return status.error();
          return judged;
        });
    if (!ok)
      return ok.error();
    failed |= !*ok;
    return writeOutputs();
  }

  Status launch() {
    if (Status status = begin(); !status)
      return status;
    CudaRunOptions runOptions;
    runOptions.repeat = options.repeat;
    runOptions.timeoutSeconds = options.timeoutSeconds.value_or(gpuTimeout);
    // A launch that updates an array computes something else the next time.
    std::vector<std::string> outputs;
    bool updates = false;
    for (const ManifestArg &arg : kernel->args) {
      updates |= arg.isArray() && arg.access == Access::ReadWrite;
      if (arg.isArray() && arg.access == Access::Write)
        outputs.push_back(arg.name);
    }
    if (updates)
      outputs.clear();
    Result<CudaRunReport> ran = runOnCuda(*device, kernelImage, plans, arrays, outputs, runOptions);
    if (!ran)
      return ran.error();
    if (ran->timedOut) {
      // The kernel is still running, and every further call of the driver would wait for it.
      std::cerr << "ts-run: error: '" << kernel->name << "' did not end within "
                << runOptions.timeoutSeconds
                << " s; it probably waits for something that never comes\n";
      std::cout.flush();
      _exit(exitFailed);
    }
    report = *ran;
    Status status = judge();
    for (const std::string &line : judged.lines)
      log() << line << "\n";
    failed |= !judged.ok;
    if (status)
      status = writeOutputs();
    return status && options.repeat > 0 ? printTimes() : status;
  }

  Status judge() {
    if (!report.unstable.empty())
      complain(report.unstable + ": WRONG, the launches left different values: a race");
    for (const ManifestArg &arg : kernel->args) {
      if (!arg.isArray())
        continue;
      const HostArray &array = arrays.at(arg.name);
      int64_t where = 0;
      if (arg.access == Access::Read) {
        if (array.image() != given.at(arg.name).image())
          complain(arg.name + ": WRONG, the kernel changed this input or the bytes around it");
      } else if (int64_t strays = array.countStrayWrites(
                     where, arg.kind == ManifestArg::Kind::TensorMap ? kTmaChunkBytes : 1)) {
        complain(arg.name + ": WRONG, " + std::to_string(strays) +
                 " bytes outside the array were written, the first " + std::to_string(where) +
                 " bytes from its beginning");
      }
    }
    return runChecks();
  }

  Status writeOutputs() {
    for (const auto &[name, path] : options.outs) {
      Status status = writeNpy(arrays.at(name), path);
      if (!status)
        return status;
    }
    return Done{};
  }

  Status runChecks() {
    CheckEvaluator::Arrays known;
    for (const auto &[name, array] : given)
      if (kernel->findArg(name)->access != Access::Write)
        known[name] = &array;
    CheckEvaluator::Numbers numbers;
    for (const auto &[name, value] : commonScalars(plans))
      numbers[name] = isFloat(value.type) ? value.real : static_cast<double>(value.integer);
    CheckOptions checkOptions;
    checkOptions.seed = options.seed;
    checkOptions.maxProducts = options.maxProducts;
    checkOptions.requireExact = options.exact;
    std::map<std::string, bool> checked;
    for (const CheckExpr &check : checks) {
      const ManifestArg *arg = kernel->findArg(check.output);
      if (!arg || !arg->isArray() || arg->access == Access::Read)
        return Error{"--check '" + check.text + "': '" + check.output + "' is no output of '" +
                     kernel->name + "'"};
      Result<CheckReport> result =
          runCheck(check, known, numbers, arrays.at(check.output), checkOptions);
      if (!result)
        return result.error();
      judged.lines.push_back(result->str(check));
      judged.ok &= result->ok;
      checked[check.output] = true;
    }
    for (const ManifestArg &arg : kernel->args) {
      int64_t first = 0, count = 0;
      if (!arg.isArray() || arg.access != Access::Write || checked[arg.name] ||
          !hasNan(arg.element))
        continue;
      const HostArray &array = arrays.at(arg.name);
      if ((count = array.countPoisoned(first)))
        complain(arg.name + ": WRONG, " + std::to_string(count) +
                 " elements were never written, the first at " +
                 indexText(array.layout().shape, first));
    }
    return Done{};
  }

  Status printTimes() {
    if (report.milliseconds.empty()) {
      log() << "time: nothing was launched\n";
      return Done{};
    }
    double median = report.milliseconds[report.milliseconds.size() / 2];
    char text[128];
    std::snprintf(text, sizeof text, "time: median %.4f ms, fastest %.4f ms, %zu launches", median,
                  report.milliseconds.front(), report.milliseconds.size());
    log() << text;
    if (!options.flops.empty()) {
      Result<int64_t> flops = evaluateFor(plans.front(), inputs, options.flops);
      if (!flops)
        return Error{"--flops: " + flops.error().message};
      std::snprintf(text, sizeof text, ", %.1f TFLOP/s",
                    static_cast<double>(*flops) / median * 1e-9);
      log() << text;
    }
    log() << "\n";
    return Done{};
  }

  Options options;
  bool toStdout = false, failed = false;
  Manifest manifest;
  LaunchSequence sequence;
  const ManifestKernel *const kernel = &sequence.joined; // what all take together
  std::string kernelImage;
  std::vector<CheckExpr> checks;
  LaunchInputs inputs;
  std::vector<LaunchPlan> plans;
  std::unique_ptr<CudaDevice> device;
  std::map<std::string, NpyFile> files;
  std::map<std::string, HostArray> arrays, given;
  CudaRunReport report;
  Judgement judged;
};
} // namespace

int main(int argc, char **argv) {
  Result<Options> options = parseOptions(argc, argv);
  if (!options) {
    std::cerr << "ts-run: error: " << options.error().message << "\n";
    return exitFailed;
  }
  if (options->help) {
    std::cout << helpText;
    return exitOk;
  }
  if (options->version) {
    std::cout << "ts-run " TS_VERSION "\n";
    return exitOk;
  }
  return Session(*options).run();
}
