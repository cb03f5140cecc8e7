// SPDX-License-Identifier: Apache-2.0
// Collectives of lists and of vectors in full sum both, and leave each rank its part, whether they have a half for
// that.
#include "laconic/collective/whole_sum.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

static_assert(detail::ReduceScatters<ring::adder<float>, host, threads::member, std::span<float>>);
static_assert(!detail::ReduceScatters<ring::adder<float>, host, threads::member, sparse_sum<float>&>);
static_assert(!detail::ReduceScatters<gathered_sum::adder<float>, host, threads::member, sparse_sum<float>&>);

TEST_CASE_TEMPLATE("lists and vectors in full have the same sums and the same parts", how, ring, gathered_sum,
                   split_all_gather, automatic) {
    std::size_t const d = 7;
    std::vector<double> const all{0, 3, 0, -3, 9, 0, 3};  // 3 x the vector of each rank
    std::vector<int> right(3);
    fibers::run(3, [&](auto& comm) {
        host on;
        detail::whole_sum<how, double> sum(how{}, d);
        auto const me = static_cast<std::size_t>(comm.rank());
        std::vector<double> const mine{0, 1, 0, -1, 3, 0, 1};
        auto const is_part = [&](std::span<double const> x) {
            bool same = true;
            for (std::size_t i = d * me / 3; i < d * (me + 1) / 3; ++i) same = same && x[i] == all[i];
            return same;
        };
        for (std::uint64_t round = 0; round < 2; ++round) {
            auto x = mine, y = mine;
            sum(on, comm, std::span<double>(x), round);
            sum.reduce_scatter(on, comm, std::span<double>(y), round);
            sparse_sum<double> v, w;
            v.assign_nonzero(on, mine);
            w.assign_nonzero(on, mine);
            sum(on, comm, v, round);
            sum.reduce_scatter(on, comm, w, round);
            std::vector<double> of_v(d), of_w(d);
            scatter(on, v.values(), v.support(), 1, std::span(of_v));
            scatter(on, w.values(), w.support(), 1, std::span(of_w));
            bool only_part = true;
            for (auto const i : w.support()) only_part = only_part && i >= d * me / 3 && i < d * (me + 1) / 3;
            right[me] += x == all && of_v == all && is_part(y) && is_part(of_w) && only_part;
        }
    });
    CHECK(right == std::vector<int>{2, 2, 2});
}
