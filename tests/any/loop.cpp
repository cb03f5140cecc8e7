// SPDX-License-Identifier: Apache-2.0
// A loop chosen at run time makes the rounds, sends the bytes and has the values of the one inside.
#include "laconic/any/loop.hpp"

#include "support/everything.hpp"
#include "support/pulled_left.hpp"
#include "support/toys.hpp"

using namespace toys;

using ways = std::array<vec, 2>;

TEST_CASE("a loop behind a face: rounds, bytes, values at the mean, saved states") {
    auto const f = random_ridges(3, 4, 1, 2);
    threads::run(3, [&](threads::member& inner) {
        auto const me = std::size_t(inner.rank());
        ways x{vec(4, double(me)), vec(4, double(me))};
        metered counted(inner), bare(inner);
        any_objective<> const g(f[me]);
        auto const method = pulled_left{0.25};
        auto plain = method.start({}, f[me], bare, std::span(x[0]), 0);
        any_loop<> loop(any_communicator(counted),
                        [&](any_communicator& comm) { return method.start({}, g, comm, std::span(x[1]), 0); });
        static_assert(Loop<any_loop<>> && HoldsOwnIterates<any_loop<>>);
        CHECK(loop.evaluates_together());
        for (int k = 0; k < 5; ++k) {
            CHECK(loop.look().round == std::uint64_t(k));
            CHECK(loop.look().value() == plain.look().value());
            plain.round(), loop.round();
            CHECK(x[0] == x[1]);
            CHECK(loop.value_at_mean(inner) == plain.value_at_mean(inner));
        }
        CHECK(loop.rounds() == 5);
        CHECK(loop.x().data() == x[1].data());
        CHECK(counted.bytes_sent() == bare.bytes_sent());
        auto const saved = loop.save();
        loop.round();
        CHECK(x[0] != x[1]);
        loop.restore(saved);
        CHECK(x[0] == x[1]);
    });
}

TEST_CASE("a loop whose ranks do not evaluate together has the value of its own iterate") {
    auto const f = random_ridges(2, 4, 1, 2);
    threads::run(2, [&](threads::member& inner) {
        auto const me = std::size_t(inner.rank());
        vec x(4, 1.0);
        any_loop<> loop(any_communicator(inner), [&](any_communicator& comm) {
            return descent<recursion<identity>, quadratic<>, any_communicator>({}, f[me], comm, x, 0);
        });
        CHECK_FALSE(loop.evaluates_together());
        CHECK(loop.value_at_mean(inner) == f[me].value(x));
        loop.round();
        CHECK(loop.value_at_mean(inner) == f[me].value(x));
    });
}
