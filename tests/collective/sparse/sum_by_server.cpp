// SPDX-License-Identifier: Apache-2.0
// `sum_by_server` adds up lists or vectors in the order of ranks on rank 0 and refuses bad input on all ranks.
#include "laconic/collective/sparse/sum_by_server.hpp"

#include "support/collective_sums.hpp"
#include "support/everything.hpp"

using namespace collective_sums;

static_assert(Collective<sum_by_server>);

// Vectors in full, which a server adds up as well as lists.
template <class T>
vectors<T> after_in_full(vectors<T> all, std::vector<std::uint64_t>* sent = nullptr) {
    sv::run_over<fibers>(int(all.size()), [&](any_communicator& engine) {
        metered counted(engine);
        any_communicator comm(counted);
        host on;
        auto const me = std::size_t(comm.rank());
        auto sum = make_sum<T>(sum_by_server{}, comm, all[me].size());
        auto const before = counted.bytes_sent();
        sum(on, comm, std::span<T>(all[me]));
        if (sent) (*sent)[me] = counted.bytes_sent() - before;
    });
    return all;
}

TEST_CASE("ranks are added up in their order, of lists and in full") {
    double const sent[] = {1e16, 1., -1e16, 3., .1}, sum = (((1e16 + 1) - 1e16) + 3) + .1;
    sv::lists<double> sparse;
    vectors<double> full;
    for (double const x : sent) {
        sparse.push_back(sv::of<double>(3, {{1, x}}));
        full.push_back({x, 0});
    }
    for (auto const& v : after(sparse, "sum_by_server")) CHECK(v == sv::of<double>(3, {{1, sum}}));
    CHECK(after_in_full(full) == vectors<double>(5, {sum, 0}));
}

TEST_CASE("each rank sends its own to the server, which sends the sum to each") {
    host on;
    std::size_t const d = 100;
    for (int const n : {1, 2, 5}) {
        auto const brought = sv::all_whole_numbers<float>(sv::shape::spread, d, 9, n);
        sparse_sum<float> sum(d);
        std::vector<std::uint64_t> expected, sent(std::size_t(n), 0);
        for (auto const& v : brought) {
            sum.add(on, v);
            expected.push_back(bits(v.message()) / 8);
        }
        expected[0] = std::uint64_t(n - 1) * bits(sum.message()) / 8;
        CHECK(bytes_sent_by(brought, "sum_by_server") == expected);
        after_in_full(whole_numbers<float>(d, n), &sent);
        for (int r = 0; r < n; ++r) CHECK(sent[std::size_t(r)] == 4 * d * std::uint64_t(r == 0 ? n - 1 : 1));
    }
}

TEST_CASE("what a server refuses of vectors in full, in the same words on all ranks") {
    auto const with = [](std::size_t culprit, std::vector<float> const& bad) {
        auto const errors = sv::errors_on(4, [&](any_communicator& comm) {
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
