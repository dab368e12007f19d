// The normal form of a quiescent state, as a digest: control relative to what moves together, and
// knowledge as bits. Two states of one digest have the same futures.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_PROVER_NORMALISE_H
#define TS_PROVER_NORMALISE_H

#include "Machine.h"

namespace ts::prover {

class Normaliser {
public:
  explicit Normaliser(const Machine &machine);
  Digest digest(const State &state);
  /// The part without knowledge, which costs a third.
  Digest controlDigest(const State &state);
  /// Whether digest(state) is `whole`, whose control part is `control`.
  bool equals(const State &state, const Digest &control, const Digest &whole);

private:
  void control(const State &state, Digest &sum);
  void rings(const State &state, Digest &sum);
  void knowledge(const State &state, Digest &sum);
  uint64_t canonicalStage(int unit, int64_t stages, int64_t stage) const;
  uint64_t canonicalEpoch(const State &state, int epoch) const;

  const Machine &machine;
  const Program &program;
  std::vector<int64_t> base; ///< by unit
  std::vector<bool> live;    ///< by barrier
  Bits mask, all, exitAny, exitKnown;
  std::vector<Digest> names;  ///< by epoch, for those in `mask`
  std::vector<uint32_t> used; ///< words of `mask` that are not zero
};

} // namespace ts::prover

#endif
