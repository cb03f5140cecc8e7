// SPDX-License-Identifier: Apache-2.0
// The sum of many lists has the bits of adding one after another, in the order of the lists, without allocation.
#include "laconic/backend/host/sum_of_lists.hpp"

#include "support/both.hpp"
#include "support/everything.hpp"
#include "support/lists_of_terms.hpp"

using namespace laconic::kernels;
using lists_of_terms::drawn_list;

template <class T>
drawn_list<T> some_terms(std::size_t first, std::size_t d, double share, std::size_t block, std::uint64_t seed) {
    return lists_of_terms::drawn<T>(first, d, share, block, seed,
                                    {0, T(-0.0), std::numeric_limits<T>::denorm_min(), T(1e30), T(-1e30)});
}

// Against the reference, which adds them in their order, to the bit.
template <class T>
void check_sum(host& on, std::vector<drawn_list<T>> const& all) {
    reference plain;
    std::vector<listed_terms<T>> lists;
    std::size_t count = 0;
    drawn_list<T> wanted, found;
    for (auto const& l : all) {
        lists.push_back({l.at, l.values});
        count += l.at.size();
    }
    std::span<listed_terms<T> const> const listed(lists);
    sum_lists(plain, listed, wanted.at, wanted.values, wanted.at, wanted.values);
    detail::sum_of_lists<T>(on, lists.size(), count)(
        listed, [&](std::span<coordinate const> at, std::span<T const> values) {
            REQUIRE(at.size() == values.size());
            found.at.insert(found.at.end(), at.begin(), at.end());
            found.values.insert(found.values.end(), values.begin(), values.end());
        });
    REQUIRE(found.at == wanted.at);
    REQUIRE(both::same_bits(found.values, wanted.values));
}

TEST_CASE_TEMPLATE("the sum of many lists is the reference's, to the bit, in the order of lists", T, float, double) {
    host on;
    for (std::size_t const d : {0, 1, 63, 64, 65, 500, 3000})
        for (double const share : {.02, .4, 1.})
            for (std::size_t const block : {1, 5, 8, 64, 200})
                for (std::size_t const n : {1, 2, 3, 9}) {
                    std::vector<drawn_list<T>> all;
                    for (std::size_t l = 0; l < n; ++l)
                        all.push_back(some_terms<T>(37 * l, d, l == 1 ? 0.1 : share, block, 100 * d + l));
                    check_sum<T>(on, all);
                }
    check_sum<T>(on, {});
}

TEST_CASE("windows end where a list has too many terms, at their full length, and far from the next") {
    host on;
    std::vector<drawn_list<float>> all;
    for (std::size_t const first : {0, 1, 65535, 70000}) {
        all.push_back(some_terms<float>(first, 200000, 0.004, 1, first + 1));
        check_sum<float>(on, all);
        all.push_back(some_terms<float>(first, 30000, 0.9, 1, first + 2));
        check_sum<float>(on, all);
        all.push_back(some_terms<float>(first, 30000, 1, 1, first + 3));
        check_sum<float>(on, all);
    }
    // Runs across the end of a window, the last coordinates that there are, and many lists.
    drawn_list<float> ends;
    for (std::uint64_t const start : {std::uint64_t{65528}, std::uint64_t{131071}, std::uint64_t{0xffffffef}})
        for (coordinate i = 0; i < 16; ++i) {
            ends.at.push_back(static_cast<coordinate>(start + i));
            ends.values.push_back(float(i) + 1);
        }
    check_sum<float>(on, {ends});
    check_sum<float>(on, {ends, all[0], ends});
    check_sum<float>(on, std::vector<drawn_list<float>>(300, some_terms<float>(5, 2000, .3, 3, 9)));
}

TEST_CASE("it is for three lists or more whose terms are not far apart") {
    using sum = detail::sum_of_lists<double>;
    auto const near = some_terms<double>(0, 3000, .1, 1, 4);
    drawn_list<double> far;
    for (coordinate i = 0; i < 100; ++i) far.at.push_back(10000000 * i), far.values.push_back(1);
    listed_terms<double> const close{near.at, near.values}, apart{far.at, far.values}, none{};
    auto const pays = [](std::vector<listed_terms<double>> const& lists) { return sum::pays_for(lists); };
    CHECK(pays({close, close, close}));
    CHECK(pays({close, none, close}));
    CHECK(!pays({close, close}));
    CHECK(!pays({apart, apart, apart, apart}));
    CHECK(!pays({none, none, none}));
    CHECK(!pays({}));
}

TEST_CASE("within its room it allocates nothing: what it hands out stays where it is") {
    host on;
    float const* there = nullptr;
    auto const list = some_terms<float>(0, 4000, 1, 1, 5);
    detail::sum_of_lists<float>(on, 3, 3 * list.at.size());
    for (std::size_t const n : {1, 3, 2}) {
        std::vector<listed_terms<float>> const lists(n, {list.at, list.values});
        detail::sum_of_lists<float>(on, n, n * list.at.size())(
            lists, [&](std::span<coordinate const>, std::span<float const> values) {
                if (there == nullptr) there = values.data();
                CHECK(values.data() == there);
            });
    }
    CHECK(there != nullptr);
}
