// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the checks before the prover refuse and give no meaning to.
#ifndef TS_TEST_ORACLES_REFUSED_H
#define TS_TEST_ORACLES_REFUSED_H

#include "ts/Analysis/Schedule/Model.h"

namespace ts::oracle {

/// Why an earlier check refuses the kernel, so that there is nothing to compare; else nothing.
std::string refused(const schedule::Kernel &kernel);

} // namespace ts::oracle

#endif // TS_TEST_ORACLES_REFUSED_H
