// SPDX-License-Identifier: Apache-2.0
// The device's block selections, `gather` and `scatter` are the reference's, to the bit.
#include "laconic/backend/device/blocks.hpp"

#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;
using both::here;
using both::in;

TEST_CASE_TEMPLATE("blocks that hold a number, and the largest blocks, are the reference's", T, float, double) {
    device on;
    reference plain;
    device::array<coordinate> out;
    both::coordinates expected;
    both::each_vector<T>([&](std::vector<T> const& x) {
        auto const a = both::there(on, x);
        for (std::size_t const block : {1u, 3u, 16u, 100u, 100000u}) {
            CAPTURE(block);
            select_nonzero_blocks(on, in(a), block, out);
            select_nonzero_blocks(plain, in(x), block, expected);
            CHECK(here(on, out) == expected);
            std::size_t const blocks = detail::on_device::buckets_of(x.size(), block);
            for (std::size_t const k : {std::size_t{0}, (blocks + 9) / 10, blocks / 2, blocks}) {
                select_largest_blocks(on, in(a), block, k, out);
                select_largest_blocks(plain, in(x), block, k, expected);
                CHECK(here(on, out) == expected);
            }
        }
    });
}

TEST_CASE_TEMPLATE("what is gathered is scaled, and is put back by scatter", T, float, double) {
    device on;
    reference plain;
    for (std::size_t const d : both::lengths)
        for (std::size_t const unit : {1u, 3u, 64u}) {
            auto const x = both::numbers<T>(both::kind::odd, d), y = both::numbers<T>(both::kind::noise, d);
            auto const a = both::there(on, x);
            std::size_t const places = detail::on_device::buckets_of(d, unit);
            for (std::size_t const first : {0u, 1u}) {
                both::coordinates at;
                for (std::size_t u = first; u < places; u += 2) at.push_back(static_cast<coordinate>(u));
                auto const there_at = both::there(on, at);
                device::array<T> values(3);
                std::vector<T> expected;
                gather(on, in(a), in(there_at), unit, T(-0.3), values);
                gather(plain, in(x), in(at), unit, T(-0.3), expected);
                CHECK(both::same_bits(here(on, values), expected));
                auto b = both::there(on, y);
                auto back = y;
                scatter(on, in(values), in(there_at), unit, std::span<T>(b));
                scatter(plain, in(expected), in(at), unit, std::span<T>(back));
                CHECK(both::same_bits(here(on, b), back));
            }
        }
}
