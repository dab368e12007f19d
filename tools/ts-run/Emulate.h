// One run after the other in the emulator, one for each schedule: what is printed about them and
// how they are counted. Checking the arrays is the caller's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_TOOLS_TSRUN_EMULATE_H
#define TS_TOOLS_TSRUN_EMULATE_H

#include "Options.h"

#include "ts/Emulator/RunPlan.h"
#include "ts/Runtime/LaunchSequence.h"

/// What the caller finds in the arrays after a run: sentences, and whether one is a complaint.
struct Judgement {
  std::vector<std::string> lines;
  bool ok = true;
};

class Emulation {
public:
  using Arrays = std::map<std::string, ts::HostArray>;
  using Judge = std::function<ts::Result<Judgement>(Arrays &)>;

  /// `name` is that of the kernel, or of the sequence of kernels.
  Emulation(const Options &options, std::string name, const std::vector<ts::LaunchPlan> &plans,
            std::string ptx, int64_t sms, std::ostream &log)
      : options(options), name(std::move(name)), plans(plans), ptx(std::move(ptx)), sms(sms),
        log(log) {}

  /// Runs every schedule from `given`; `last` holds the arrays of the last run. True if all is
  /// well; an error is about the PTX or the launch.
  ts::Result<bool> run(const Arrays &given, Arrays &last, const Judge &judge);

private:
  struct Counts {
    unsigned runs = 0, failed = 0;
    uint64_t instructions = 0;
    double seconds = 0;
    std::string firstFailed;
  };
  ts::Status runOne(const ts::emu::Schedule &schedule, const Arrays &given, Arrays &last,
                    const Judge &judge);
  ts::emu::LaunchOptions launchOptions(const ts::emu::Schedule &schedule) const;
  void tell(const ts::emu::Schedule &schedule, const ts::emu::RunReport &report,
            const Judgement &judged, bool ok);
  void summarise() const;
  void printJson() const;

  const Options &options;
  const std::string name;
  const std::vector<ts::LaunchPlan> &plans;
  const std::string ptx;
  const int64_t sms;
  std::ostream &log;
  Counts counts;
  unsigned actors = 0;
  unsigned told = 0;                // failing runs that were reported in full
  std::optional<Arrays> firstGood;  // equal results need no second check
  std::vector<std::string> records; // JSON of each run
};

#endif // TS_TOOLS_TSRUN_EMULATE_H
