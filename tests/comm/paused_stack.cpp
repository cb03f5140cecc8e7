// SPDX-License-Identifier: Apache-2.0
// Two stacks run in turns, exceptions work on both, and a stack without memory is refused.
#include "laconic/comm/paused_stack.hpp"

#include "support/everything.hpp"

using laconic::detail::mapped_stack;
using laconic::detail::paused_stack;

// makecontext hands over ints only.
struct pair_of_stacks {
    paused_stack first;
    mapped_stack second;
    std::string order;
    bool on_its_own = false;
} stacks;

void in_the_second() {
    paused_stack::begin(stacks.first);
    std::byte const here{};
    auto const at = reinterpret_cast<std::uintptr_t>(&here);
    auto const bottom = reinterpret_cast<std::uintptr_t>(stacks.second.bottom);
    stacks.on_its_own = at >= bottom && at < bottom + stacks.second.size;
    stacks.order += '2';
    stacks.second.resume(stacks.first);
    try {
        throw std::runtime_error("4");
    } catch (std::runtime_error const& e) {
        stacks.order += e.what();
    }
    paused_stack::end(stacks.first);
}

TEST_CASE("two stacks run by turns, one of them in memory of its own") {
    REQUIRE(stacks.second.map(100000));
    CHECK(stacks.second.size >= 100000);
    stacks.second.context.uc_link = &stacks.first.context;
    makecontext(&stacks.second.context, in_the_second, 0);
    stacks.order += '1';
    stacks.first.resume(stacks.second);
    stacks.order += '3';
    stacks.first.resume(stacks.second);
    CHECK(stacks.order == "1234");
    CHECK(stacks.on_its_own);
}

TEST_CASE("where there is no memory for a stack, map() returns false") {
    mapped_stack none;
    CHECK_FALSE(none.map(std::size_t{1} << 60));
}
