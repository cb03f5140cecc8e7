// SPDX-License-Identifier: Apache-2.0
// identity_or sends all or compresses, as all ranks know at no cost, with the constants of what it does.
#include "laconic/compress/identity_or.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"
#include "support/laws/messages.hpp"

using vec = std::vector<double>;

static_assert(Compressor<identity_or<identity>> && Unbiased<identity_or<identity>> &&
              Contractive<identity_or<identity>>);

static_assert(Unbiased<identity_or<rand_k<>>> && !Contractive<identity_or<rand_k<>>>);
static_assert(Contractive<identity_or<top_k<>>> && !Unbiased<identity_or<top_k<>>>);

template <class M>
vec decoded(M const& m) {
    return laws::decoded<M, double>(m);
}

TEST_CASE("it says everything, or what the other says, and both ends know which at no cost") {
    host on;
    vec const x{1, -2, 3, 4};
    detail::message_of<identity_or<rand_k<>>> sent, received;
    for (std::uint64_t round = 0; round < 6; ++round) {
        identity_or c{rand_k{2}};
        c.in_full = round % 3 == 0;
        c(on, std::span<double const>(x), key{round}, sent);
        CHECK(bits(sent) == (c.in_full ? 256 : 128));
        CHECK(decoded(sent) == (c.in_full ? x : decoded(compress(rand_k{2}, x, key{round}))));
        c.blank(on, 4, key{round}, received);
        received = by_hand::read_into(received, by_hand::written(sent), c);
        CHECK(received == sent);
    }
}

TEST_CASE("a message that is used again for another dimension is a new one") {
    host on;
    detail::message_of<identity_or<rand_k<>>> m;
    identity_or c{rand_k{2}, true};
    for (std::size_t const d : {4u, 6u, 3u}) {
        vec const x(d, 1.5);
        c.in_full = true;
        c(on, std::span<double const>(x), key{1}, m);
        CHECK(decoded(m) == x);
        c.in_full = false;
        c(on, std::span<double const>(x), key{1}, m);
        CHECK(decoded(m) == decoded(compress(rand_k{2}, x, key{1})));
    }
}

TEST_CASE("all ranks send in full in the first round and then with probability p, at the same time") {
    int full = 0;
    for (std::uint64_t round = 0; round < 4000; ++round) {
        auto const now = round_context::of(key{3}, round, 0, 5);
        for (int rank = 1; rank < 5; ++rank)
            CHECK(detail::sends_in_full(now, .25) ==
                  detail::sends_in_full(round_context::of(key{3}, round, rank, 5), .25));
        CHECK(detail::sends_in_full(now, 1));
        CHECK(detail::sends_in_full(now, 0) == (round == 0));
        full += detail::sends_in_full(now, .25);
    }
    CHECK(std::abs(full - 1000) < 5 * std::sqrt(4000 * .25 * .75));
}

TEST_CASE("its constants are those of what it says") {
    CHECK(identity_or{rand_k{2}}.omega(8) == 3);
    CHECK(identity_or{rand_k{2}, true}.omega(8) == 0);
    CHECK(identity_or{top_k{2}}.delta(8) == .25);
    CHECK(identity_or{top_k{2}, true}.delta(8) == 1);
    CHECK_THROWS_AS(identity_or{rand_k{9}}.check(8), argument_error);
    CHECK(to_string(identity_or{rand_k{2}}) == "identity_or(rand_k(2))");
}
