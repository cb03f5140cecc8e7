// SPDX-License-Identifier: Apache-2.0
#include "laconic/wire/support_plan.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "laconic/core/key.hpp"

using namespace laconic;

namespace {

// Each code's bits by its definition, coordinate by coordinate.
template <class I>
std::uint64_t packed_bits(std::vector<I> const& support) {
    std::uint64_t bits = 0, next = 0;
    for (std::size_t first = 0; first < support.size(); first += 128) {
        auto const end = std::min(first + 128, support.size());
        unsigned width = 0;
        for (auto j = first; j < end; next = std::uint64_t{support[j++]} + 1)
            width = std::max(width, static_cast<unsigned>(std::bit_width(support[j] - next)));
        bits += 6 + (end - first) * width;
    }
    return bits;
}
template <class I>
std::uint64_t rice_bits(std::vector<I> const& support, unsigned r) {
    std::uint64_t bits = 6, next = 0;
    for (I const i : support) {
        bits += ((i - next) >> r) + 1 + r;
        next = std::uint64_t{i} + 1;
    }
    return bits;
}

template <class I>
void check(std::uint64_t length, std::vector<I> const& support) {
    CAPTURE(length);
    CAPTURE(support.size());
    auto const fast = detail::plan_support(length, std::span<I const>(support), position_code::fastest);
    auto const best = detail::plan_support(length, std::span<I const>(support), position_code::smallest);
    auto const raw = support.size() * width_of(length), packed = packed_bits(support);
    REQUIRE(fast.bits == std::min({raw, length, packed}));
    REQUIRE(fast.code == (fast.bits == raw      ? support_code::raw
                          : fast.bits == length ? support_code::bitmap
                                                : support_code::packed));
    REQUIRE(best.bits <= fast.bits);
    if (best.code == support_code::rice) REQUIRE(best.bits == rice_bits(support, best.gap_parameter));
    std::uint64_t rice = ~std::uint64_t{0};
    for (unsigned r = 0; r <= 40; ++r) rice = std::min(rice, rice_bits(support, r));
    REQUIRE(best.bits <= rice + support.size() / 4);  // another parameter may be a little better
}

template <class I>
std::vector<I> drawn(std::uint64_t length, double share, std::uint64_t seed) {
    std::vector<I> support;
    for (std::uint64_t i = 0; i < length; ++i)
        if (key{seed}.uniform(i) < share) support.push_back(static_cast<I>(i));
    if (support.empty()) support.push_back(static_cast<I>(length - 1));
    return support;
}

}  // namespace

TEST_CASE_TEMPLATE("the sums of one pass are those of the definitions, around every length of a group", I, coordinate,
                   std::uint64_t) {
    for (std::uint64_t const length : {2, 127, 128, 129, 130, 255, 256, 257, 1000, 5000})
        for (double const share : {.001, .02, .3, .9}) check(length, drawn<I>(length, share, length));
}

TEST_CASE("one coordinate, whatever it is, of the longest vectors") {
    for (std::uint64_t const i : {0u, 1u, 0x7fffffffu, 0xfffffffdu}) {
        check(largest_dimension, std::vector<coordinate>{static_cast<coordinate>(i)});
        check(largest_dimension, std::vector<coordinate>{static_cast<coordinate>(i), static_cast<coordinate>(i + 1)});
        check(longest_support, std::vector<std::uint64_t>{i << 8});
    }
}

// Runs are the shortest where neighbours go together: as many as there are, the first at 0 or not.
TEST_CASE("runs are counted") {
    for (coordinate const first : {0u, 1u, 77u}) {
        std::vector<coordinate> support;
        for (coordinate run = 0; run < 9; ++run)
            for (coordinate i = 0; i < 200; ++i) support.push_back(first + run * 100000 + i);
        auto const plan = detail::plan_support(1 << 20, std::span<coordinate const>(support), position_code::smallest);
        CHECK(plan.code == support_code::runs);
        CHECK(plan.bits < 9 * 40);
        std::uint64_t runs = 0, counted = 0;
        detail::each_run(std::span<coordinate const>(support), [&](std::uint64_t, std::uint64_t more) {
            ++runs;
            counted += more + 1;
        });
        CHECK(runs == 9);
        CHECK(counted == support.size());
    }
}

TEST_CASE("a run of any length ends where a neighbour is missing") {
    std::vector<coordinate> support;
    std::vector<std::uint64_t> wanted, found;
    for (coordinate n = 1, next = 5; n <= 200; next += n + 1, ++n) {
        for (coordinate i = 0; i < n; ++i) support.push_back(next + i);
        wanted.push_back(n - 1);
    }
    detail::each_run(std::span<coordinate const>(support), [&](std::uint64_t gap, std::uint64_t more) {
        CHECK(gap == (found.empty() ? 5 : 0));
        found.push_back(more);
    });
    CHECK(found == wanted);
}
