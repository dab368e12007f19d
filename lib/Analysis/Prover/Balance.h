// How often the roles of a ring use it, as functions of the trip counts and conditions, and where
// two of them differ. It looks at the code of the agents only and runs nothing: whether a
// difference blocks anybody is the search's to find. SPDX-License-Identifier: Apache-2.0 WITH
// LLVM-exception
#ifndef TS_PROVER_BALANCE_H
#define TS_PROVER_BALANCE_H

#include "Program.h"

namespace ts::prover {

/// The imbalance with the smallest trip counts, as a fault with its counts, places and choices.
std::optional<Fault> findImbalance(const Program &program);

} // namespace ts::prover

#endif
