// SPDX-License-Identifier: Apache-2.0
// Wherever `merge_by_registers` stops, its sum is complete up to there and the rest of both lists lies behind it.
#include "laconic/backend/host/merge_terms.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

struct terms {
    std::vector<coordinate> at{};
    std::vector<float> values{};
};

// Some of d places up to `last`; whole numbers, whose sums are exact.
terms drawn(std::size_t d, double share, coordinate last, std::uint64_t seed) {
    terms made;
    for (std::size_t i = 0; i < d; ++i) {
        if (key{seed}.uniform(i) >= share) continue;
        made.at.push_back(last - static_cast<coordinate>(d - 1 - i));
        made.values.push_back(float(key{seed}.child(1).below(i, 2001)) - 1000);
    }
    return made;
}

// What it has done is the sum's beginning, and what is left of both lists makes the rest. How many terms that is.
std::size_t check(terms const& a, terms const& b, std::size_t room, std::size_t most, std::size_t calls) {
    terms sum{std::vector<coordinate>(room, 1), std::vector<float>(room, 1)};
    detail::merge_place p{0, 0, 0};
    for (std::size_t c = 0; c < calls; ++c)
        p = detail::merge_by_registers(p, most, a.at, a.values.data(), b.at, b.values.data(), sum.at,
                                       sum.values.data());
    REQUIRE(p.i <= a.at.size());
    REQUIRE(p.j <= b.at.size());
    REQUIRE(p.n <= std::min(room, p.i + p.j));
    std::map<coordinate, float> done;
    for (std::size_t i = 0; i < p.i; ++i) done[a.at[i]] += a.values[i];
    for (std::size_t j = 0; j < p.j; ++j) done[b.at[j]] += b.values[j];
    REQUIRE(done.size() == p.n);
    std::size_t n = 0;
    for (auto const& [at, value] : done) {
        REQUIRE(sum.at[n] == at);
        REQUIRE(sum.values[n++] == value);
    }
    if (p.n > 0 && p.i < a.at.size()) REQUIRE(a.at[p.i] > sum.at[p.n - 1]);
    if (p.n > 0 && p.j < b.at.size()) REQUIRE(b.at[p.j] > sum.at[p.n - 1]);
    return p.n;
}

}  // namespace

TEST_CASE("wherever it stops, the sum so far is whole, and the rest of both lists is behind it") {
    for (std::size_t const d : {0, 7, 8, 9, 16, 17, 40, 400})
        for (double const share : {.1, .5, .9, 1.})
            for (double const other : {.1, .5, .9, 1.})
                for (coordinate const last :
                     {coordinate{500}, static_cast<coordinate>(detail::largest_dimension - 1)}) {
                    auto const a = drawn(d, share, last, 1), b = drawn(d, other, last, 2);
                    auto const all = a.at.size() + b.at.size();
                    for (std::size_t const most : {1, 8, 30, 1000})
                        for (std::size_t const calls : {1, 3})
                            for (std::size_t const room : {all, all / 2, std::size_t{9}})
                                check(a, b, room, most, calls);
                    check(a, a, 2 * a.at.size(), 1000, 1);
                }
}

TEST_CASE("where there is a kernel it leaves little") {
    auto const a = drawn(5000, .5, 5000, 3), b = drawn(5000, .5, 5000, 4);
    auto const n = check(a, b, a.at.size() + b.at.size(), 100000, 1);
    if (detail::merges_by_registers<float>)
        CHECK(n > 3600);  // of about 3750
    else
        CHECK(n == 0);
    CHECK(!detail::merges_by_registers<double>);
}
