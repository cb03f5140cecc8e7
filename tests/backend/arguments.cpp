// SPDX-License-Identifier: Apache-2.0
//
// Backends round up from exactly the chance at which fraction and chance make 1; lists are taken by value.
#include "laconic/backend/arguments.hpp"

#include "support/by_key.hpp"
#include "support/everything.hpp"

using detail::goes_up;
using namespace laconic::kernels;

static_assert(!goes_up(0.0, 0u) && !goes_up(0.0, 0xffffffffu) && goes_up(1.0, 0u) && goes_up(1.0, 0xffffffffu));

// Of all 2^32 chances, those of at least 2^32 - n go up where the fraction is n / 2^32: n of them.
TEST_CASE("a fraction goes up from the chance on that makes a whole of it") {
    key const from{7};
    std::vector<std::uint64_t> all{1, 2, 3, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};
    for (std::uint64_t i = 0; i < 10000; ++i) all.push_back(1 + from.below(i, 0xffffffff));
    bool right = true;
    for (std::uint64_t const n : all) {
        double const fraction = std::ldexp(static_cast<double>(n), -32);
        auto const least = static_cast<std::uint32_t>((std::uint64_t{1} << 32) - n);
        right = right && goes_up(fraction, least) && !goes_up(fraction, least - 1);
    }
    CHECK(right);
}

// The chances are the key's words, which core/key.cpp holds against published ones; how they and the numbers meet is
// reckoned in whole numbers here.
TEST_CASE_TEMPLATE("backends round at this boundary", B, host, reference) {
    key const from{8};
    std::array<std::int16_t, 3> codes{}, wanted{};
    std::array<double, 3> x{};
    for (std::uint64_t i = 0; i < 2000; ++i) {
        std::uint64_t const whole = std::uint64_t{1} << 32;
        // Number i alone meets chance i: it is exactly enough for the first, one too few for the second; the third has
        // the sign that goes down.
        std::uint64_t const enough = whole - from.chance(i);
        for (std::size_t j = 0; j < 3; ++j) {
            auto const n = static_cast<double>(j == 1 ? enough - 1 : enough);
            x[j] = (std::ldexp(n, -32) + 5) - (j == 2 ? 10 : 0);
            wanted[j] = static_cast<std::int16_t>((j == 1 ? 5 : 6) - (j == 2 ? 10 : 0));
            B on;
            round_to_levels(on, std::span<double const>(x).subspan(j, 1), 1.0, 20, from, i,
                            std::span(codes).subspan(j, 1));
        }
        REQUIRE(codes == wanted);
    }
}

// Kernels take them by value, on a device too, and only read what they name: no case, as nothing is left to run.

static_assert(std::is_trivially_copyable_v<listed_terms<float>> && std::is_aggregate_v<listed_terms<float>>);
static_assert(sizeof(listed_terms<double>) == 2 * sizeof(std::span<double const>));
static_assert(std::is_same_v<decltype(listed_terms<float>::at)::element_type, coordinate const>);
static_assert(std::is_same_v<decltype(listed_terms<float>::values)::element_type, float const>);
