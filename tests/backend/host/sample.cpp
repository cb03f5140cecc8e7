// SPDX-License-Identifier: Apache-2.0
// `sample` draws k different coordinates, every set equally likely, as its definition on the stream says.
#include "laconic/backend/host/sample.hpp"

#include "support/everything.hpp"

std::vector<coordinate> drawn(std::uint64_t from, std::size_t d, std::size_t k) {
    host on;
    std::vector<coordinate> out{7, 7, 7};
    sample(on, key{from}, d, k, out);
    return out;
}

// What it is by definition: the first different numbers of the stream, or all but these.
std::vector<coordinate> by_definition(std::uint64_t from, std::size_t d, std::size_t k) {
    std::set<coordinate> first;
    for (std::uint64_t n = 0; first.size() < std::min(k, d - k); ++n)
        first.insert(static_cast<coordinate>(key{from}.below(n, d)));
    if (k <= d / 2) return {first.begin(), first.end()};
    std::vector<coordinate> rest;
    for (std::size_t i = 0; i < d; ++i)
        if (!first.contains(static_cast<coordinate>(i))) rest.push_back(static_cast<coordinate>(i));
    return rest;
}

TEST_CASE("none, all, and of nothing") {
    CHECK(drawn(1, 0, 0).empty());
    CHECK(drawn(1, 9, 0).empty());
    CHECK(drawn(1, 1, 1) == std::vector<coordinate>{0});
    std::vector<coordinate> every(9);
    std::iota(every.begin(), every.end(), 0u);
    CHECK(drawn(1, 9, 9) == every);
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

// Few of many are listed and sorted, more are marked in a bitmap: from one in detail::worth_a_bitmap on.
TEST_CASE("the first different numbers of the stream, or all but these, on both sides of every border") {
    constexpr auto few = detail::worth_a_bitmap;
    for (std::size_t const d :
         {few - 1, few, few + 1, 2 * few - 1, 2 * few, 10 * few, 10 * few + 1, 32 * few, 200 * few})
        for (std::size_t const k :
             {std::size_t{1}, d / few - (d >= few), d / few, d / few + 1, d / 16, d / 16 + 1, d / 2, d / 2 + 1, d - 1})
            REQUIRE(drawn(d + k, d, k) == by_definition(d + k, d, k));
    for (std::size_t const k : {255u, 256u, 257u, 5000u, 49999u, 50000u, 156250u}) {
        CAPTURE(k);
        CHECK(drawn(k, 5000000, k) == by_definition(k, 5000000, k));
        CHECK(drawn(k, detail::largest_dimension, k) == by_definition(k, detail::largest_dimension, k));
    }
    // Another dimension, and then the same again: nothing is left in the memory that is used anew.
    host on;
    std::vector<coordinate> at, again;
    sample(on, key{1}, 100000, 500, at);
    sample(on, key{2}, 3000, 2000, again);
    sample(on, key{1}, 100000, 500, again);
    CHECK(again == at);
}

TEST_CASE("sorting by digits is sorting: one digit, two and three, equal numbers, few and many") {
    for (std::size_t const d :
         {std::size_t{1}, std::size_t{3}, std::size_t{4096}, std::size_t{4097}, std::size_t{1} << 24,
          (std::size_t{1} << 24) + 1, std::size_t{detail::largest_dimension}})
        for (std::size_t const n : {0u, 1u, 256u, 257u, 3000u}) {
            std::vector<coordinate> at(n), spare(n);
            for (std::size_t i = 0; i < n; ++i) at[i] = static_cast<coordinate>(key{n}.below(i, d));
            if (n > 0) at[n / 2] = static_cast<coordinate>(d - 1);
            auto sorted = at;
            std::sort(sorted.begin(), sorted.end());
            detail::sort_ascending(at, spare, d);
            REQUIRE(at == sorted);
        }
}

TEST_CASE("numbers of a stream are drawn many at once as one at a time, from any place on") {
    host on;
    for (std::uint64_t const first : {0u, 1u, 2u, 255u, 1000001u})
        for (std::size_t const n : {0u, 1u, 2u, 3u, 255u, 256u, 257u, 1000u})
            for (std::uint64_t const d : {std::uint64_t{1}, std::uint64_t{1000}, detail::largest_dimension}) {
                std::vector<coordinate> out(n, 7);
                detail::draw_below(on, key{5}, first, d, std::span(out));
                for (std::size_t j = 0; j < n; ++j) REQUIRE(out[j] == key{5}.below(first + j, d));
            }
}
