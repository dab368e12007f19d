// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Answers from the IR to what the protocol component asks: how a pipeline is declared, who executes
// its operations, how the cluster looks. Read by verifier, inference and lowering alike.
#ifndef TS_ANALYSIS_SCHEDULE_PROTOCOLQUERIES_H
#define TS_ANALYSIS_SCHEDULE_PROTOCOLQUERIES_H

#include "ts/Analysis/Protocol/Protocol.h"
#include "ts/Dialect/TS/IR/TS.h"

namespace mlir::ts {

/// Stages of a hardware queue that declares no pipeline.
inline constexpr int64_t kDefaultQueueStages = 2;

/// The protocol component's name of a declared type. What kinds of sides a type has is for
/// producerKind and consumerKind to say; nobody lists types by themselves.
inline ::ts::protocol::PipelineType protocolTypeOf(PipelineAttr pipeline) {
  return ::ts::protocol::PipelineType(unsigned(pipeline.getType()));
}

/// Whether barriers guard the resource: a pipeline, a hardware queue or a pipeline group.
bool hasPipeline(Value resource);

/// The pipeline of a ts.resource, ts.work_queue or, for the shared side, ts.pipeline_group, with
/// the engines of both sides taken from the work that touches it. The resource must have one.
::ts::protocol::PipelineSpec pipelineSpecOf(Value resource);

/// The CTAs that a copy of `cta` goes to by what it says it is spread along; nothing if it says
/// nothing.
std::optional<::ts::protocol::CtaMask> reachedAlong(TmaLoadOp load, int64_t cta,
                                                    const ::ts::protocol::CtaGrid &grid);

/// Tasks that execute acquire, commit, wait and release of exactly this resource value; a replica
/// is a role of its own. ts.next_tile waits for and releases a hardware queue.
::ts::protocol::Participants participantsOf(Value resource);

/// What the copies of one task bring to `resource` per phase, where it is the same and known on
/// every path. From here the counts, the prover and the lowering have it.
std::optional<::ts::protocol::IssuedBytes> issuedPerPhase(Value resource, TaskOp task,
                                                          int64_t replica);

::ts::protocol::GroupSpec groupSpecOf(PipelineGroupOp group);

/// The pipeline group that `resource` is a member of, or null.
PipelineGroupOp groupOf(Value resource);

::ts::protocol::ClusterSpec clusterSpecOf(KernelOp kernel);

/// The declared counts and bytes, with what is left out filled in (resolveDeclared).
::ts::protocol::PipelineSpec resolvedSpecOf(Value resource);

} // namespace mlir::ts

#endif
