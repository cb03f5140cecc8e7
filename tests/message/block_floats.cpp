// SPDX-License-Identifier: Apache-2.0
// Numbers of block floats by hand: the element times the scale of its block, and what they share.
#include "laconic/message/block_floats.hpp"

#include "support/everything.hpp"

static_assert(Message<block_floats<double, host>, double, host> && Message<block_floats<float, host>, float, host>);
static_assert(block_floats<float, host>::terms_type::in_order);

TEST_CASE_TEMPLATE("each number is its element times its scale", T, float, double) {
    block_floats<T, host> const m{block_format::mxfp4, 2, 1, {1, T(0.25), 8}, {1, 15, 7, 9, 2}};
    host on;
    std::vector<T> out(5, 10);
    add_message(on, std::span(out), T(2), m);
    CHECK(out == std::vector<T>{11, -2, 13, 9.75, 26});
    CHECK(m.terms_of(2, m.codes.data(), 2).from(0)[0].value == T(0.125));
    block_floats<T, host> const shared{block_format::nvfp4, 16, T(0.5), {3}, {2, 10}};
    std::vector<T> two(2, 0);
    add_message(on, std::span(two), T(1), shared);
    CHECK(two == std::vector<T>{1.5, -1.5});
    CHECK(m.fits(5));
    CHECK_FALSE(m.fits(6));
    auto wrong = m;
    wrong.scales.pop_back();
    CHECK_FALSE(wrong.fits(5));
}
