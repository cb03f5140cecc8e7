// SPDX-License-Identifier: Apache-2.0
#include "laconic/exchange/gathered_lists.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "sparse_vectors.hpp"

using namespace laconic;
namespace sv = sparse_vectors;

TEST_CASE("lists come back as they came, and stand one behind another") {
    // Of a vector of 10: its coordinates 6 .. 9, none of 0 .. 2, and 3 .. 5.
    std::vector<std::size_t> const first{6, 0, 3}, length{4, 3, 3};
    sv::lists<double> const came{sv::of<double>(4, {{0, 1.5}, {3, -2}}), sv::of<double>(3, {}),
                                 sv::of<double>(3, {{1, 7}})};
    detail::gathered_lists<double> lists;
    for (int again = 0; again < 2; ++again) {
        lists.clear();
        CHECK(lists.size() == 0);
        for (std::size_t i = 0; i < 3; ++i) lists.append(came[i], first[i]);
        CHECK(lists.size() == 3);
        sparse_sum<double> list;
        for (std::size_t i = 0; i < 3; ++i) {
            lists.copy(i, first[i], length[i], list);
            CHECK(list == came[i]);
        }
        std::vector<coordinate> const at{6, 9, 4};
        std::vector<double> const values{1.5, -2, 7};
        CHECK(std::vector(lists.support().begin(), lists.support().end()) == at);
        CHECK(std::vector(lists.values().begin(), lists.values().end()) == values);
        CHECK(lists.begin(1) == 2);
        CHECK(lists.end(1) == 2);
        CHECK(lists.end(2) == 3);
    }
}

TEST_CASE("within its room it stays where it is") {
    detail::gathered_lists<float> lists;
    lists.reserve(3, 4);
    auto const* const there = lists.values().data();
    for (int i = 0; i < 2; ++i) lists.append(sv::of<float>(5, {{0, 1}, {4, 1}}), 5);
    CHECK(lists.values().data() == there);
}
