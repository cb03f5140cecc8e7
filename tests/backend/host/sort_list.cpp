// SPDX-License-Identifier: Apache-2.0
// `sort_list` sorts terms by coordinate and keeps the order of terms at equal coordinates.
#include "laconic/backend/host/sort_list.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE_TEMPLATE("terms in any order are sorted by their coordinates, equal ones stay in theirs", T, float, double) {
    host on;
    for (std::size_t const n : {0, 1, 2, 100, 4095, 4096, 9000})
        for (std::size_t const d : {std::size_t{1}, std::size_t{2}, std::size_t{256}, std::size_t{257},
                                    std::size_t{25000000}, detail::largest_dimension}) {
            std::vector<coordinate> at(n), sorted_at(n);
            std::vector<T> values(n), sorted_values(n);
            for (std::size_t j = 0; j < n; ++j) {
                at[j] = static_cast<coordinate>(key{n}.child(d).below(j, d));
                values[j] = static_cast<T>(j);
            }
            std::vector<std::size_t> wanted(n);
            std::iota(wanted.begin(), wanted.end(), std::size_t{0});
            std::stable_sort(wanted.begin(), wanted.end(), [&](auto a, auto b) { return at[a] < at[b]; });
            sort_list(on, std::span<coordinate const>(at), std::span<T const>(values), d, std::span(sorted_at),
                      std::span(sorted_values));
            for (std::size_t j = 0; j < n; ++j) {
                REQUIRE(sorted_at[j] == at[wanted[j]]);
                REQUIRE(sorted_values[j] == values[wanted[j]]);
            }
        }
}
