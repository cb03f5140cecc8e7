// SPDX-License-Identifier: Apache-2.0
// Methods with loops of their own are read from texts, run by descend() as typed ones are, and reach the optimum.
#include "laconic/families.hpp"

#include "named_methods.hpp"
#include "support/everything.hpp"
#include "support/samples.hpp"

using vec = std::vector<double>;

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
        descend(method, f[me], all.x[me], comm, {.rounds = rounds, .seed = 0, .check_every = rounds, .trace = &trace});
        if (me == 0) all.trace = trace;
    });
    return all;
}

struct families_bowl {  // |x - c|^2 / 2, which no any_objective holds yet
    double c;
    std::size_t dimension() const { return 3; }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (double const v : x) sum += (v - c) * (v - c) / 2;
        return sum;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t i = 0; i < 3; ++i) g[i] = x[i] - c;
    }
    void hessian_times(std::span<double const>, std::span<double const> v, std::span<double> out) const {
        for (std::size_t i = 0; i < 3; ++i) out[i] = v[i];
    }
};

TEST_CASE("a method from a text takes an objective of any type, and keeps a copy of it") {
    threads::run(2, [](threads::member& comm) {
        vec x(3, 9.0);
        descend(parse_method("ds_lsr1(memory=3)"), problem{}, families_bowl{double(comm.rank())}, x, comm,
                {.rounds = 20});
        for (double const v : x) CHECK(v == doctest::Approx(0.5).epsilon(1e-9));
    });
}

TEST_CASE("ranks that go on from states of different runs are refused, as with a typed method") {
    std::vector<std::vector<std::byte>> saved(2);  // rank 0's of one run, rank 1's of another
    for (std::size_t const whose : {0u, 1u})
        threads::run(2, [&](threads::member& comm) {
            vec x(3, 3 + 10.0 * double(whose));
            descend(parse_method("ds_lsr1(memory=2)"), problem{}, families_bowl{1}, x, comm, {.rounds = 2, .seed = 0},
                    [&](auto const&, auto const& loop) {
                        if (loop.rounds() == 2 && std::size_t(comm.rank()) == whose) saved[whose] = loop.save();
                    });
        });
    threads::run(2, [&](threads::member& comm) {
        vec x(3);
        CHECK_THROWS_WITH_AS(descend(parse_method("ds_lsr1(memory=2)"), problem{}, families_bowl{1}, x, comm,
                                     {.rounds = 4, .seed = 0, .resume_from = saved[std::size_t(comm.rank())]}),
                             doctest::Contains("the iterate to start from"), agreement_error);
    });
}

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
    same("fednl(top_k(0.5), over=ring)", fednl<any_compressor<>, plain<>, ring>{.compressor = top_k{0.5}}, 30, 1e-9);
    same("ds_lsr1(memory=4, over=ring)", ds_lsr1<ring>{.memory = 4}, 30, 1e-9);
    same("pair_gossip(step=0.05)", pair_gossip{.step = .05}, 500, 2);
}

TEST_CASE("a method from a text takes another collective where its loop adds something up") {
    auto const over = [](char const* text) { return to_string(parse_method(text).over(ring{})); };
    CHECK(over("ds_lsr1(memory=4)") == "ds_lsr1(memory=4, over=ring)");
    CHECK(over("fednl(top_k(0.5))") == "fednl(top_k(0.5), over=ring)");
    CHECK(to_string(any_method<>(ds_lsr1<any_collective<>>{}).over(ring{})) == "ds_lsr1(memory=16, over=ring)");
    for (any_method<> const& fixed : {any_method<>(ds_lsr1<>{}), any_method<>(fednl<top_k<>>{{2}})})
        CHECK_THROWS_WITH_AS(fixed.over(ring{}), doctest::Contains("its transport was fixed when it was compiled"),
                             argument_error);
    CHECK_THROWS_WITH_AS(over("gadmm(rho=1)"), doctest::Contains("has no collective"), argument_error);
    CHECK_THROWS_WITH_AS(over("gd"), doctest::Contains("gd is a recursion"), argument_error);
}
