// SPDX-License-Identifier: Apache-2.0
// `sum_by_server` adds up lists or vectors in the order of ranks on rank 0 and refuses bad input on all ranks.
#include "laconic/collective/sparse/sum_by_server.hpp"

#include <doctest/doctest.h>

#include "laconic/wire/message.hpp"
#include "support/dense_sums.hpp"
#include "support/sparse_sums.hpp"

using namespace laconic;

static_assert(Collective<sum_by_server>);

namespace {

constexpr auto make_sum_by_server = []<class T>(auto& comm, std::size_t d) {
    return make_sum<T>(sum_by_server{}, comm, d);
};

}  // namespace

TEST_CASE("sums of sparse floats by a server") { sparse_sums::sums_are_right<float>(make_sum_by_server); }
TEST_CASE("sums of doubles in full by a server") { dense_sums::sums_are_right<double>(make_sum_by_server); }
TEST_CASE("what a server refuses of sparse vectors") { sparse_sums::refuses(make_sum_by_server, false); }

TEST_CASE("ranks are added up in their order") {
    double const sent[] = {1e16, 1., -1e16, 3., .1};
    double const sum = (((1e16 + 1) - 1e16) + 3) + .1;
    sparse_vectors::lists<double> sparse;
    dense_sums::vectors<double> full;
    for (double const x : sent) {
        sparse.push_back(sparse_vectors::of<double>(3, {{1, x}}));
        full.push_back({x, 0});
    }
    for (auto const& v :
         sparse_vectors::after(sparse, sparse_sums::with_dimension<double>(make_sum_by_server, 3)).first)
        CHECK(v == sparse_vectors::of<double>(3, {{1, sum}}));
    for (auto const& x : dense_sums::after(full, make_sum_by_server)) CHECK(x == std::vector<double>{sum, 0});
}

TEST_CASE("each rank sends its own to the server, which sends the sum to each") {
    host on;
    std::size_t const d = 100;
    for (int const n : {1, 2, 5}) {
        auto const brought = sparse_vectors::all_whole_numbers<float>(sparse_vectors::shape::spread, d, 9, n);
        sparse_sum<float> sum(d);
        std::vector<std::uint64_t> expected, sent(std::size_t(n), 0);
        for (auto const& v : brought) {
            sum.add(on, v);
            expected.push_back(bits(v.message()) / 8);
        }
        expected[0] = std::uint64_t(n - 1) * bits(sum.message()) / 8;
        CHECK(sparse_sums::bytes_sent_by(brought, make_sum_by_server) == expected);
        dense_sums::after(dense_sums::whole_numbers<float>(d, n), make_sum_by_server, &sent);
        for (int r = 0; r < n; ++r) CHECK(sent[std::size_t(r)] == 4 * d * std::uint64_t(r == 0 ? n - 1 : 1));
    }
}

TEST_CASE("what a server refuses of vectors in full, in the same words on all ranks") {
    auto const with = [](std::size_t culprit, std::vector<float> const& bad) {
        auto const errors = sparse_vectors::errors_on(4, [&](auto& comm) {
            host on;
            auto sum = make_sum<float>(sum_by_server{}, comm, 3);
            auto x = std::size_t(comm.rank()) == culprit || culprit == 4 ? bad : std::vector<float>{1, 2, 3};
            std::string text;
            try {
                sum(on, comm, std::span(x), 4);
            } catch (error const& e) {
                text = e.what();
            }
            x = {1, 2, 3};  // the next round is held
            sum(on, comm, std::span(x), 5);
            CHECK(x == std::vector<float>{4, 8, 12});
            throw error(text);
        });
        CHECK(errors == std::vector(4, errors[0]));
        return errors[0];
    };
    for (std::size_t r = 0; r < 4; ++r) {
        auto const who = "rank " + std::to_string(r);
        CHECK(with(r, {1, NAN, INFINITY}) == who + ", round 4: the gradient is not finite at coordinate 1");
        CHECK(with(r, {1, 2}) == who + " has a vector of 2 numbers, the collective is for 3");
    }
    CHECK(with(4, {1, 1, 2e38f}) == "round 4: the ranks' sum is not finite at coordinate 2");
}
