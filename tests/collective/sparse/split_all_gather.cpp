// SPDX-License-Identifier: Apache-2.0
// `split_all_gather` sums lists by parts in the order of ranks, with its second stage as lists or in full.
#include "laconic/collective/sparse/split_all_gather.hpp"

#include <doctest/doctest.h>

#include "laconic/wire/message.hpp"
#include "support/sparse_sums.hpp"

using namespace laconic;
using namespace sparse_sums;

static_assert(Collective<split_all_gather>);

namespace {

constexpr auto make_split_all_gather = []<class T>(auto& comm, std::size_t d) {
    return make_sum<T>(split_all_gather{}, comm, d);
};
constexpr auto make_dense = []<class T>(auto& comm, std::size_t d) {
    return make_sum<T>(split_all_gather{second_stage::dense}, comm, d);
};

}  // namespace

TEST_CASE("sums of floats by parts") { sums_are_right<float>(make_split_all_gather); }
TEST_CASE("sums of doubles by parts, the second stage dense") { sums_are_right<double>(make_dense); }

TEST_CASE("the order of ranks decides the last bits, wherever the part is added up") {
    std::size_t const d = 5;
    double const sent[] = {1e16, 1., -1e16, 3., .1};
    sv::lists<double> brought(5, sparse_sum<double>(d));
    for (std::size_t r = 0; r < 5; ++r)
        for (std::size_t i = 0; i < d; ++i) brought[r].append(i, sent[r]);
    for (auto const& v : sv::after(brought, with_dimension<double>(make_split_all_gather, d)).first)
        for (auto const x : v.values()) CHECK(x == (((1e16 + 1) - 1e16) + 3) + .1);
}

TEST_CASE("each rank sends what others add up, and then what it and others have added up") {
    host on;
    std::size_t const d = 300;
    for (bool const dense : {false, true})
        for (int const n : {1, 2, 3, 5, 8}) {
            auto const all = std::size_t(n);
            auto const brought = sv::all_whole_numbers<float>(sv::shape::spread, d, 20, n);
            detail::partition const ranges{d, all};
            sparse_sum<float> sum(d), part;
            for (auto const& v : brought) sum.add(on, v);
            std::vector<std::uint64_t> expected(all);
            for (std::size_t r = 0; r < all; ++r) {
                for (std::size_t p = 0; p < all; ++p)
                    if (p != r) {
                        part.assign_part(brought[r], ranges.first(p), ranges.length(p));
                        expected[r] += bits(part.message()) / 8;
                    }
                for (std::size_t distance = 1; distance < all; distance *= 2) {
                    if (dense) {
                        for (std::size_t j = 0; j < std::min(distance, all - distance); ++j)
                            expected[r] += sizeof(float) * ranges.length((r + j) % all);
                        continue;
                    }
                    wire::ledger books;
                    for (std::size_t j = 0; j < std::min(distance, all - distance); ++j) {
                        auto const p = (r + j) % all;
                        part.assign_part(sum, ranges.first(p), ranges.length(p));
                        write(books, part);
                    }
                    expected[r] += books.bits() / 8;
                }
            }
            CHECK((dense ? bytes_sent_by(brought, make_dense) : bytes_sent_by(brought, make_split_all_gather)) ==
                  expected);
        }
}

TEST_CASE("long parts go in pieces") {
    std::size_t const d = 7 * detail::in_pieces<float>::longest + 3;
    for (int const n : {2, 3, 5}) {
        auto const brought = sv::all_whole_numbers<float>(sv::shape::spread, d, d / 9, n);
        auto const sums = sv::after<float, threads>(brought, with_dimension<float>(make_dense, d)).first;
        for (auto const& v : sums) {
            CHECK(v.size() == d);
            CHECK(sv::dense(v) == sv::sum_of(brought));
        }
    }
}

TEST_CASE("what sums by parts refuse") {
    refuses(make_split_all_gather);
    refuses(make_dense);
    for (auto const& text : sv::errors_on(2, [](auto& comm) {
             make_sum<float>(split_all_gather{comm.rank() == 0 ? second_stage::dense : second_stage::sparse}, comm, 5);
         }))
        CHECK(text.find("ranks disagree") == 0);
}
