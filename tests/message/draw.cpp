// SPDX-License-Identifier: Apache-2.0
// Supports are drawn in three ways, the same on both backends, with the stated counts and probabilities.
#include "laconic/message/draw.hpp"

#include "support/everything.hpp"

TEST_CASE("the three ways to draw a support, the same on both backends") {
    host fast;
    reference plain;
    std::vector<coordinate> a, b;
    int all = 0;
    for (std::uint64_t t = 0; t < 400; ++t) {
        for (draw const& d : {draw{draw_method::exactly, 3, 0, key{t}}, draw{draw_method::each, 0, 0.3, key{t}},
                              draw{draw_method::all_or_none, 0, 0.25, key{t}}}) {
            draw_support(fast, d, 10, a);
            draw_support(plain, d, 10, b);
            CHECK(a == b);
            if (d.how == draw_method::exactly) CHECK(a.size() == 3);
            if (d.how == draw_method::all_or_none) CHECK((a.empty() || a.size() == 10));
            all += d.how == draw_method::all_or_none && a.size() == 10;
        }
    }
    CHECK(std::abs(all - 100) < 5 * std::sqrt(400 * 0.25 * 0.75));
}

TEST_CASE("a probability is drawn on the grid of a word") {
    CHECK(drawable(0.5) == 0.5);
    CHECK(drawable(0.1) < 0.1);
    CHECK(drawable(0.1) > 0.1 - 0x1p-32);
}
