// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// How often this thread has allocated memory so far, in the program test_loops.
std::size_t allocations();
/// How many bytes this thread has allocated and not freed, there.
std::ptrdiff_t bytes_held();
/// The last of so many calls, from 1, in which this thread allocated; 0 where none did.
template <class Call>
std::size_t last_to_allocate(std::size_t calls, Call call) {
    std::size_t last = 0;
    for (std::size_t k = 1; k <= calls; ++k) {
        auto const before = allocations();
        call();
        if (allocations() != before) last = k;
    }
    return last;
}
