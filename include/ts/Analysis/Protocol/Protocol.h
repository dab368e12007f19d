// Umbrella of the protocol component: the one place that knows what a pipeline operation means.
// See Actions.h for the table, Counts.h for arrivals and bytes, Validate.h for the checks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TS_ANALYSIS_PROTOCOL_PROTOCOL_H
#define TS_ANALYSIS_PROTOCOL_PROTOCOL_H

#include "ts/Analysis/Protocol/Actions.h"
#include "ts/Analysis/Protocol/Counts.h"
#include "ts/Analysis/Protocol/Slots.h"
#include "ts/Analysis/Protocol/Types.h"
#include "ts/Analysis/Protocol/Validate.h"

#endif // TS_ANALYSIS_PROTOCOL_PROTOCOL_H
