// SPDX-License-Identifier: Apache-2.0
// A user's own transport carries a reducer's and a method's messages; each library transport has one class.
#include "laconic/transport/transport.hpp"

#include "support/everything.hpp"
#include "support/toys.hpp"

TEST_CASE("a round that broke off is an error until a saved state is restored") {
    detail::broken_round b;
    b.require_consistent(2, 7);
    b.answer_is_on_its_way();
    CHECK_THROWS_WITH_AS(b.require_consistent(2, 7),
                         "the server's answer in round 7 was lost: only a saved state can be gone on from", comm_error);
    b.sum_is_under_way();
    CHECK_THROWS_WITH_AS(b.require_consistent(2, 7),
                         "the collective of round 7 broke off, and other ranks may have its sum: only a saved state "
                         "can be gone on from",
                         comm_error);
    b.round_is_under_way();
    CHECK_THROWS_WITH_AS(b.require_consistent(2, 7),
                         "round 7 broke off, and other ranks may have finished it: only a saved state can be gone on "
                         "from",
                         comm_error);
    b.rank_moves();
    CHECK_THROWS_WITH_AS(b.require_consistent(2, 7),
                         "round 7 broke off while rank 2 moved: only a saved state can be gone on from", comm_error);
    CHECK_THROWS_AS(b.require_consistent(2, 7), comm_error);
    b.recover();
    b.require_consistent(2, 7);
}

// One of the user's own: gathered, and counts its rounds.
template <class M, class T, class B>
struct counting : detail::gathered<M, T, B> {
    double rounds = 0;
    counting(auto, std::size_t d, position_code positions) : detail::gathered<M, T, B>({}, d, positions) {}
    template <class C, class F>
    void reconstruct(B& on, C const& comm, round_context const& now, F& feedback, std::span<T> mean) {
        ++rounds;
        detail::gathered<M, T, B>::reconstruct(on, comm, now, feedback, mean);
    }
    template <class Archive>
    void state(Archive& archive) {
        archive(rounds);
    }
};
struct counted_rounds {
    template <class M, class T, class B>
    using transport = counting<M, T, B>;
    friend std::string to_string(counted_rounds) { return "counted rounds"; }
};

// Another: the estimate is half of the mean.
template <class M, class T, class B>
struct halving : detail::gathered<M, T, B> {
    halving(auto, std::size_t d, position_code positions) : detail::gathered<M, T, B>({}, d, positions) {}
    template <class C, class F>
    void reconstruct(B& on, C const&, round_context const&, F&, std::span<T> mean) {
        multiply(on, T(0.5), mean);
    }
};
struct halved {
    template <class M, class T, class B>
    using transport = halving<M, T, B>;
    friend std::string to_string(halved) { return "halved"; }
};

TEST_CASE("a transport of the user's own carries a reducer's messages, and makes its estimate") {
    threads::run(2, [](threads::member& comm) {
        reducer reduce(plain<identity, halved>{}, comm, std::size_t{3});
        std::vector<float> g(3, comm.rank() == 0 ? 2.0f : 6.0f);
        reduce(g);
        CHECK(g == std::vector<float>(3, 2));
    });
}

TEST_CASE("a transport of the user's own carries a method's messages") {
    auto const f = toys::around({{4, 1.5}});
    recursion<identity> const method{{}, {}, {.5}};
    toys::lockstep gathers(method, f, {0, 0}, 1);
    toys::lockstep counts(method.with_over(counted_rounds{}), f, {0, 0}, 1);
    gathers.rounds(3), counts.rounds(3);
    CHECK(counts.x() == gathers.x());
    CHECK(counts.transport(0).rounds == 3);
}

// What a recursion carries has one class that works, each of them a transport.
using list_message = detail::message_of<top_k<>, double, host>;
using any_kind = any_message<double, host>;
using one_rank = threads::member;

static_assert(std::same_as<detail::transport_for<gather_all, list_message>, detail::gathered<list_message, double>>);
static_assert(std::same_as<detail::transport_for<gtop_k, list_message>, detail::summed<gtop_k, list_message, double>>);
static_assert(std::same_as<detail::transport_for<served<top_k<>>, list_message>,
                           detail::served_mean<top_k<>, list_message, double>>);
static_assert(
    std::same_as<detail::transport_for<any_transport<>, any_kind>, detail::transport_for<any_collective<>, any_kind>>);
static_assert(Transport<detail::transport_for<gather_all, list_message>, one_rank, list_message, memory<>>);
static_assert(Transport<detail::transport_for<gtop_k, list_message>, one_rank, list_message, memory<>>);
static_assert(Transport<detail::transport_for<served<top_k<>>, list_message>, one_rank, list_message, memory<>>);
static_assert(Transport<detail::transport_for<any_transport<>, any_kind>, one_rank, any_kind, memory<>>);
static_assert(!Transport<gather_all, one_rank, list_message, memory<>>);
