// SPDX-License-Identifier: Apache-2.0
#include "laconic/transport/transport.hpp"

#include <doctest/doctest.h>

#include <concepts>

#include "laconic/any/transport.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/exchange/gtop_k.hpp"
#include "laconic/feedback/memory.hpp"

using namespace laconic;

TEST_CASE("what a recursion carries has one class that works, each of them a transport") {
    using message = message_of<top_k<>, double, host>;
    using any = any_message<double, host>;
    CHECK(std::same_as<transport_for<gather_all, message>, gathered<message, double>>);
    CHECK(std::same_as<transport_for<by_gtop_k, message>, summed<by_gtop_k, message, double>>);
    CHECK(std::same_as<transport_for<served<top_k<>>, message>, served_mean<top_k<>, message, double>>);
    CHECK(std::same_as<transport_for<any_transport<>, any>, transport_for<any_exchange<>, any>>);
    using ranks = threads::member;
    static_assert(Transport<transport_for<gather_all, message>, ranks, message, memory<>>);
    static_assert(Transport<transport_for<by_gtop_k, message>, ranks, message, memory<>>);
    static_assert(Transport<transport_for<served<top_k<>>, message>, ranks, message, memory<>>);
    static_assert(Transport<transport_for<any_transport<>, any>, ranks, any, memory<>>);
    static_assert(!Transport<gather_all, ranks, message, memory<>>);
}
