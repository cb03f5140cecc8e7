// SPDX-License-Identifier: Apache-2.0
// descend() runs the loop of a method that is no recursion, with all that a run has: limits, a trace, a watch, saved
// states.
#include "laconic/loop.hpp"

#include "support/everything.hpp"
#include "support/pulled_left.hpp"
#include "support/toys.hpp"

using namespace toys;

using f_type = quadratic<>;
static_assert(LoopMethod<pulled_left, f_type, threads::member, double>);
static_assert(!LoopMethod<gd, f_type, threads::member, double>);
static_assert(Loop<descent<recursion<identity>, f_type, threads::member>>);
static_assert(HoldsOwnIterates<pulled_left::loop<f_type, threads::member>>);
static_assert(!HoldsOwnIterates<descent<recursion<identity>, f_type, threads::member>>);

struct outcome {
    run_result end;
    vec x;
    std::vector<trace_point> trace;
    std::vector<std::byte> saved;
};
std::vector<outcome> run_on(workers const& f, run_settings how, std::vector<outcome> const& from = {}) {
    std::vector<outcome> all(f.size());
    threads::run(int(f.size()), [&](threads::member& comm) {
        auto const me = std::size_t(comm.rank());
        auto& mine = all[me];
        mine.x = vec(4, double(me));
        auto my = how;
        my.trace = &mine.trace;
        if (!from.empty()) my.resume_from = from[me].saved;
        mine.end = descend(pulled_left{}, f[me], mine.x, comm, my, [&](auto const&, auto const& loop) {
            if (loop.rounds() == 3) mine.saved = loop.save();
        });
    });
    return all;
}

TEST_CASE("a run of a method with a loop of its own: iterates differ, and the trace has f at their mean") {
    auto const f = random_ridges(3, 4, 1, 2);
    auto const all = run_on(f, {.rounds = 8});
    CHECK(all[0].x != all[1].x);
    vec mean(4);
    for (auto const& mine : all)
        for (std::size_t i = 0; i < 4; ++i) mean[i] += mine.x[i] / 3;
    for (auto const& mine : all) {
        CHECK(mine.end.rounds == 8);
        CHECK(mine.end.why == stop_reason::rounds);
        REQUIRE(mine.trace.size() == 9);
        CHECK(mine.trace[8].value == doctest::Approx(mean_of(f).value(mean)));
        CHECK(mine.trace[8].bits_up == 8 * 8 * 32);
        CHECK(mine.trace[8].bits_down == 8 * 8 * 32);
    }
    for (double const v : {1e3, 1.0})
        CHECK(run_on(f, {.rounds = 8, .target = v * all[0].trace[5].value})[1].end.rounds == (v > 1 ? 0 : 5));
}

TEST_CASE("it goes on from a saved state, bit for bit") {
    auto const f = random_ridges(3, 4, 1, 2);
    auto const whole = run_on(f, {.rounds = 8}), later = run_on(f, {.rounds = 8}, whole);
    for (std::size_t r = 0; r < 3; ++r) {
        CHECK(later[r].x == whole[r].x);
        CHECK(later[r].trace.size() == 6);
    }
}
