// Inputs of the protocol component: what a pipeline declares, how the cluster looks and which tasks
// execute which barrier operation. Plain data; no barrier semantics here (see Actions.h, Counts.h)
// and no MLIR: the verifier, the prover and the lowering fill these structs from their own IR.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_PROTOCOL_TYPES_H
#define TS_ANALYSIS_PROTOCOL_TYPES_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ts::protocol {

//--- Pipelines ----------------------------------------------------------------------------------

/// Named <producer><consumer>: the kind of operation that fills a stage, then the kind that reads
/// it.
enum class PipelineType : uint8_t {
  AsyncAsync,
  TmaAsync,
  TmaUmma,
  UmmaAsync,
  AsyncUmma,
  UmmaUmma,
  ClcFetchAsync
};
constexpr unsigned numPipelineTypes = 7;

enum class SideKind : uint8_t { Async, Tma, Umma, Clc };
enum class Side : uint8_t { Producer, Consumer };

enum class Op : uint8_t { TryAcquire, Acquire, Commit, TryWait, Wait, Release };
enum class Barrier : uint8_t { Full, Empty };

SideKind producerKind(PipelineType type);
SideKind consumerKind(PipelineType type);
inline bool hasTmaProducer(PipelineType type) { return producerKind(type) == SideKind::Tma; }
inline bool hasUmmaSide(PipelineType type) {
  return producerKind(type) == SideKind::Umma || consumerKind(type) == SideKind::Umma;
}
/// The full barrier of these counts bytes besides arrivals.
inline bool countsBytes(PipelineType type) {
  return hasTmaProducer(type) || producerKind(type) == SideKind::Clc;
}
inline Side sideOf(Op op) { return op <= Op::Commit ? Side::Producer : Side::Consumer; }
/// Index of the op's entry in the four-role interleave tuple: acquire, commit, wait, release.
unsigned roleIndex(Op op);

/// Signalling threads as a set. All is exclusive, the other two combine.
enum Signal : uint8_t { SignalAll = 1, SignalCtaLeader = 2, SignalTaskWarpLeader = 4 };
using SignalSet = uint8_t;

/// What touches the memory of a stage. A set, since a side may use several (zero fill, then TMA).
enum Engine : uint16_t {
  EngineGeneric = 1,     ///< ld/st of threads
  EngineCpAsync = 2,     ///< cp.async (non-bulk), writes through the generic proxy
  EngineTma = 4,         ///< bulk copies, load into or store out of the stage
  EngineUmma = 8,        ///< tcgen05.mma
  EngineUtccp = 16,      ///< tcgen05.cp
  EngineWgmma = 32,      ///< wgmma, finished by wait_group of the issuing warpgroup
  EngineTmemLoad = 64,   ///< tcgen05.ld
  EngineTmemStore = 128, ///< tcgen05.st
  EngineClc = 256        ///< clusterlaunchcontrol response
};
using EngineSet = uint16_t;

/// What one side does to the stage inside its bracket.
struct SideAccess {
  EngineSet reads = 0;
  EngineSet writes = 0;
  EngineSet any() const { return reads | writes; }
};

enum class Space : uint8_t { None, Smem, Tmem, SmemAndTmem };

/// How threads of an async consumer give a stage back when the type leaves a choice (TmaAsync).
enum class ReleaseStyle : uint8_t { PerWarp, PerThread };
/// Which CTAs a UMMA consumer's commit reaches when several MMA pairs share a cluster.
enum class CommitMask : uint8_t { Derived, WholeCluster };

using LayoutVmnk = std::array<int64_t, 4>;

struct PipelineSpec {
  std::string name; ///< of the resource, for messages
  PipelineType type = PipelineType::AsyncAsync;
  int64_t stages = 1;
  std::optional<int64_t> numBytes, producerCount, consumerCount;
  SignalSet producerSignal = SignalAll;
  SignalSet consumerSignal = SignalAll;
  std::optional<SignalSet> consumerWaitSignal;
  bool advanceOnAcquire = false;
  bool advanceOnWait = false;
  std::array<int64_t, 4> interleave = {1, 1, 1, 1}; ///< acquire, commit, wait, release
  bool asyncLoad = false;                           ///< producer arrives through cp.async
  /// [0]: operand A is multicast along n; [1]: operand B is multicast along m.
  std::array<bool, 2> multicast = {true, true};
  std::optional<int64_t> bytesPerWarpPerCta;
  std::optional<LayoutVmnk> ctaLayout;
  /// Bytes of one stage in one CTA; used to infer bytes only where no copy is known.
  std::optional<int64_t> stageBytes;
  Space space = Space::Smem;
  /// Left out: derived from type, space and asyncLoad (see defaultAccess).
  std::optional<SideAccess> producerAccess, consumerAccess;
  /// Engines that access the same shared memory through other resources, laid over this one.
  EngineSet overlaid = 0;
  /// Choices that a declared count makes; resolveDeclared() fills them in.
  ReleaseStyle releaseStyle = ReleaseStyle::PerWarp;
  CommitMask commitMask = CommitMask::Derived;

