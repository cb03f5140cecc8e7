// SPDX-License-Identifier: Apache-2.0
// The device's kernels add, split, filter and sort lists of terms as maps and the reference do.
#include "laconic/backend/device/lists.hpp"

#include "laconic/backend/reference/lists.hpp"
#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::kernels;
using both::here;

namespace {

template <class T>
struct sparse_vector {
    both::coordinates at;
    std::vector<T> values;

    explicit sparse_vector(std::map<coordinate, T> const& terms = {}) {
        for (auto const& [i, v] : terms) {
            at.push_back(i);
            values.push_back(v);
        }
    }
    std::map<coordinate, T> terms() const {
        std::map<coordinate, T> all;
        for (std::size_t j = 0; j < at.size(); ++j) all[at[j]] = values[j];
        return all;
    }
    bool operator==(sparse_vector const& other) const {
        return at == other.at && both::same_bits(values, other.values);
    }
};
template <class T>
struct sparse_vector_there {
    device::array<coordinate> at;
    device::array<T> values;

    listed_terms<T> listed() const { return {{at.data(), at.size()}, {values.data(), values.size()}}; }
    sparse_vector<T> brought(device& on) const {
        sparse_vector<T> v;
        v.at = here(on, at);
        v.values = here(on, values);
        return v;
    }
};
template <class T>
sparse_vector_there<T> taken(device& on, sparse_vector<T> const& v) {
    return {both::there(on, v.at), both::there(on, v.values)};
}

// About share * d of d numbers of any kind, all but the odd.
template <class T>
sparse_vector<T> drawn(std::size_t d, double share, std::uint64_t seed) {
    auto const x = both::numbers<T>(static_cast<both::kind>(seed % 8), d);
    std::map<coordinate, T> terms;
    for (std::size_t i = 0; i < d; ++i)
        if (key{seed}.uniform(i) < share) terms[coordinate(i)] = x[i];
    return sparse_vector<T>(terms);
}

constexpr double shares[] = {0, 0.02, 0.5, 1};

}  // namespace

TEST_CASE_TEMPLATE("a sum of lists has every coordinate once, and what both have is added", T, float, double) {
    device on;
    sparse_vector_there<T> sum;
    for (std::size_t const d : {0, 1, 2, 40, 3000})
        for (double const a_share : shares)
            for (double const b_share : shares) {
                auto const a = drawn<T>(d, a_share, d + 1), b = drawn<T>(d, b_share, 2 * d + 8);
                auto expected = a.terms();
                for (auto const& [i, v] : b.terms())
                    if (auto const [place, is_new] = expected.try_emplace(i, v); !is_new) place->second += v;
                auto const a_there = taken(on, a), b_there = taken(on, b);
                add_lists(on, a_there.listed(), b_there.listed(), sum.at, sum.values);
                CHECK(sum.brought(on) == sparse_vector<T>(expected));
                add_lists(on, b_there.listed(), a_there.listed(), sum.at, sum.values);
                CHECK(sum.brought(on) == sparse_vector<T>(expected));
            }
}

TEST_CASE_TEMPLATE("a sum of many lists is the reference's, to the bit; and terms are sorted as it does", T, float,
                   double) {
    device on;
    reference plain;
    sparse_vector_there<T> sum, spare;
    for (std::size_t const d : {0, 1, 40, 3000})
        for (std::size_t const count : {0, 1, 2, 5}) {
            std::vector<sparse_vector<T>> lists;
            for (std::size_t l = 0; l < count; ++l) {
                lists.push_back(drawn<T>(d, shares[l % 4], d + l));
                for (std::size_t j = 0; j < lists[l].values.size(); ++j)
                    lists[l].values[j] = static_cast<T>(key{l}.uniform(j) - 0.5);
            }
            std::vector<sparse_vector_there<T>> there;
            for (auto const& l : lists) there.push_back(taken(on, l));
            std::vector<listed_terms<T>> here_listed, there_listed;
            for (std::size_t l = 0; l < count; ++l) {
                here_listed.push_back({lists[l].at, lists[l].values});
                there_listed.push_back(there[l].listed());
            }
            sparse_vector<T> expected, unused;
            sum_lists(plain, std::span<listed_terms<T> const>(here_listed), expected.at, expected.values, unused.at,
                      unused.values);
            sum_lists(on, std::span<listed_terms<T> const>(there_listed), sum.at, sum.values, spare.at, spare.values);
            CHECK(sum.brought(on) == expected);
        }
    for (std::size_t const n : {0, 1, 700}) {
        both::coordinates at(n), sorted_at(n);
        std::vector<T> values(n), sorted(n);
        for (std::size_t j = 0; j < n; ++j) {
            at[j] = static_cast<coordinate>(key{n}.below(j, 300));
            values[j] = static_cast<T>(j);
        }
        sort_list(plain, both::in(at), both::in(values), 300, std::span(sorted_at), std::span(sorted));
        auto const at_there = both::there(on, at);
        auto const values_there = both::there(on, values);
        sum.at.resize(n);
        sum.values.resize(n);
        sort_list(on, both::in(at_there), both::in(values_there), 300, std::span<coordinate>(sum.at),
                  std::span<T>(sum.values));
        CHECK(here(on, sum.at) == sorted_at);
        CHECK(here(on, sum.values) == sorted);
    }
}

