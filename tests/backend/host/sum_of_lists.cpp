// SPDX-License-Identifier: Apache-2.0
// The sum of many lists has the bits of adding one after another, in the order of the lists, without allocation.
//
// `merge` gives the sum of two sorted lists of terms, at every density; wherever its registers stop, nothing is lost.
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

// With room for all terms of both lists, and for no more than there are.
template <class T>
void check(drawn_list<T> const& a, drawn_list<T> const& b) {
    reference plain;
    drawn_list<T> wanted;
    kernels::listed_terms<T> const first{a.at, a.values}, second{b.at, b.values};
    add_lists(plain, first, second, wanted.at, wanted.values);
    CAPTURE(a.at.size());
    CAPTURE(b.at.size());
    for (std::size_t const room : {a.at.size() + b.at.size(), wanted.at.size()}) {
        drawn_list<T> found{std::vector<coordinate>(room), std::vector<T>(room)};
        auto const n = detail::merge<T>{}(first, second, found.at, found.values);
        REQUIRE(n == wanted.at.size());
        found.at.resize(n);
        found.values.resize(n);
        REQUIRE(found.at == wanted.at);
        REQUIRE(both::same_bits(found.values, wanted.values));
    }
}

template <class T>
drawn_list<T> drawn(std::size_t d, double share, std::size_t block, std::uint64_t seed) {
    using limits = std::numeric_limits<T>;
    return lists_of_terms::drawn<T>(
        0, d, share, block, seed,
        {0, T(-0.0), limits::denorm_min(), limits::max(), limits::infinity(), limits::quiet_NaN()});
}

// Some of d places up to `last`; whole numbers, whose sums are exact.
drawn_list<float> drawn_up_to(coordinate last, std::size_t d, double share, std::uint64_t seed) {
    drawn_list<float> made;
    for (std::size_t i = 0; i < d; ++i) {
        if (key{seed}.uniform(i) >= share) continue;
        made.at.push_back(last - static_cast<coordinate>(d - 1 - i));
        made.values.push_back(float(key{seed}.child(1).below(i, 2001)) - 1000);
    }
    return made;
}

// What it has done is the sum's beginning, and what is left of both lists makes the rest. How many terms that is.
template <class Set = instruction_set::chosen>
std::size_t check_stop(drawn_list<float> const& a, drawn_list<float> const& b, std::size_t room,
                       [[maybe_unused]] std::size_t most, std::size_t calls) {
    drawn_list<float> sum{std::vector<coordinate>(room, 1), std::vector<float>(room, 1)};
    struct {
        std::size_t i = 0, j = 0, n = 0;
    } p;
    using namespace detail;
    if constexpr (merges_by_registers<float, Set>)
        for (std::size_t c = 0; c < calls; ++c) {
            auto const next = merge_eights<Set>({p.i, p.j, p.n}, most, a.at, a.values.data(), b.at, b.values.data(),
                                                sum.at, sum.values.data());
            p = {next.i, next.j, next.n};
        }
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

TEST_CASE("wherever it stops, the sum so far is whole, and the rest of both lists is behind it") {
    for (std::size_t const d : {0, 7, 8, 9, 16, 17, 40, 400})
        for (double const share : {.1, .5, .9, 1.})
            for (double const other : {.1, .5, .9, 1.})
                for (coordinate const last :
                     {coordinate{500}, static_cast<coordinate>(detail::largest_dimension - 1)}) {
                    auto const a = drawn_up_to(last, d, share, 1), b = drawn_up_to(last, d, other, 2);
                    auto const all = a.at.size() + b.at.size();
                    for (std::size_t const most : {1, 8, 30, 1000})
                        for (std::size_t const calls : {1, 3})
                            for (std::size_t const room : {all, all / 2, std::size_t{9}})
                                check_stop(a, b, room, most, calls);
                    check_stop(a, a, 2 * a.at.size(), 1000, 1);
                }
}

TEST_CASE("where there is a kernel it leaves little") {
    auto const a = drawn_up_to(5000, 5000, .5, 3), b = drawn_up_to(5000, 5000, .5, 4);
    auto const n = check_stop(a, b, a.at.size() + b.at.size(), 100000, 1);
    if (detail::merges_by_registers<float>)
        CHECK(n > 3600);  // of about 3750
    else
        CHECK(n == 0);
    CHECK(!detail::merges_by_registers<double>);
}