  bool interleaved() const;
  int64_t stride(Op op) const { return interleave[roleIndex(op)]; }
};

/// Engines a side uses when nothing more precise is known.
SideAccess defaultAccess(const PipelineSpec &spec, Side side);
SideAccess accessOf(const PipelineSpec &spec, Side side);

//--- Cluster ------------------------------------------------------------------------------------

using CtaMask = uint64_t;
constexpr int64_t maxCtas = 64; ///< hardware stops at 16; beyond this nothing is computed

struct ClusterSpec {
  std::array<int64_t, 3> shape = {1, 1, 1};
  int64_t ctasPerMma = 1;           ///< V: CTAs that cooperate in one MMA
  std::optional<LayoutVmnk> layout; ///< left out: {V, x / V, y, z}
};

/// The CTAs that one pipeline sees: its own layout, else the cluster's. Rank is v-fastest.
class CtaGrid {
public:
  /// Invalid layouts (non-positive, over maxCtas) give a grid of one CTA with valid() == false.
  CtaGrid(const PipelineSpec &spec, const ClusterSpec &cluster);

  bool valid() const { return ok; }
  int64_t size() const { return count; }
  int64_t pairSize() const { return dims[0]; }
  int64_t pairs() const { return count / dims[0]; }
  const LayoutVmnk &layout() const { return dims; }
  LayoutVmnk coord(int64_t cta) const;
  int64_t pairLeader(int64_t cta) const { return cta - cta % dims[0]; }
  CtaMask all() const { return count == maxCtas ? ~CtaMask(0) : (CtaMask(1) << count) - 1; }
  CtaMask pairOf(int64_t cta) const;
  /// CTAs that exchange multicast copies with `cta`, itself included (same v and k).
  CtaMask peers(int64_t cta, const std::array<bool, 2> &multicast) const;
  /// Both CTAs of every pair among peers().
  CtaMask peerPairs(int64_t cta, const std::array<bool, 2> &multicast) const;

private:
  LayoutVmnk dims = {1, 1, 1, 1};
  int64_t count = 1;
  bool ok = true;
};

//--- Who executes what --------------------------------------------------------------------------

/// Bytes that one task's copies of one CTA bring to the barrier of one phase, by destination.
struct IssuedBytes {
  int64_t own = 0;    ///< into the issuing CTA's stage only
  int64_t alongN = 0; ///< multicast to all n of the same m (operand A)
  int64_t alongM = 0; ///< multicast to all m of the same n (operand B)
};

/// One task that executes one of the barrier operations.
struct TaskRole {
  std::string task;
  int64_t warps = 1;
  int64_t firstWarp = 0;
  int64_t pinnedCta = -1;                         ///< only on this CTA rank, or -1
  std::optional<int64_t> domainStart, domainStep; ///< of the loop around the op, if constant
  std::optional<int64_t> armingWarps;             ///< warps that arm and issue; all if left out
  std::optional<IssuedBytes> issued;              ///< per phase, if the copies are known
};

struct Participants {
  std::vector<TaskRole> acquire, commit, wait, release;
  const std::vector<TaskRole> &of(Op op) const;
  std::vector<TaskRole> &of(Op op);
};

enum class GroupMode : uint8_t { Merge, Fork, FusedMerge };

struct GroupMember {
  PipelineSpec spec;
  Participants by;
};

struct GroupSpec {
  std::string name;
  GroupMode mode = GroupMode::Merge;
  std::vector<GroupMember> members;
  Participants by; ///< operations on the group itself
};

//--- Names --------------------------------------------------------------------------------------

std::string_view name(PipelineType type); ///< "tma_umma"
std::string_view name(Op op);             ///< "try_acquire"
std::string_view name(Barrier barrier);   ///< "full"
std::string_view name(GroupMode mode);    ///< "fused_merge"
std::string signalName(SignalSet set);    ///< "cta_leader | task_warp_leader"
std::string engineNames(EngineSet set);   ///< "generic + tma"

} // namespace ts::protocol

#endif // TS_ANALYSIS_PROTOCOL_TYPES_H
