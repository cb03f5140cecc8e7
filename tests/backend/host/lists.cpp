// SPDX-License-Identifier: Apache-2.0
//
// A sum of lists has no more room than it needs; sorting keeps the order of equal coordinates. Sums: buckets.cpp.
#include "laconic/backend/host/lists.hpp"

#include "support/everything.hpp"

TEST_CASE("a sum has no more room than there are coordinates between its ends") {
    host on;
    std::vector<coordinate> at(1000), sum_at;
    std::vector<float> const values(1000, 1.0f);
    std::vector<float> sum;
    std::iota(at.begin(), at.end(), 0u);
    sum_at.reserve(1000);
    sum.reserve(1000);
    auto const* const there = sum.data();
    kernels::listed_terms<float> const all{at, values};
    add_lists(on, all, all, sum_at, sum);
    CHECK(sum == std::vector<float>(1000, 2.0f));
    CHECK(sum.data() == there);
}

TEST_CASE_TEMPLATE("terms in any order are sorted by their coordinates, equal ones stay in theirs", T, float, double) {
    host on;
    reference plain;
    for (std::size_t const n : {0, 1, 2, 100, 4095, 4096, 9000})
        for (std::size_t const d : {std::size_t{1}, std::size_t{2}, std::size_t{256}, std::size_t{257},
                                    std::size_t{25000000}, detail::largest_dimension}) {
            std::vector<coordinate> at(n), sorted_at(n);
            std::vector<T> values(n), sorted_values(n);
            for (std::size_t j = 0; j < n; ++j) {
                at[j] = static_cast<coordinate>(key{n}.child(d).below(j, d));
                values[j] = static_cast<T>(j);
            }
            auto wanted_at = at;
            auto wanted = values;
            std::span<coordinate const> const from(at);
            std::span<T const> const numbers(values);
            sort_list(plain, from, numbers, d, std::span(wanted_at), std::span(wanted));
            sort_list(on, from, numbers, d, std::span(sorted_at), std::span(sorted_values));
            REQUIRE(sorted_at == wanted_at);
            REQUIRE(sorted_values == wanted);
        }
}
