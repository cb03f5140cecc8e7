// SPDX-License-Identifier: Apache-2.0
// A communicator is an `ArrayCarrier` only if it can send arrays of a backend whose memory the host cannot reach.
#include "laconic/comm/array_carrier.hpp"

#include "support/apart.hpp"
#include "support/everything.hpp"

struct carrier : threads::member {
    using threads::member::member;
    template <class B>
    void require_stream_of(B const&) {}
    template <class Calls>
    void together(Calls calls) {
        calls();
    }
    template <class E>
    void spread(int, std::span<E const>, std::span<E>) {}
    template <class E>
    void send(int, std::span<E const>) {}
    template <class E>
    void receive(int, std::span<E>) {}
};

static_assert(detail::ArrayCarrier<carrier, laconic_test::apart>);
static_assert(!detail::ArrayCarrier<carrier, host>);
static_assert(!detail::ArrayCarrier<threads::member, laconic_test::apart>);
