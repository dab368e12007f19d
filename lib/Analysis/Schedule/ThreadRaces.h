// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the warps of one task know of each other's accesses, and where two of them meet without
// knowing: the memory half of the walk in TaskThreads.cpp. Order between tasks is the prover's.
#ifndef TS_LIB_ANALYSIS_SCHEDULE_THREADRACES_H
#define TS_LIB_ANALYSIS_SCHEDULE_THREADRACES_H

#include "ThreadValues.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

#include <algorithm>
#include <functional>

namespace mlir::ts::detail {

/// By warp: everything that it did before this time is known.
using KnownTimes = std::vector<int64_t>;

/// Known for certain, and known if every conditional synchronisation happens.
struct Knowledge {
  KnownTimes sure, maybe;
  /// What all lanes of a warp did before this time, each for itself, is known too.
  KnownTimes lanes = {};
};

/// How an access completes.
enum class Completion : uint8_t { AtOnce, Bulk, Wgmma, CpAsync };

struct ThreadAccess {
  Operation *op = nullptr;
  int allocation = -1;
  int64_t slot = 0; ///< stage of a ring, -1: any
  bool write = false;
  bool declared = false;  ///< work without a body: its parts among the warps are its author's
  bool undecided = false; ///< not known who, where or whether
  bool engine = false;    ///< by an engine that one thread starts, or by a whole warp
  Completion completion = Completion::AtOnce;
  Value constant;      ///< what a store writes, if all threads write the same
  ThreadNumber offset; ///< bits from the start of the stage; a column of tensor memory has 32
  /// Pieces from the offset on, as begin and size, sorted.
  std::vector<std::pair<int64_t, int64_t>> pieces;
  bool byLanes = false; ///< tensor memory: a warp reaches its quarter of the lanes only
  /// Who; the first lane speaks for a warp that acts together.
  llvm::BitVector threads, warps;
  SmallVector<std::pair<int, bool>, 2> conditions; ///< symbol and value
  int64_t begin = 0, end = 0, group = 0;
};

class ThreadRaces {
public:
  ThreadRaces(ThreadValues &values, unsigned warps, std::function<std::string(int)> nameOf,
              ::ts::schedule::Task &task, std::function<int32_t(Operation *)> place,
              std::function<bool(int, int)> overlaid);

  void access(ThreadAccess access);
  /// All of `warps` meet; `certain` if nothing that is unknown decides whether they do.
  void meet(const llvm::BitVector &warps, bool certain);
  /// The lanes of each of `warps` meet.
  void meetLanes(const llvm::BitVector &warps);
  /// What `warps` know together now.
  Knowledge knowledge(const llvm::BitVector &warps);
  void learn(const llvm::BitVector &warps, const Knowledge &what, bool certain);
  /// All lanes of `warps` learn what the lanes of their own warp did.
  void learnLanes(const llvm::BitVector &warps, const Knowledge &what);
  void commitGroup(Completion kind, const llvm::BitVector &warps);
  void waitGroups(Completion kind, int64_t pending, const llvm::BitVector &warps);
  /// What is certain at one place of the walk. A branch that may not be taken starts from such a
  /// state; after it, only what both ways make certain is.
  struct Certain {
    std::vector<KnownTimes> sure;
    std::vector<int64_t> lanesMet;
  };
  Certain enterBranch() {
    ++branches;
    return {sure, lanesMet};
  }
  /// Ends one way and goes back to `to`; returns what was certain at its end.
  Certain leaveWay(const Certain &to);
  void leaveBranch(const Certain &one, const Certain &other);
  /// Forgets the run, not what was found.
  void restart();
  bool exhausted() const { return work > kMostWork; }
  /// A thread of `access` reaches beyond the `bits` of one stage of its allocation.
  void outside(const ThreadAccess &access, int64_t bits);
  /// A thread of `access` has an `index` that dimension `number` of a buffer does not have.
  void outside(const ThreadAccess &access, const ThreadNumber &index, size_t number,
               int64_t extent);
  /// One lane of `warp` arrives at `at` for what its other lanes did in `access`, unless they have
  /// met since.
  void arrivesAlone(const ThreadAccess &access, unsigned warp, Operation *at, StringRef barrier);
  /// Time of an access that is not compared with others.
  int64_t tick() { return ++now; }
  /// Takes `what` for granted; once for every second operation and key (below -1: once
  /// for the key).
  void assume(std::string what, Operation *first, Operation *second, int key);

private:
  static constexpr int64_t kMostWork = int64_t(1) << 24, kNever = int64_t(1) << 60;
  struct Piece {
    int64_t begin, end;
    unsigned thread;
  };

  void assume(const ThreadAccess &a, const ThreadAccess &b);
  void compare(const ThreadAccess &a, const ThreadAccess &b);
  std::vector<Piece> expand(const ThreadAccess &access);
  void report(const ThreadAccess &a, const ThreadAccess &b, const Piece &p, const Piece &q);
  void forget();
  void tellOutside(const ThreadAccess &access, unsigned thread, std::string where,
                   std::string help);
  /// The lanes of `warp` have not met since `access` was over.
  bool lanesOpen(const ThreadAccess &access, unsigned warp) const {
    return std::max(access.begin, access.end) >= lanesMet[warp];
  }
  bool knows(const std::vector<KnownTimes> &clock, unsigned who, unsigned of,
             const ThreadAccess &access) const {
    return access.end < clock[who][of];
  }

  ThreadValues &values;
  unsigned warpCount;
  std::function<std::string(int)> nameOf;
  ::ts::schedule::Task &task;
  std::function<int32_t(Operation *)> place;
  std::function<bool(int, int)> overlaid; ///< two allocations may share bytes
  std::vector<KnownTimes> sure, maybe;    ///< by warp that knows, by warp that is known
  std::vector<int64_t> lanesMet;  ///< by warp: time of the last synchronisation of its lanes
  std::vector<int64_t> groups[4]; ///< by completion and warp: closed groups
  std::vector<ThreadAccess> live;
  int64_t now = 1, work = 0;
  int branches = 0; ///< that the walk is in
  llvm::DenseSet<std::pair<Operation *, Operation *>> reported;
  llvm::DenseSet<std::pair<Operation *, int>> assumed;
};

} // namespace mlir::ts::detail

#endif
