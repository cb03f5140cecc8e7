// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// How often this thread has allocated memory so far, in the program test_loops.
std::size_t allocations();
/// How many bytes this thread has allocated and not freed, there.
std::ptrdiff_t bytes_held();
