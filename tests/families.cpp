// SPDX-License-Identifier: Apache-2.0
// Methods with loops of their own are read from texts, run by descend() as typed ones are, and reach the optimum.
#include "laconic/families.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "laconic/any/objective.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/run.hpp"
#include "named_methods.hpp"
#include "support/samples.hpp"

using namespace laconic;
using vec = std::vector<double>;

namespace {

struct families_run {
    std::vector<vec> x;
    std::vector<trace_point> trace;
};
template <class M>
families_run run_family(M const& method, std::vector<any_objective<>> const& f, std::uint64_t rounds) {
    families_run all{std::vector<vec>(f.size(), vec(4, 1.0)), {}};
    threads::run(int(f.size()), [&](threads::member& comm) {
        auto const me = std::size_t(comm.rank());
        std::vector<trace_point> trace;
        descend(method, f[me], all.x[me], comm, {.rounds = rounds, .check_every = rounds, .trace = &trace});
        if (me == 0) all.trace = trace;
    });
    return all;
}

}  // namespace

TEST_CASE("each is read from its text, is the typed one bit for bit, and reaches the optimum on all ranks") {
    std::vector<any_objective<>> f;
    for (std::uint64_t r = 0; r < 4; ++r) f.push_back(samples::logistic_of(9, 4, r));
    auto const same = [&](char const* text, auto const& typed, std::uint64_t rounds, double gap) {
        CAPTURE(text);
        auto const method = parse_method(text);
        CHECK(to_string(method) == text);
        CHECK(method.has_loop());
        auto const a = run_family(method, f, rounds), b = run_family(typed, f, rounds);
        CHECK(a.x == b.x);
        REQUIRE(a.trace.size() == 2);
        vec sum(4), g(4);
        for (auto const& mine : f) {
            mine.gradient(a.x[0], g);
            for (std::size_t i = 0; i < 4; ++i) sum[i] += g[i] / 4;
        }
        for (double const v : sum) CHECK(std::abs(v) < gap);
        CHECK(a.trace[1].value < a.trace[0].value);
        CHECK(a.trace[1].bits_up > 0);
    };
    same("gadmm(rho=1)", gadmm{1}, 2000, 1e-9);
    same("d_gadmm(rho=1, refresh=10)", d_gadmm{1, 10}, 2000, 1e-9);
    same("q_gadmm(rho=1, bits=8)", q_gadmm{1, 8}, 2000, 1e-6);
    same("choco(top_k(2), step=0.02, gamma=0.3)",
         choco<any_compressor<>>{.compressor = top_k{2}, .step = .02, .gamma = .3}, 1000, 0.5);
    same("fednl(top_k(0.5))", fednl<any_compressor<>>{.compressor = top_k{0.5}}, 30, 1e-9);
    same("ds_lsr1(memory=4)", ds_lsr1<>{.memory = 4}, 30, 1e-9);
    same("pair_gossip(step=0.05)", pair_gossip{.step = .05}, 500, 2);
}
