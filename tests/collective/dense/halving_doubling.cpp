// SPDX-License-Identifier: Apache-2.0
// `halving_doubling` adds up in its order of pairs, with as many bytes as documented, at most eight pieces ahead.
#include "laconic/collective/dense/halving_doubling.hpp"

#include "support/collective_sums.hpp"
#include "support/everything.hpp"

using namespace collective_sums;

static_assert(Collective<halving_doubling>);

// Counts how many messages a rank is ahead: sent, more than received.
struct counting : metered<threads::member> {
    using metered<threads::member>::metered;
    payload exchange(int to, payload mine, int from) {
        if (to != no_rank) most_ahead = std::max(most_ahead, ++sent);
        auto const received = metered<threads::member>::exchange(to, mine, from);
        if (from != no_rank) --sent;
        return received;
    }
    int sent = 0, most_ahead = 0;
};

TEST_CASE("the pairs in which ranks are added up") {
    std::size_t const d = 8;
    auto const all = whole_numbers<double>(d, 6, 7), sums = after(all, "halving_doubling");
    for (std::size_t i = 0; i < d; ++i)  // 4 and 5 join 0 and 1, then 0 meets 2 and 1 meets 3
        CHECK(sums[3][i] == ((all[0][i] + all[4][i]) + all[2][i]) + ((all[1][i] + all[5][i]) + all[3][i]));
}

TEST_CASE("each rank sends all parts but one twice; those beyond the power of two, and their partners, all once more") {
    for (int const n : {1, 2, 3, 4, 7, 8, 9})
        for (std::size_t const d : {0, 3, 48, 51}) {
            auto const sent = bytes_sent_by(whole_numbers<double>(d, n), "halving_doubling");
            auto const q = std::size_t(n < 2 ? 1 : n < 4 ? 2 : n < 8 ? 4 : 8);
            detail::partition const parts{d, q};
            for (std::size_t r = 0; r < std::size_t(n); ++r) {
                // All but part r of the halves. Of the doubling: what it has grows to all but the last partner's half.
                std::size_t numbers = r < q ? d - parts.length(r) : d;
                for (std::size_t distance = 1; r < q && distance < q; distance *= 2) {
                    auto const from = r / distance * distance;
                    numbers += parts.first(from + distance) - parts.first(from);
                }
                if (r < q && r + q < std::size_t(n)) numbers += d;
                CHECK(sent[r] == 8 * numbers);
                if (d % q == 0 && r < q && r + q >= std::size_t(n)) CHECK(sent[r] == 16 * (q - 1) * d / q);
            }
        }
}

TEST_CASE("no rank is more than eight pieces ahead of its partner") {
    std::size_t const d = 40 * detail::in_pieces<float>::longest + 5;
    threads::run(4, [&](threads::member& engine) {
        counting counted(engine);
        any_communicator comm(counted);
        std::vector<float> x(d, 1);
        summing<float>(comm, by_text<float>("halving_doubling"), d)(comm, x);
        CHECK(counted.most_ahead == 8);
        CHECK(x == std::vector<float>(d, 4));
    });
}
