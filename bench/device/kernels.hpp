// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// What main.cpp, which reads arguments, and kernels.cu, which is compiled for the device, exchange.
namespace device_bench {

/// Whether there is a GPU; always, where Thrust's device is the processor.
bool is_there();

/// Measures all kernels on n >= 2048 floats, and prints the table. Throws laconic::error.
void measure(std::size_t n);

}  // namespace device_bench
