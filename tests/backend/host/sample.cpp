// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/host/sample.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

using namespace laconic;

namespace {

std::vector<coordinate> drawn(std::uint64_t from, std::size_t d, std::size_t k) {
    host on;
    std::vector<coordinate> out{7, 7, 7};
    sample(on, key{from}, d, k, out);
    return out;
}

bool ascends_below(std::vector<coordinate> const& at, std::size_t d) {
    return std::adjacent_find(at.begin(), at.end(), std::greater_equal<>{}) == at.end() &&
           (at.empty() || at.back() < d);
}

}  // namespace

TEST_CASE("none, all, and of nothing") {
    CHECK(drawn(1, 0, 0).empty());
    CHECK(drawn(1, 9, 0).empty());
    CHECK(drawn(1, 1, 1) == std::vector<coordinate>{0});
    std::vector<coordinate> every(9);
    std::iota(every.begin(), every.end(), 0u);
    CHECK(drawn(1, 9, 9) == every);
}

TEST_CASE("k ascending coordinates below d, for every k, and the same ones again") {
    for (std::size_t d : {2u, 5u, 64u, 100u})
        for (std::size_t k = 0; k <= d; ++k) {
            auto const at = drawn(d * 1000 + k, d, k);
            REQUIRE(at.size() == k);
            REQUIRE(ascends_below(at, d));
            REQUIRE(at == drawn(d * 1000 + k, d, k));
        }
}

// Both ways: k <= d / 2 draws what stays, a larger k what goes.
TEST_CASE("every set of k is equally likely: chi-square over all of them") {
    for (std::size_t const d : {5u, 6u, 7u})
        for (std::size_t k = 1; k < d; ++k) {
            CAPTURE(d);
            CAPTURE(k);
            int const n = 20000;
            std::map<std::vector<coordinate>, int> count;
            host on;
            std::vector<coordinate> at;
            for (int t = 0; t < n; ++t) {
                sample(on, key{77}.child(static_cast<std::uint64_t>(t)), d, k, at);
                ++count[at];
            }
            double sets = 1;
            for (std::size_t j = 0; j < k; ++j) sets = sets * static_cast<double>(d - j) / static_cast<double>(j + 1);
            REQUIRE(static_cast<double>(count.size()) == sets);
            double chi = 0;
            for (auto const& [set, c] : count) chi += (c - n / sets) * (c - n / sets) / (n / sets);
            CHECK(std::abs(chi - (sets - 1)) < 5 * std::sqrt(2 * (sets - 1)));
        }
}

TEST_CASE("the largest dimension costs nothing for a few coordinates") {
    double mean = 0;
    for (std::uint64_t t = 0; t < 1000; ++t) {
        auto const at = drawn(t, largest_dimension, 10);
        REQUIRE(at.size() == 10);
        REQUIRE(ascends_below(at, largest_dimension));
        for (auto const i : at) mean += static_cast<double>(i) / static_cast<double>(largest_dimension) / 10000;
    }
    CHECK(std::abs(mean - 0.5) < 5 * std::sqrt(1.0 / 12 / 10000));
}

TEST_CASE("two of three million, and all but two") {
    auto const two = drawn(4, 3000000, 2), most = drawn(4, 3000000, 2999998);
    CHECK(two.size() == 2);
    CHECK(most.size() == 2999998);
    CHECK(ascends_below(most, 3000000));
}
