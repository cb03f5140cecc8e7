// SPDX-License-Identifier: Apache-2.0
// The plan of a support is the shortest of all codes by their definitions, where runs are tried.
#include "laconic/wire/support_plan.hpp"

#include "support/everything.hpp"

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
std::uint64_t runs_bits(std::vector<I> const& support) {
    std::vector<std::uint64_t> before, more;
    for (std::size_t j = 0; j < support.size(); ++j) {
        if (j > 0 && support[j] == support[j - 1] + 1) {
            ++more.back();
            continue;
        }
        before.push_back(j == 0 ? support[0] : support[j] - support[j - 1] - 2);
        more.push_back(0);
    }
    std::uint64_t bits = 12;
    for (auto const& numbers : {before, more}) {
        std::uint64_t least = ~std::uint64_t{0};
        for (unsigned r = 0; r <= 40; ++r) {
            std::uint64_t sum = 0;
            for (auto const n : numbers) sum += (n >> r) + 1 + r;
            least = std::min(least, sum);
        }
        bits += least;
    }
    return bits;
}

template <class I>
void check(std::uint64_t length, std::vector<I> const& support) {
    CAPTURE(length);
    CAPTURE(support.size());
    auto const fast = detail::plan_support(length, std::span<I const>(support), position_code::fastest);
    auto const best = detail::plan_support(length, std::span<I const>(support), position_code::smallest);
    auto const raw = support.size() * detail::width_of(length), packed = packed_bits(support);
    REQUIRE(fast.bits == std::min({raw, length, packed}));
    REQUIRE(fast.code == (fast.bits == raw      ? support_code::raw
                          : fast.bits == length ? support_code::bitmap
                                                : support_code::packed));
    std::uint64_t rice = ~std::uint64_t{0};
    for (unsigned r = 0; r <= 40; ++r) rice = std::min(rice, rice_bits(support, r));
    auto const runs = runs_bits(support), of_four = std::min(fast.bits, rice);
    REQUIRE(best.bits == std::min(of_four, runs));
    REQUIRE(best.code == (best.bits == fast.bits ? fast.code
                          : best.bits == rice    ? support_code::rice
                                                 : support_code::runs));
    if (best.code == support_code::rice) REQUIRE(best.bits == rice_bits(support, best.gap_parameter));
}

template <class I>
std::vector<I> drawn(std::uint64_t length, double share, std::uint64_t seed) {
    std::vector<I> support;
    for (std::uint64_t i = 0; i < length; ++i)
        if (key{seed}.uniform(i) < share) support.push_back(static_cast<I>(i));
    if (support.empty()) support.push_back(static_cast<I>(length - 1));
    return support;
}

TEST_CASE_TEMPLATE("the sums of one pass are those of the definitions, around every length of a group", I, coordinate,
                   std::uint64_t) {
    for (std::uint64_t const length : {2, 127, 128, 129, 130, 255, 256, 257, 1000, 5000})
        for (double const share : {.001, .02, .3, .9}) check(length, drawn<I>(length, share, length));
}

TEST_CASE("one or two coordinates of the longest vectors have the plan of the definitions") {
    for (std::uint64_t const i : {0u, 1u, 0x7fffffffu, 0xfffffffdu}) {
        check(detail::largest_dimension, std::vector<coordinate>{static_cast<coordinate>(i)});
        check(detail::largest_dimension,
              std::vector<coordinate>{static_cast<coordinate>(i), static_cast<coordinate>(i + 1)});
        check(longest_support, std::vector<std::uint64_t>{i << 8});
    }
}

// 1280 places of 10^6 at the start of the vector, with gaps 0, 1 and 2, but one of 512 of each 128.
TEST_CASE("places that cluster at the start take the best of all parameters") {
    std::vector<coordinate> support;
    for (coordinate j = 0, next = 0; j < 1280; ++j) {
        next += j % 128 == 127 ? 512 : static_cast<coordinate>(key{1}.below(j, 3));
        support.push_back(next++);
    }
    check(1000000, support);
    auto const plan = detail::plan_support(1000000, std::span<coordinate const>(support), position_code::smallest);
    CHECK(plan.bits < 5200);
}

// Of every length, with gaps that follow no law; some longer than all others together.
TEST_CASE("the plan is the shortest of all codes, of lists whose gaps follow no law") {
    for (std::uint64_t t = 0; t < 2000; ++t) {
        key const draw = key{8}.child(t);
        std::vector<std::uint64_t> support;
        std::uint64_t next = 0;
        auto const stay = draw.below(0, 100), usual = draw.below(1, 12), rare = t % 30;
        for (std::uint64_t j = 0, count = 1 + draw.below(2, 1 + t % 200); j < count; ++j) {
            auto const bits = draw.below(3 + 3 * j, 60) == 0 ? rare : usual;
            next += draw.below(4 + 3 * j, 100) < stay ? 0 : draw.below(5 + 3 * j, std::uint64_t{1} << bits);
            support.push_back(next++);
        }
        CAPTURE(t);
        check(next + draw.below(100000, t % 2 == 0 ? 1000000 : 2), support);
    }
}

// Runs are not tried there, as docs/wire-format.md says.
TEST_CASE("of lists whose gaps are multiples of a power of 2, with few neighbours, the plan is a little longer") {
    double worst = 1;
    for (std::uint64_t t = 0; t < 200; ++t) {
        key const draw = key{9}.child(t);
        auto const r = 2 + t % 3;
        std::vector<coordinate> support;
        for (coordinate j = 0, next = 0; j < 1000; ++j) {
            auto const is_neighbour = draw.uniform(2 * j) < 0.96 / double(3 + r);
            next += is_neighbour ? 0 : coordinate(draw.uniform(2 * j + 1) < 0.8 ? 1 : 2) << r;
            support.push_back(next++);
        }
        auto const plan = detail::plan_support(1 << 20, std::span<coordinate const>(support), position_code::smallest);
        worst = std::max(worst, double(plan.bits) / double(runs_bits(support)));
    }
    CHECK(worst > 1.05);
    CHECK(worst < 1.125);
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
    std::vector<std::uint64_t> expected, found;
    for (coordinate n = 1, next = 5; n <= 200; next += n + 1, ++n) {
        for (coordinate i = 0; i < n; ++i) support.push_back(next + i);
        expected.push_back(n - 1);
    }
    detail::each_run(std::span<coordinate const>(support), [&](std::uint64_t gap, std::uint64_t more) {
        CHECK(gap == (found.empty() ? 5 : 0));
        found.push_back(more);
    });
    CHECK(found == expected);
}
