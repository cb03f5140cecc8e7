// SPDX-License-Identifier: Apache-2.0
#include "laconic/transport/gathered.hpp"

#include <doctest/doctest.h>

#include <span>
#include <vector>

#include "laconic/any/transport.hpp"
#include "laconic/collective/dense/ring.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/feedback/memory.hpp"

using namespace laconic;

TEST_CASE("messages that are gathered travel beside others, and lead to the mean of shifts and messages") {
    fibers::run(3, [](fibers::member& comm) {
        host on;
        using message = message_of<top_k<>, double, host>;
        gathered<message, double> first({}, 4, position_code::smallest), second({}, 4, position_code::smallest);
        CHECK_FALSE(first.travels_alone(comm));
        std::vector<double> x(4, 0.5), mean(4), other(4);
        x[std::size_t(comm.rank())] = 3;
        top_k const c{1};
        message mine;
        c(on, std::span<double const>(x), key{}, mine);
        error_frame const frame;
        memory<> feedback(1, 0);
        feedback.start(4);
        auto const blank = [&](auto& there, int, auto& m) { c.blank(there, 4, key{}, m); };
        first.send(on, comm, round_context{}, mine, frame, 0);
        second.send(on, comm, round_context{}, mine, frame, 1);
        first.receive(on, comm, round_context{}, mine, frame, blank, feedback, std::span(mean), 0);
        second.receive(on, comm, round_context{}, mine, frame, blank, feedback, std::span(other), 1);
        CHECK(mean == std::vector<double>{1, 1, 1, 0});
        CHECK(other == mean);
        feedback.update(on, std::span<double const>(x), mine);
        first.reconstruct(on, comm, round_context{}, feedback, std::span(mean));
        CHECK(mean == other);  // the mean shift was 0
        first.reconstruct(on, comm, round_context{}, feedback, std::span(mean));
        CHECK(mean == std::vector<double>{2, 2, 2, 0});
    });
}

TEST_CASE("what is gathered, and what is not") {
    CHECK(detail::is_gathered(gather_all{}));
    CHECK(detail::is_gathered(any_transport<>{}));
    CHECK_FALSE(detail::is_gathered(ring{}));
    CHECK_FALSE(detail::is_gathered(any_transport<>(ring{})));
    CHECK_FALSE(detail::is_gathered(served<identity>{}));
}
