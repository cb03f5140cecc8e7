// SPDX-License-Identifier: Apache-2.0
// `fit` accepts every message that a compressor makes for d numbers, and none with a changed array or value.
#include "laconic/transport/array_lengths.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <span>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/compress/best_level.hpp"
#include "laconic/compress/identity_or.hpp"
#include "laconic/compress/low_rank.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/natural_dithering.hpp"
#include "laconic/compress/parts.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/scaled_down.hpp"
#include "laconic/compress/scaled_sign.hpp"
#include "laconic/compress/short_float.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_blocks.hpp"
#include "laconic/compress/two_means.hpp"
#include "laconic/compress/uniform.hpp"
#include "laconic/compress/vote.hpp"
#include "laconic/compress/zero_blocks.hpp"

using namespace laconic;
using detail::fit;

namespace {

template <class C>
auto sent(C const& compressor, std::size_t d) {
    std::vector<float> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = float(int(i % 5) - 2);
    host on;
    message_of<C, float, host> m;
    compressor(on, std::span<float const>(x), key{3}, m);
    return m;
}
// What is sent of d numbers fits these, and no others.
template <class C>
void fits(C const& compressor, std::size_t d) {
    auto const m = sent(compressor, d);
    CAPTURE(to_string(compressor));
    CAPTURE(d);
    CHECK(fit(m, d));
    CHECK_FALSE(fit(m, d + 1));
    if (d > 0) CHECK_FALSE(fit(m, d - 1));
}
// It does not after a change.
template <class C, class Change>
void spoilt(C const& compressor, Change change) {
    auto m = sent(compressor, 100);
    REQUIRE(fit(m, 100));
    change(m);
    CAPTURE(to_string(compressor));
    CHECK_FALSE(fit(m, 100));
}

}  // namespace

TEST_CASE("whatever a compressor sends fits") {
    for (std::size_t const d : {0u, 1u, 63u, 64u, 65u, 100u}) {
        fits(identity{}, d);
        fits(natural{}, d);
        fits(fp16{}, d);
        fits(quantize{3}, d);
        fits(quantize{3, 7}, d);
        fits(quantize{128, 7}, d);
        fits(natural_dithering{3, 7}, d);
        fits(uniform{3, 7}, d);
        fits(scaled_sign{7}, d);
        fits(vote{}, d);
        fits(two_means{7}, d);
        fits(low_rank<>{1, 1}, d);
        fits(threshold{1.5}, d);
        fits(threshold{9}, d);
        fits(rand_k{portion(0.5)} | natural{}, d);
        fits(top_k{portion(0.5)} | quantize{3, 7}, d);
        fits(top_k{portion(0.5)} | (top_k{portion(0.5)} | scaled_sign{}), d);
        fits(zero_blocks{7}, d);
        fits(top_blocks<>{portion(0.5), 7}, d);
        fits(top_blocks<>{portion(1.0), 7} | natural{}, d);
        fits(scaled_down{quantize{3}}, d);
        fits(identity_or<top_k<>>{top_k{portion(0.5)}}, d);
        if (d > 0) fits(best_level{top_k{1}}, d);
    }
    parts<quantize> const two{{{40, quantize{3}}, {60, quantize{1, 7}}}};
    fits(two, 100);
}

TEST_CASE("what has lost or won a number, or whose values were changed, does not") {
    auto const grow = [](auto& a) { a.resize(a.size() + 1); };
    spoilt(identity{}, [&](auto& m) { grow(m.values); });
    spoilt(quantize{3, 7}, [&](auto& m) { grow(m.steps); });
    spoilt(quantize{3, 7}, [](auto& m) { m.bucket = 0; });
    spoilt(quantize{3, 7}, [&](auto& m) { grow(m.codes); });
    spoilt(quantize{3, 7}, [&](auto& m) { grow(m.wide_codes); });
    spoilt(quantize{127, 7}, [](auto& m) { m.levels = 128; });
    spoilt(quantize{128, 7}, [](auto& m) { m.levels = 127; });
    spoilt(quantize{128, 7}, [&](auto& m) { grow(m.wide_codes); });
    spoilt(natural_dithering{3, 7}, [](auto& m) { m.norms.resize(14); });
    spoilt(uniform{3, 7}, [&](auto& m) { grow(m.least); });
    spoilt(uniform{3, 7}, [](auto& m) { m.bucket = 8; });
    spoilt(scaled_sign{7}, [](auto& m) { m.words.resize(1); });
    spoilt(scaled_sign{7}, [](auto& m) { m.bucket = 0; });
    spoilt(vote{}, [](auto& m) { m.bucket = 1; });
    spoilt(two_means{7}, [](auto& m) { m.above.resize(14); });
    spoilt(two_means{7}, [](auto& m) { m.count = 101; });
    spoilt(low_rank<>{10, 2}, [](auto& m) { m.rank = 11; });
    spoilt(low_rank<>{10, 2}, [](auto& m) { m.rows = 0; });
    spoilt(low_rank<>{10, 2}, [](auto& m) { m.rows = 20; });
    spoilt(low_rank<>{10, 2}, [](auto& m) { m.right.resize(19); });
    spoilt(threshold{1.5}, [&](auto& m) { grow(m.payload.values); });
    spoilt(threshold{1.5}, [&](auto& m) { grow(m.support); });
    spoilt(threshold{0.5}, [](auto& m) {
        m.support.resize(101);
        m.payload.values.resize(101);
    });
    spoilt(zero_blocks{7}, [](auto& m) { m.unit.length = 0; });
    spoilt(zero_blocks{7}, [](auto& m) { m.unit.length = ~std::size_t{0}; });
    spoilt(zero_blocks{7}, [](auto& m) { m.payload.values.resize(99); });
    spoilt(scaled_down{quantize{3}}, [&](auto& m) { grow(m.inside.codes); });
    spoilt(best_level{top_k{1}}, [](auto& m) { m.length = 99; });
    spoilt(identity_or<top_k<>>{top_k{5}}, [](auto& m) { m.is_first = true, m.first.values.resize(0); });
    spoilt(parts<quantize>{{{40, quantize{3}}, {60, quantize{3}}}}, [](auto& m) { m.each.pop_back(); });
    spoilt(parts<quantize>{{{40, quantize{3}}, {60, quantize{3}}}}, [&](auto& m) { grow(m.each[1].codes); });
    spoilt(parts<quantize>{{{40, quantize{3}}, {60, quantize{3}}}}, [](auto& m) { m.each[0].bucket = 1; });
}
