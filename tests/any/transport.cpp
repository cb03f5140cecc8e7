// SPDX-License-Identifier: Apache-2.0
// A transport chosen at run time gives the estimates of the one inside, with its name and its server.
#include "laconic/any/transport.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

using namespace laconic;

using vec = std::vector<double>;

// What three ranks make of their numbers in two rounds.
template <class X, class C>
std::vector<vec> estimates(X const& transport, C const& c) {
    std::vector<vec> all;
    fibers::run(3, [&](fibers::member& comm) {
        host on;
        using message = detail::message_of<C, double, host>;
        detail::transport_for<X, message> by(transport, 5, position_code::smallest);
        memory<> feedback(0, 1);
        by.require_beside(feedback, "memory");
        feedback.start(5);
        by.start(comm);
        message mine;
        for (std::uint64_t round = 0; round < 2; ++round) {
            vec x(5, 1.0), mean(5);
            x[std::size_t(comm.rank())] = 3.0 * double(comm.rank() + 1);
            auto const now = round_context::of(key{3}, round, comm.rank(), 3);
            feedback.compensate(on, now, std::span(x));
            c(on, std::span<double const>(x), now.own, mine);
            detail::failure const none;
            by.send(on, comm, now, mine, none);
            by.receive(
                on, comm, now, mine, none,
                [&](auto& there, int r, auto& m) { c.blank(there, 5, round_context::of(key{3}, round, r, 3).own, m); },
                feedback, std::span(mean));
            feedback.update(on, std::span<double const>(x), mine);
            by.give_back(on, feedback);
            by.reconstruct(on, comm, now, feedback, std::span(mean));
            by.require_consistent();
            if (comm.rank() == 1) all.push_back(mean);
        }
    });
    return all;
}

TEST_CASE("a transport that is chosen at run time is the one inside") {
    auto const same = [](auto const& transport, std::string const& name) {
        any_transport<> const any = transport;
        CHECK(to_string(any) == name);
        CHECK(to_string(transport) == name);
        CHECK(any.gathers() == (name == "gather"));
        CHECK(any.server().has_value() == (name.find("served") == 0));
        CHECK(estimates(any, any_compressor<>(top_k{2})) == estimates(transport, top_k{2}));
    };
    same(gather_all{}, "gather");
    same(ring{}, "ring");
    same(gtop_k{1}, "gtop_k(1)");
    same(served<top_k<>>{top_k{1}, {0, 1}}, "served(top_k(1), memory(rate=0, decay=1))");
    CHECK(to_string(any_transport<>(any_collective<>(ring{}))) == "ring");
    CHECK(any_transport<>{}.gathers());
}
