// SPDX-License-Identifier: Apache-2.0
// `gathered_lists` stores lists one behind another and adds them up, from any of them on, as merges do.
#include "laconic/collective/terms/gathered_lists.hpp"

#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

namespace sv = sparse_vectors;

TEST_CASE("lists stand one behind another, as they came") {
    // Of a vector of 10: its coordinates 6 .. 9, none of 0 .. 2, and 3 .. 5.
    std::vector<std::size_t> const first{6, 0, 3};
    sv::lists<double> const came{sv::of<double>(4, {{0, 1.5}, {3, -2}}), sv::of<double>(3, {}),
                                 sv::of<double>(3, {{1, 7}})};
    detail::gathered_lists<double> lists;
    for (int again = 0; again < 2; ++again) {
        lists.clear();
        CHECK(lists.size() == 0);
        for (std::size_t i = 0; i < 3; ++i) lists.append(came[i], first[i]);
        CHECK(lists.size() == 3);
        std::vector<coordinate> const at{6, 9, 4};
        std::vector<double> const values{1.5, -2, 7};
        CHECK(std::vector(lists.support().begin(), lists.support().end()) == at);
        CHECK(std::vector(lists.values().begin(), lists.values().end()) == values);
        CHECK(lists.begin(1) == 2);
        CHECK(lists.end(1) == 2);
        CHECK(lists.end(2) == 3);
    }
}

TEST_CASE("lists are added up from one of them on, as merges do, however far apart their terms are") {
    for (std::size_t const d : {60, 4000000}) {
        host on;
        // Sums that are rounded differently in another order.
        auto const all = sv::all_whole_numbers<float>(sv::shape::apart, 60, 9, 5);
        sv::lists<float> came;
        for (std::size_t i = 0; i < 5; ++i) {
            came.emplace_back(d);
            for (std::size_t j = 0; j < all[i].size(); ++j)
                came[i].append((all[i].support()[j] / 5 * 5) * (d / 60), all[i].values()[j] / (j % 2 == 0 ? 7 : 3e5f));
        }
        for (std::size_t start = 0; start < 5; ++start) {
            detail::gathered_lists<float> lists;
            sparse_sum<float> wanted(d), sum(d);
            for (auto const& list : came) lists.append(list, 0);
            for (std::size_t i = 0; i < 5; ++i) wanted.add(on, came[(start + i) % 5]);
            sum.append(d - 1, 1);
            lists.add_up(on, start, sum);
            CHECK(sum == wanted);
        }
    }
}

TEST_CASE("within its room it stays where it is") {
    host on;
    detail::gathered_lists<float> lists;
    lists.reserve(on, 3, 4);
    auto const* const there = lists.values().data();
    for (int i = 0; i < 2; ++i) lists.append(sv::of<float>(5, {{0, 1}, {4, 1}}), 5);
    CHECK(lists.values().data() == there);
}
