// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each operation on a ring does, per pipeline type: on which CTAs it is executed, what it
// waits for, where it arrives and how often. Appends explorer operations to one agent. Control flow
// and memory are Unroll.cpp's.
#ifndef TS_TEST_ORACLES_RINGS_H
#define TS_TEST_ORACLES_RINGS_H

#include "Unroll.h"

#include <set>

namespace ts::oracle {

/// A side's position in a ring: one counter, or one each for opening and closing.
struct Cursor {
  bool opens = false, closes = false, split = false, probes = false;
  int64_t open = 0, close = 0, opened = 0;
  int hint = -1;
  int64_t tried = -1; ///< slot that the hint speaks of
};

struct RingKey {
  int resource;
  protocol::Side side;
  auto operator<=>(const RingKey &) const = default;
};

/// One agent that is being written.
struct Writer {
  int agent = -1, task = -1, cta = 0;
  int warp = 0;      ///< of the task, where warps are agents of their own
  int64_t warps = 1; ///< that this agent stands for
  bool splitWarps = false;
  std::map<RingKey, Cursor> cursors;
  /// Where the operations stand that arm a slot of a fork group, and the members acquired for it;
  /// by group and slot.
  std::map<std::pair<int, int64_t>, std::pair<std::vector<size_t>, std::set<int>>> armed;
};

class Rings {
public:
  Rings(const schedule::Kernel &kernel, Program &program);

  bool isRing(int resource) const { return resource >= 0 && rings[size_t(resource)].spec; }
  const protocol::PipelineSpec &spec(int resource) const { return *rings[size_t(resource)].spec; }
  const protocol::CtaGrid &grid(int resource) const { return rings[size_t(resource)].grid; }
  int fullBarrier(int resource, int64_t cta, int64_t slot) const;
  int emptyBarrier(int resource, int64_t cta, int64_t slot) const;
  /// Members of a group; nothing for anything else.
  const std::vector<int> &membersOf(int resource) const;
  /// Whether the barrier on this side belongs to a group and not to its member.
  bool shares(int resource, bool full) const;

  /// Whether warps of the task go their own way: lanes, or copies that each warp issues.
  bool splitsWarps(const schedule::Task &task) const;
  /// Positions of a new agent at the start of its task.
  void start(Writer &writer) const;
  void perform(Writer &writer, int resource, protocol::Op op);
  void drain(Writer &writer);
  /// Sets Program::strayFork where a slot of a fork was not acquired as a whole.
  void checkForks(const Writer &writer) const;
  /// The slot that work on this side sees.
  int64_t slotOfWork(const Writer &writer, int resource, protocol::Side side) const;
  /// The closing op of a member's bracket may stand on its group.
  bool closes(const Writer &writer, int resource, protocol::Side side) const;
  /// Whether a tensor core side does anything on this CTA.
  bool actsOn(int resource, protocol::Side side, int64_t cta) const;
  /// CTAs whose memory a tensor core operation issued here touches.
  std::vector<int64_t> pair(int resource, int64_t cta) const;

  /// Roles of one ring that touched different numbers of slots.
  bool imbalanced() const;
  /// Barrier counts from the specs, or from what really arrives.
  void finish();
  int64_t inferred(int resource, bool full) const;

private:
  /// One use of a ring by one agent, or by all lanes together (-1).
  struct Role {
    int cta = 0;
    protocol::Op op = protocol::Op::Acquire;
    int agent = -1;
    auto operator<=>(const Role &) const = default;
  };
  struct Ring {
    std::optional<protocol::PipelineSpec> spec;
    protocol::CtaGrid grid{protocol::PipelineSpec(), protocol::ClusterSpec()};
    int64_t ctas = 1;
    int firstBarrier = 0;
    uint64_t waitsFull = 0, waitsEmpty = 0;    ///< CTAs where somebody waits
    int64_t armers = 0;                        ///< agents that arm one phase
    std::map<Role, std::set<int64_t>> touched; ///< slots
    int group = -1;                            ///< that it is a member of
  };
  /// The ring whose barriers are used on this side: the group's where they are shared.
  int owner(int resource, bool full) const {
    return shares(resource, full) ? rings[size_t(resource)].group : resource;
  }
  // Groups (UnrollGroups.cpp)
  std::optional<protocol::PipelineSpec> specOf(int resource) const;
  void armFork(Writer &writer, int resource, int64_t slot);
  void finishGroup(int resource);
  void touch(const Writer &writer, int resource, protocol::Op op, int64_t slot);
  void addIdle(int resource, std::map<Role, std::set<int64_t>> &roles) const;
  int64_t rank(const Ring &ring, int64_t cta) const { return cta % ring.grid.size(); }
  int64_t lane(const Writer &writer, const schedule::Task &task, int64_t stride) const;
  void scan(int task);
  bool executes(const Ring &ring, protocol::Op op, int64_t cta) const;
  void arrive(Writer &writer, int resource, bool full, int64_t slot,
              const std::vector<int64_t> &ctas, int64_t count, int64_t bytes = 0);
  void commitTo(Writer &writer, int resource, bool full, int64_t slot,
                const std::vector<int64_t> &ctas);
  void arm(Writer &writer, int resource, int64_t slot);
  void commit(Writer &writer, int resource, int64_t slot);
  void release(Writer &writer, int resource, int64_t slot);
  void add(Writer &writer, Micro op) {
    program.agents[size_t(writer.agent)].ops.push_back(std::move(op));
  }

  const schedule::Kernel &kernel;
  Program &program;
  std::vector<Ring> rings;
};

/// Groups of asynchronous operations that a thread counts.
enum GroupKey : int { GroupWgmma = 1, GroupBulk = 2, GroupCpAsync = 3 };
/// Key of what is held until a ring's closing op, and of tensor memory loads in flight.
inline int heldKey(int resource, protocol::Side side) {
  return 16 + 2 * resource + (side == protocol::Side::Consumer);
}
constexpr int heldTmem = 8;

} // namespace ts::oracle

#endif // TS_TEST_ORACLES_RINGS_H
