// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches: planned from a manifest and the arrays' layouts, then run in the emulator or on a CUDA
// device. Arrays come as addresses; mlir_ts/run.py owns the objects behind them and says what they
// are. Nothing here touches Python objects while a kernel runs.
#include "Interruptible.h"
#include "ts/Emulator/RunPlan.h"
#include "ts/Runtime/CudaLaunch.h"
#include <cstring>

using namespace mlir_ts;
using ts::ArrayLayout;
using ts::HostArray;

namespace {
/// A planned launch and what it was planned for.
struct Plan {
  ts::ManifestKernel kernel;
  ts::LaunchInputs inputs;
  ts::LaunchPlan plan;
};
} // namespace

template <typename T> static T unwrap(ts::Result<T> result) {
  if (result)
    return std::move(*result);
  if (result.error().fault == ts::Fault::Environment)
    throw EnvironmentFailure(result.error().message);
  throw Failure(result.error().message);
}

static std::shared_ptr<Plan> plan(const std::string &manifest, const std::string &kernel,
                                  const py::dict &arrays, const py::dict &scalars, int64_t sms) {
  auto result = std::make_shared<Plan>();
  ts::Manifest parsed = unwrap(ts::parseManifest(manifest, "manifest"));
  result->kernel = *unwrap(parsed.findKernel(kernel));
  for (auto entry : arrays) {
    auto name = entry.first.cast<std::string>();
    auto [shape, strides, offset] =
        entry.second.cast<std::tuple<std::vector<int64_t>, std::vector<int64_t>, int64_t>>();
    ArrayLayout layout{shape, strides, offset};
    if (const ts::ManifestArg *arg = result->kernel.findArg(name))
      unwrap(HostArray::check(name, arg->element, layout));
    result->inputs.arrays[name] = std::move(layout);
  }
  for (auto entry : scalars) {
    auto name = entry.first.cast<std::string>();
    const ts::ManifestArg *arg = result->kernel.findArg(name);
    if (!arg)
      throw Failure("'" + result->kernel.name + "' has no argument '" + name + "'");
    result->inputs.scalars[name] =
        unwrap(ts::parseScalar(arg->element, entry.second.cast<std::string>()));
  }
  result->inputs.sms = sms;
  result->plan = unwrap(ts::planLaunch(result->kernel, result->inputs));
  return result;
}

/// Copies between an array of the user's, whose first element is at `address`, and our image of it.
/// Only elements move, never what lies between rows.
static void copyElements(HostArray &array, uint64_t address, bool toImage) {
  const ArrayLayout &layout = array.layout();
  int64_t bits = ts::elementBits(array.type());
  size_t rank = layout.shape.size();
  bool packed = rank == 0 || layout.strides.back() == 1;
  int64_t run = rank && packed ? layout.shape.back() : 1;
  auto *user = reinterpret_cast<uint8_t *>(address);
  int64_t count = array.elementCount();
  for (int64_t linear = 0; linear < count; linear += run) {
    int64_t inImage = array.byteOffset(linear), inUser = inImage - array.dataOffset();
    auto bytes = static_cast<size_t>((run * bits + 7) / 8);
    if (toImage)
      std::memcpy(&array.image()[static_cast<size_t>(inImage)], user + inUser, bytes);
    else
      std::memcpy(user + inUser, &array.image()[static_cast<size_t>(inImage)], bytes);
  }
}

static std::map<std::string, HostArray> gather(const Plan &plan,
                                               const std::map<std::string, uint64_t> &addresses) {
  std::map<std::string, HostArray> arrays;
  for (const auto &[name, layout] : plan.inputs.arrays) {
    const ts::ManifestArg *arg = plan.kernel.findArg(name);
    HostArray array = unwrap(HostArray::create(name, arg->element, layout));
    copyElements(array, addresses.at(name), /*toImage=*/true);
    arrays.emplace(name, std::move(array));
  }
  return arrays;
}

static void scatter(const Plan &plan, std::map<std::string, HostArray> &arrays,
                    const std::map<std::string, uint64_t> &addresses) {
  for (auto &[name, array] : arrays)
    if (plan.kernel.findArg(name)->access != ts::Access::Read)
      copyElements(array, addresses.at(name), /*toImage=*/false);
}

static ts::emu::Schedule scheduleOf(const std::string &kind, uint64_t number) {
  ts::emu::Schedule schedule;
  if (kind == "fair") {
    schedule.kind = ts::emu::Schedule::Kind::Fair;
  } else if (kind == "random") {
    schedule.kind = ts::emu::Schedule::Kind::Random;
    schedule.seed = number;
  } else if (kind == "adversarial") {
    schedule.kind = ts::emu::Schedule::Kind::Adversarial;
    schedule.victim = static_cast<unsigned>(number);
  } else {
    throw Failure("unknown schedule '" + kind +
                  "'; known are fair, random (with a seed) and adversarial (with a victim)");
  }
  return schedule;
}