TEST_CASE("coordinates up to the largest") {
    device on;
    coordinate const last = detail::largest_dimension - 1;
    sparse_vector<double> const a({{0, 1}, {2147483648u, 2}, {last, 3}}), b({{2147483647u, 4}, {last, 5}});
    sparse_vector_there<double> sum;
    add_lists(on, taken(on, a).listed(), taken(on, b).listed(), sum.at, sum.values);
    CHECK(sum.brought(on) == sparse_vector<double>({{0, 1}, {2147483647u, 4}, {2147483648u, 2}, {last, 8}}));
}

TEST_CASE_TEMPLATE("a list falls into what is chosen and the others", T, float, double) {
    device on;
    for (std::size_t const d : {0, 1, 17, 2000})
        for (double const share : shares) {
            auto const v = drawn<T>(d, 0.5, d + 3);
            std::map<coordinate, T> kept, left;
            both::coordinates chosen;
            for (std::size_t j = 0; j < v.at.size(); ++j) {
                bool const is = key{9}.uniform(j) < share;
                if (is) chosen.push_back(coordinate(j));
                (is ? kept : left)[v.at[j]] = v.values[j];
            }
            auto const there = taken(on, v);
            auto const chosen_there = both::there(on, chosen);
            sparse_vector_there<T> some, others;
            part_list(on, there.listed(), both::in(chosen_there), some.at, some.values, others.at, others.values);
            CHECK(some.brought(on) == sparse_vector<T>(kept));
            CHECK(others.brought(on) == sparse_vector<T>(left));
            take_list(on, there.listed(), both::in(chosen_there), others.at, others.values);
            CHECK(others.brought(on) == sparse_vector<T>(kept));
        }
}

TEST_CASE_TEMPLATE("what another list has is left out", T, float, double) {
    device on;
    sparse_vector_there<T> rest;
    for (std::size_t const d : {0, 1, 17, 2000})
        for (double const share : shares) {
            auto const v = drawn<T>(d, 0.5, d + 3), other = drawn<T>(d, share, d + 4);
            auto expected = v.terms();
            for (auto const i : other.at) expected.erase(i);
            auto const there = taken(on, v), other_there = taken(on, other);
            list_without(on, there.listed(), both::in(other_there.at), rest.at, rest.values);
            CHECK(rest.brought(on) == sparse_vector<T>(expected));
        }
}

namespace {
struct odd_numbers {
    double const* x;
    std::size_t n;
    constexpr std::size_t size() const { return n; }
    constexpr term<double> operator[](std::size_t j) const { return {static_cast<coordinate>(2 * j + 1), x[j]}; }
};
}  // namespace

TEST_CASE("the terms of a message are listed") {
    device on;
    std::vector<double> const x{1.5, -0.0, 7};
    auto const there = both::there(on, x);
    device::array<coordinate> at(3);
    device::array<float> values(3);
    list_terms(on, odd_numbers{there.data(), 3}, std::span<coordinate>(at), std::span<float>(values));
    CHECK(here(on, at) == both::coordinates{1, 3, 5});
    CHECK(both::same_bits(here(on, values), std::vector<float>{1.5f, -0.0f, 7}));
}
