// Runs PTX on the CPU: one launch, its numbers, and what is wrong with it. The public face of the
// emulator; ts-run and the Python runtime use nothing else. It knows PTX and launches, not `ts`,
// MLIR or who wrote the PTX. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_EMULATOR_H
#define TS_EMULATOR_EMULATOR_H

#include "ts/Emulator/Ptx.h"
#include "ts/Emulator/Report.h"
#include "ts/Runtime/LaunchPlan.h"

#include <functional>
#include <memory>
#include <optional>

namespace ts::emu {

/// Which of the enabled steps (a warp's next instruction, a piece of an engine's work) comes next.
struct Schedule {
  enum class Kind {
    Fair,        // round robin over warps and engines
    Random,      // seeded; the same seed gives the same run
    Adversarial, // the victim (an engine channel or a warp) moves only when nothing else can
    Steered,     // along a list of places; who is at none of them goes first
  };
  Kind kind = Kind::Fair;
  uint64_t seed = 0;
  /// Adversarial: which actor, 0-based; see LaunchResult::actors for how many there are.
  unsigned victim = 0;
  /// Steered: (warp index in its CTA, CTA rank, PTX line) in the order in which they must execute.
  struct Place {
    unsigned cta = 0, warp = 0;
    uint32_t ptxLine = 0;
    bool settled = false; // asynchronous operations that can complete do so before
  };
  std::vector<Place> places;
  /// Steered: PTX lines, ascending, of try_waits that come back with false where they would wait.
  std::vector<uint32_t> probes;
  /// Steered: asynchronous operations move only when no warp can follow the list, else before it.
  bool lateEngines = false;
  /// Steered: PTX lines, ascending, whose asynchronous operations move when nothing else can.
  std::vector<uint32_t> late;
};

struct Progress {
  uint64_t instructions = 0;
  uint64_t clustersDone = 0, clusters = 0;
};

struct LaunchOptions {
  std::string entry; // kernel name; may be empty if the module has one
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  uint32_t dynamicSmem = 0;
  bool pdl = false; // programmatic dependent launch: may begin before its predecessor has ended
  Schedule schedule;
  /// How many clusters are resident at once (kernels whose clusters wait for each other need it).
  unsigned residentCtas = 132;
  unsigned threads = 0; // host threads; 0: one per core
  /// After so many warp instructions without a change that others could see, a cluster is hung if
  /// all its warps wait, poll, or are in a state in which they have been before.
  uint64_t idleLimit = 2'000'000;
  /// The launch is given up after so many warp instructions or seconds of real time; 0: never.
  uint64_t stepLimit = 0;
  double timeoutSeconds = 0;
  bool checkRaces = true;
  bool checkUninitialised = true;
  /// Missing tcgen05.fence between thread-synchronised tcgen05 accesses is a fault, not a warning.
  bool strictTcgen05Fences = false;
  std::string traceFile; // Perfetto JSON, one track per warp and engine channel
  std::function<void(const Progress &)> progress; // called about twice a second
  /// Asked many times a second by any thread; true gives the launch up.
  std::function<bool()> cancelled;
  std::function<void(std::string_view)> print; // device printf; stdout if empty
};

/// A kernel parameter: bytes as the kernel reads them.
using ParamBytes = std::vector<uint8_t>;

struct LaunchResult {
  std::vector<Report> faults;   // empty: the launch ran to its end
  std::vector<Report> warnings; // missing fences and the like that the options do not make faults
  uint64_t instructions = 0;    // executed warp instructions
  unsigned actors = 0;          // warps and engine channels seen in the largest cluster
  /// Names of the executed instruction forms ("mbarrier.try_wait.parity.shared::cta.b64").
  std::vector<std::string> forms;
  /// Why the launch was given up before its end: a limit of the options. Empty otherwise.
  std::string stopped;
  bool ok() const { return faults.empty() && stopped.empty(); }
};

class Device {
public:
  explicit Device(unsigned sms = 132);
  ~Device();

  /// Global memory. Addresses are the emulator's own; contents start as given or poisoned.
  uint64_t allocate(uint64_t bytes, uint64_t align = 256);
  void free(uint64_t address);
  /// The bytes of an allocation; null if the range is not inside one.
  uint8_t *host(uint64_t address, uint64_t bytes);

  /// Parses and decodes; an unknown instruction is an error only when it is executed, unless
  /// `strict`. The module's global variables get memory.
  Result<unsigned> load(std::string_view ptx, std::string name, bool strict = false);
  /// Address and size of a global variable of a loaded module.
  std::optional<std::pair<uint64_t, uint64_t>> global(unsigned module, std::string_view name);

  /// A tensor map in the 128 bytes a kernel parameter has; the emulator's own encoding.
  static Result<ParamBytes> encodeTensorMap(const TensorMapPlan &plan, uint64_t address);

  /// Runs a launch to its end or first fault. With `pdl` the launches in `sequence` may overlap.
  LaunchResult launch(unsigned module, const LaunchOptions &options,
                      const std::vector<ParamBytes> &params);
  /// Two launches of which the second may begin when the first lets it (griddepcontrol).
  struct Pending {
    unsigned module;
    LaunchOptions options;
    std::vector<ParamBytes> params;
  };
  LaunchResult launchSequence(const std::vector<Pending> &launches);

  struct Impl;

private:
  std::unique_ptr<Impl> impl;
};

} // namespace ts::emu

#endif // TS_EMULATOR_EMULATOR_H