static py::dict emulate(const Plan &plan, const std::string &ptx,
                        const std::map<std::string, uint64_t> &addresses,
                        const std::string &schedule, uint64_t number, unsigned threads,
                        double timeout, bool checkRaces, const std::string &trace, int64_t sms) {
  ts::emu::LaunchOptions options;
  options.schedule = scheduleOf(schedule, number);
  options.threads = threads;
  options.residentCtas = static_cast<unsigned>(sms);
  options.timeoutSeconds = timeout;
  options.checkRaces = checkRaces;
  options.traceFile = trace;
  std::string printed;
  options.print = [&](std::string_view text) { printed += text; };
  Interruptible run;
  options.cancelled = [&] { return run.interrupted.load(); };
  ts::emu::RunReport report;
  std::string faults, warnings;
  run.wait([&] {
    std::map<std::string, HostArray> arrays = gather(plan, addresses);
    report = unwrap(ts::emu::runOnEmulator(ptx, "kernel.ptx", plan.plan, arrays, options,
                                           static_cast<unsigned>(sms)));
    if (run.interrupted)
      return; // nobody gets to see what is half done
    scatter(plan, arrays, addresses);
    for (const ts::emu::Report &fault : report.result.faults)
      faults += fault.str();
    for (const ts::emu::Report &warning : report.result.warnings)
      warnings += warning.str(/*withHistory=*/false, "warning");
  });
  py::dict result;
  result["ok"] = report.result.ok();
  result["faults"] = ts::emu::toJson(report.result.faults);
  result["warnings"] = ts::emu::toJson(report.result.warnings);
  result["fault_text"] = faults;
  result["warning_text"] = warnings;
  result["stopped"] = report.result.stopped;
  result["instructions"] = report.result.instructions;
  result["actors"] = report.result.actors;
  result["seconds"] = report.seconds;
  result["printed"] = printed;
  return result;
}

static ts::CudaDevice &cudaDevice() {
  static std::unique_ptr<ts::CudaDevice> device = unwrap(ts::CudaDevice::open());
  return *device;
}

static py::dict runOnCuda(const Plan &plan, const std::string &image,
                          const std::map<std::string, uint64_t> &addresses, double timeout) {
  py::gil_scoped_release released;
  std::map<std::string, HostArray> arrays = gather(plan, addresses);
  ts::CudaRunOptions options;
  if (timeout > 0)
    options.timeoutSeconds = timeout;
  ts::CudaRunReport report =
      unwrap(ts::runOnCuda(cudaDevice(), image, plan.plan, arrays, {}, options));
  if (report.timedOut)
    throw Failure("'" + plan.plan.kernel +
                  "' did not end in time; the device is unusable until this process ends");
  scatter(plan, arrays, addresses);
  py::gil_scoped_acquire held;
  py::dict result;
  result["ok"] = true;
  return result;
}

static bool runInPlace(ts::CudaImage &image, const Plan &plan,
                       const std::map<std::string, uint64_t> &addresses, double timeout) {
  py::gil_scoped_release released;
  constexpr double usual = 20; // s, as ts-run
  return unwrap(ts::runInPlace(image, plan.plan, addresses, timeout > 0 ? timeout : usual));
}

void mlir_ts::bindRun(py::module_ &m) {
  py::class_<Plan, std::shared_ptr<Plan>>(m, "Plan", "A launch, worked out and checked.")
      .def("__str__", [](const Plan &p) { return ts::describe(p.plan); })
      .def_property_readonly("grid", [](const Plan &p) { return p.plan.grid; })
      .def_property_readonly("block", [](const Plan &p) { return p.plan.block; })
      .def_property_readonly("cluster", [](const Plan &p) { return p.plan.cluster; })
      .def_property_readonly("kernel", [](const Plan &p) { return p.plan.kernel; })
      .def_property_readonly("empty", [](const Plan &p) { return p.plan.nothingToLaunch(); });
  m.def("_plan", &plan, py::arg("manifest"), py::arg("kernel"), py::arg("arrays"),
        py::arg("scalars"), py::arg("sms"));
  m.def("_emulate", &emulate, py::arg("plan"), py::arg("ptx"), py::arg("addresses"),
        py::arg("schedule"), py::arg("number"), py::arg("threads"), py::arg("timeout"),
        py::arg("check_races"), py::arg("trace"), py::arg("sms"));
  m.def("_run_on_cuda", &runOnCuda, py::arg("plan"), py::arg("image"), py::arg("addresses"),
        py::arg("timeout"));
  py::class_<ts::CudaImage>(m, "CudaImage", "A kernel file on the device.")
      .def(py::init([](const std::string &image, const std::string &arch) {
        return unwrap(ts::CudaImage::load(cudaDevice(), image, arch));
      }))
      .def("_run", &runInPlace, py::arg("plan"), py::arg("addresses"), py::arg("timeout"));
  m.def("_cuda_device", [] {
    ts::CudaDevice &device = cudaDevice();
    py::dict result;
    result["name"] = device.name;
    result["sms"] = device.sms;
    result["capability"] = device.capability;
    return result;
  });
}
