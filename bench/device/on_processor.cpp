// SPDX-License-Identifier: Apache-2.0
//
// The same where Thrust's device is the processor: a run of every row, on any machine.
#include "kernels.cu"
