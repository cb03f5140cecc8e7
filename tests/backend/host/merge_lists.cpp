// SPDX-License-Identifier: Apache-2.0
// `merge` gives the sum of two sorted lists of terms, at every density, and writes no more terms than there are.
#include "laconic/backend/host/merge_lists.hpp"

#include "support/everything.hpp"
#include "support/lists_of_terms.hpp"

using namespace laconic;
using lists_of_terms::drawn_list;

namespace {

template <class T>
bool same(std::vector<T> const& a, std::vector<T> const& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](T v, T w) {
        return (std::isnan(v) && std::isnan(w)) || (v == w && std::signbit(v) == std::signbit(w));
    });
}

// With room for all terms of both lists, and for no more than there are.
template <class T>
void check(drawn_list<T> const& a, drawn_list<T> const& b) {
    std::map<coordinate, T> sum;
    for (std::size_t j = 0; j < a.at.size(); ++j) sum[a.at[j]] = a.values[j];
    for (std::size_t j = 0; j < b.at.size(); ++j) {
        auto const [place, is_new] = sum.try_emplace(b.at[j], b.values[j]);
        if (!is_new) place->second += b.values[j];
    }
    drawn_list<T> wanted;
    for (auto const& [at, value] : sum) {
        wanted.at.push_back(at);
        wanted.values.push_back(value);
    }
    CAPTURE(a.at.size());
    CAPTURE(b.at.size());
    for (std::size_t const room : {a.at.size() + b.at.size(), wanted.at.size()}) {
        drawn_list<T> found{std::vector<coordinate>(room), std::vector<T>(room)};
        auto const n = laconic::detail::merge<T>{}({a.at, a.values}, {b.at, b.values}, found.at, found.values);
        REQUIRE(n == wanted.at.size());
        found.at.resize(n);
        found.values.resize(n);
        REQUIRE(found.at == wanted.at);
        REQUIRE(same(found.values, wanted.values));
    }
}

template <class T>
drawn_list<T> drawn(std::size_t d, double share, std::size_t block, std::uint64_t seed) {
    using limits = std::numeric_limits<T>;
    return lists_of_terms::drawn<T>(
        0, d, share, block, seed,
        {0, T(-0.0), limits::denorm_min(), limits::max(), limits::infinity(), limits::quiet_NaN()});
}

}  // namespace

TEST_CASE_TEMPLATE("the sum of two lists, of every density and length, is that of the definition", T, float, double) {
    for (std::size_t const d : {0, 1, 2, 15, 16, 17, 31, 32, 33, 64, 100, 500, 2000})
        for (double const share : {0., .05, .5, 1.})
            for (double const other : {0., .05, .5, 1.})
                for (std::size_t const block : {1, 7, 64}) {
                    auto const a = drawn<T>(d, share, block, 1), b = drawn<T>(d, other, block, 2);
                    check(a, b);
                    check(b, a);
                    if (share == other) check(a, a);
                }
}

TEST_CASE("one list before the other, beside it, and within a gap of it") {
    drawn_list<float> low, high, around;
    for (coordinate i = 0; i < 300; ++i) {
        low.at.push_back(i), low.values.push_back(1);
        high.at.push_back(1000 + 2 * i), high.values.push_back(2);
        around.at.push_back(i < 150 ? i : 5000 + i), around.values.push_back(4);
    }
    check(low, high);
    check(high, low);
    check(high, around);
    check(around, high);
    check(low, around);
}
