// SPDX-License-Identifier: Apache-2.0
// `halving_doubling` sums vectors of any number of ranks exactly, in its order, with as many bytes as documented.
#include "laconic/collective/dense/halving_doubling.hpp"

#include <doctest/doctest.h>

#include "support/dense_sums.hpp"

using namespace laconic;

static_assert(Collective<halving_doubling>);

namespace {

constexpr auto make_halving_doubling = []<class T>(auto& comm, std::size_t d) {
    return make_sum<T>(halving_doubling{}, comm, d);
};

// Counts how many messages a rank is ahead: sent, more than received.
template <Communicator C>
struct counting : metered<C> {
    explicit counting(C& inner) : metered<C>(inner) {}
    payload exchange(int to, payload mine, int from) {
        if (to != no_rank) most_ahead = std::max(most_ahead, ++sent);
        auto const received = metered<C>::exchange(to, mine, from);
        if (from != no_rank) --sent;
        return received;
    }
    int sent = 0, most_ahead = 0;
};

}  // namespace

TEST_CASE("sums of floats by halves") { dense_sums::sums_are_right<float>(make_halving_doubling); }
TEST_CASE("sums of doubles by halves") { dense_sums::sums_are_right<double>(make_halving_doubling); }

TEST_CASE("the pairs in which ranks are added up") {
    std::size_t const d = 8;
    auto const all = dense_sums::fractions<double>(d, 6), sums = dense_sums::after(all, make_halving_doubling);
    for (std::size_t i = 0; i < d; ++i)  // 4 and 5 join 0 and 1, then 0 meets 2 and 1 meets 3
        CHECK(sums[3][i] == ((all[0][i] + all[4][i]) + all[2][i]) + ((all[1][i] + all[5][i]) + all[3][i]));
}

TEST_CASE("each rank sends all parts but one twice; those beyond the power of two, and their partners, all once more") {
    for (int const n : {1, 2, 3, 4, 7, 8, 9})
        for (std::size_t const d : {0, 3, 48, 51}) {
            std::vector<std::uint64_t> sent(std::size_t{16});
            dense_sums::after(dense_sums::whole_numbers<double>(d, n), make_halving_doubling, &sent);
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

TEST_CASE("what halving and doubling refuses") { dense_sums::refuses(make_halving_doubling); }

TEST_CASE("long parts go in pieces") { dense_sums::long_parts(make_halving_doubling); }

TEST_CASE("no rank is more than eight pieces ahead of its partner") {
    std::size_t const d = 40 * laconic::detail::in_pieces<float>::longest + 5;
    threads::run(4, [&](auto& comm) {
        counting counted(comm);
        host on;
        auto collective = make_sum<float>(halving_doubling{}, counted, d);
        std::vector<float> x(d, 1);
        collective(on, counted, std::span(x));
        CHECK(counted.most_ahead == 8);
        CHECK(x == std::vector<float>(d, 4));
    });
}
