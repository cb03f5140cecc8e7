// SPDX-License-Identifier: Apache-2.0
// The host's kernels of lists give the reference's bits, and allocate nothing while the output has room.
#include "laconic/backend/host/lists.hpp"

#include "support/everything.hpp"
#include "support/lists_of_terms.hpp"

using namespace laconic;
using namespace laconic::kernels;
using lists_of_terms::drawn_list;

namespace {

template <class T>
drawn_list<T> some_terms(std::size_t d, double share, std::size_t block, std::uint64_t seed) {
    return lists_of_terms::drawn<T>(0, d, share, block, seed, {0, T(-0.0), std::numeric_limits<T>::denorm_min()});
}
template <class T>
listed_terms<T> as_spans(drawn_list<T> const& l) {
    return {l.at, l.values};
}
template <class T>
void check_equal(drawn_list<T> const& a, drawn_list<T> const& b) {
    REQUIRE(a.at == b.at);
    REQUIRE(std::as_bytes(std::span(a.values)).size() == std::as_bytes(std::span(b.values)).size());
    for (std::size_t j = 0; j < a.values.size(); ++j)
        REQUIRE((a.values[j] == b.values[j] && std::signbit(a.values[j]) == std::signbit(b.values[j])));
}

}  // namespace

TEST_CASE_TEMPLATE("sums, parts and differences of lists of every density are the reference's", T, float, double) {
    host on;
    reference plain;
    drawn_list<T> here, there, left_here, left_there;
    for (std::size_t const d : {0, 1, 17, 64, 700})
        for (double const share : {0., .05, .5, 1.})
            for (double const other : {0., .3, 1.})
                for (std::size_t const block : {1, 8}) {
                    auto const a = some_terms<T>(d, share, block, 1), b = some_terms<T>(d, other, block, 2),
                               c = some_terms<T>(d, .1, 1, 3);
                    add_lists(on, as_spans(a), as_spans(b), here.at, here.values);
                    add_lists(plain, as_spans(a), as_spans(b), there.at, there.values);
                    check_equal(here, there);
                    for (std::size_t const count : {0, 1, 2, 3, 4}) {
                        std::vector<listed_terms<T>> all{as_spans(a), as_spans(b), as_spans(c), as_spans(a)};
                        all.resize(count);
                        std::span<listed_terms<T> const> const lists(all);
                        sum_lists(on, lists, here.at, here.values, left_here.at, left_here.values);
                        sum_lists(plain, lists, there.at, there.values, left_there.at, left_there.values);
                        check_equal(here, there);
                    }
                    list_without(on, as_spans(a), std::span<coordinate const>(b.at), here.at, here.values);
                    list_without(plain, as_spans(a), std::span<coordinate const>(b.at), there.at, there.values);
                    check_equal(here, there);
                    std::vector<coordinate> chosen;
                    for (std::size_t j = 0; j < a.at.size(); ++j)
                        if (key{7}.uniform(j) < other) chosen.push_back(static_cast<coordinate>(j));
                    std::span<coordinate const> const of(chosen);
                    part_list(on, as_spans(a), of, here.at, here.values, left_here.at, left_here.values);
                    part_list(plain, as_spans(a), of, there.at, there.values, left_there.at, left_there.values);
                    check_equal(here, there);
                    check_equal(left_here, left_there);
                    take_list(on, as_spans(a), of, left_here.at, left_here.values);
                    check_equal(left_here, here);
                }
}

TEST_CASE("terms that are far apart, and many lists of them, one of them empty") {
    host on;
    reference plain;
    drawn_list<double> far, here, there, spare;
    for (coordinate i = 0; i < 200; ++i) far.at.push_back(20000000 * i), far.values.push_back(i / 3.0);
    far.at.push_back(detail::largest_dimension - 1);
    far.values.push_back(1);
    for (std::size_t const count : {1, 2, 5, 6}) {
        std::vector<listed_terms<double>> all(count, as_spans(far));
        if (count > 2) all[1] = {};
        sum_lists(on, std::span<listed_terms<double> const>(all), here.at, here.values, spare.at, spare.values);
        sum_lists(plain, std::span<listed_terms<double> const>(all), there.at, there.values, spare.at, spare.values);
        check_equal(here, there);
    }
}

TEST_CASE("a sum has no more room than there are coordinates between its ends") {
    host on;
    auto const all = some_terms<float>(1000, 1, 1, 1);
    drawn_list<float> sum;
    sum.at.reserve(1000);
    sum.values.reserve(1000);
    auto const* const there = sum.values.data();
    add_lists(on, as_spans(all), as_spans(all), sum.at, sum.values);
    CHECK(sum.at.size() == 1000);
    CHECK(sum.values.data() == there);
}
