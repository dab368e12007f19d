// A Perfetto trace (Chrome JSON) of a launch: one track per warp with its waits and instructions
// that matter to others, one per engine channel with its operations. Time is steps of the cluster.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_CORE_TRACE_H
#define TS_EMULATOR_CORE_TRACE_H

#include "Engine.h"

#include <map>

namespace ts::emu {

class Tracer {
public:
  explicit Tracer(std::string file);
  void blocked(const Warp &warp, const CodeEntry &code, uint64_t step);
  void executed(const Warp &warp, const CodeEntry &code, uint64_t step, bool wasBlocked);
  void engine(const ChannelKey &channel, const Cluster &cluster, const CodeEntry *code,
              uint64_t step);
  /// An error if the file cannot be written.
  Status write();

private:
  struct Slice {
    uint64_t process, thread; // CTA; warp, or 1000 + engine channel
    const CodeEntry *code;
    uint64_t begin, end;
    bool waiting;
    std::string name;
  };
  void add(Slice slice);
  std::string file;
  std::mutex mutex;
  std::vector<Slice> slices;
  bool truncated = false;
  std::map<std::pair<uint64_t, uint64_t>, std::pair<const CodeEntry *, uint64_t>> waiting;
  std::map<uint64_t, std::string> threads; // names of engine tracks
};

} // namespace ts::emu

#endif // TS_EMULATOR_CORE_TRACE_H
