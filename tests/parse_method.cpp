// SPDX-License-Identifier: Apache-2.0
// Methods with loops of their own are read from texts, run by descend() as typed ones are, and reach the optimum.
#include "laconic/parse_method.hpp"

#include "named_methods.hpp"
#include "support/everything.hpp"
#include "support/methods.hpp"
#include "support/samples.hpp"
#include "support/toys.hpp"

using vec = std::vector<double>;

struct families_run {
    std::vector<vec> x;
    std::vector<trace_point> trace;
};
families_run run_family(auto const& method, std::vector<any_objective<>> const& f, std::uint64_t rounds) {
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

// Every method is read from its text and written back, composes as in C++, and each mistake has its column.

using namespace toys;

std::string error_of(std::string const& text) {
    try {
        parse_method(text);
    } catch (parse_error const& e) {
        CHECK(e.text == text);
        return std::to_string(e.column) + "|" + e.what();
    }
    return "none";
}

TEST_CASE("what is written reads back as the same") {
    auto texts = every_method();
    for (char const* const more :
         {"gd(step=0.1)",
          "gd(step=0.5/L)",
          "dcgd(natural, step=2/L)",
          "qsgd(levels=8, step=0.25)",
          "ef_sgd(top_k(3) | natural, step=1/L)",
          "ef21(top_k(0.01) | natural)",
          "ef21(top_k(0.01), step=0.1, batch=2, means=yes)",
          "diana(quantize(2, bucket=16, p=inf), step=0.1, memory=0.25)",
          "gd_sec(xi=5, beta=1, step=0.5/L)",
          "bidirectional(bidirectional(gd, natural), natural)",
          "cat(top_k)",
          "cat(top_k | scaled_sign, cost=packets(512, 64, 60))",
          "cat(top_blocks(block=64), cost=affine(2, 640), step=0.5/L)",
          "cat(diana(rand_k))",
          "cat(diana(rand_k | natural, step=1/L, memory=0.25), cost=packets(512, 64, 60))",
          "cat(vr_diana(rand_k, batch=1), cost=affine(1, 640))",
          "cat(vr_diana_saga(rand_k | natural))",
          "cat(ef_sgd(top_k))",
          "cat(ef_sgd(top_k | scaled_sign(bucket=16), step=0.5/L, batch=2), cost=affine(1, 640))",
          "cat(ef_sgd(proportional))",
          "cat(ef_sgd(top_blocks(block=64)))",
          "cat(top_k | scaled_sign, cost=packets(512, 64, 60), step=0.05)"})
        texts.push_back(more);
    for (auto const& text : texts) CHECK(to_string(parse_method(text)) == text);
    for (auto const& [text, whole] : std::initializer_list<std::pair<char const*, char const*>>{
             {"gd_sec", "gd_sec(xi=100, beta=0.01)"},
             {"sgd_sec", "sgd_sec(xi=100, beta=0.01, batch=1)"},
             {"quantized_gd_sec(natural)", "quantized_gd_sec(natural, xi=100, beta=0.01)"},
             {"qsgd", "qsgd(levels=4)"},
             {"sgd", "sgd(batch=1)"},
             {"signum", "signum(beta=0.9)"},
             {"top_k_sgd", "top_k_sgd(k=0.01)"},
             {"gtop_k_sgd", "gtop_k_sgd(k=0.01)"},
             {"spardl_sgd", "spardl_sgd(k=0.01)"},
             {"dgc", "dgc(k=0.001, momentum=0.9)"},
             {"lag_wk", "lag_wk(xi=0.05, D=10)"},
             {"lag_ps", "lag_ps(xi=0.05, D=10)"},
             {"ibcd", "ibcd(block=256)"},
             {"isega", "isega(block=256)"},
             {"isaga", "isaga(block=256)"},
             {"isgd", "isgd(block=256)"},
             {"iasgd", "iasgd(block=256)"},
             {"cat(error_feedback(top_k))", "cat(ef_sgd(top_k))"},
             {" cat ( cost = affine(1, 2), compressor = diana ( step=1/L, compressor=rand_k() ) )",
              "cat(diana(rand_k, step=1/L), cost=affine(1, 2))"},
             {" diana ( rand_k( 2 )|natural , step = 1/L ) ", "diana(rand_k(2) | natural, step=1/L)"}})
        CHECK(to_string(parse_method(text)) == whole);
    // A default and a field of a type are those of its text.
    CHECK(to_string(dgc{.01, .5, true, 2, 100, {.step = .1, .batch = 32}}) ==
          "dgc(k=0.01, momentum=0.5, nesterov=yes, clip=2, warm_up=100, step=0.1, batch=32)");
    CHECK(to_string(bidirectional{ef_sgd{top_k{1}}, top_k{1}, 0, true}) ==
          "bidirectional(ef_sgd(top_k(1)), top_k(1), keep_errors=yes)");
    CHECK(to_string(iasgd{.1, 8, 4, {.step = .5}}) == "iasgd(tau=0.1, block=8, rho=4, step=0.5)");
    CHECK(to_string(cat{ef_sgd{top_k{7} | scaled_sign{4}, {.step = step_size{1, true}}}, affine_cost(1, 640)}) ==
          "cat(ef_sgd(top_k | scaled_sign(bucket=4), step=1/L), cost=affine(1, 640))");
}

TEST_CASE("a method from its text sends the same bytes as the one that is compiled") {
    auto const f = random_ridges(3, 8, 1, 2);
    auto const p = constants(f);
    std::vector<any_objective<>> const any(f.begin(), f.end());
    auto const same = [&](auto const& compiled, std::string const& text) {
        CAPTURE(text);
        auto const a = history(composed(compiled, p), f, vec(8, 1.0), 15);
        auto const b = history(parse_method(text).compose<double, host>(p), any, vec(8, 1.0), 15);
        for (std::size_t k = 0; k <= 15; ++k) {
            CHECK(a[k].x == b[k].x);
            CHECK(a[k].bytes == b[k].bytes);
        }
    };
    same(gd{}, "gd");
    same(dcgd{rand_k{2} | natural{}}, "dcgd(rand_k(2) | natural)");
    same(cat{top_k{1}, affine_cost(1, 640), {.step = .01}}, "cat(top_k, cost=affine(1, 640), step=0.01)");
    same(ef_sgd{top_k{2}}, "ef_sgd(top_k(2))");
    same(ef21{top_k{.25} | quantize{8}}, "ef21(top_k(0.25) | quantize(8))");
    same(diana{quantize{1, 4, p_norm::largest}}, "diana(quantize(1, bucket=4, p=inf))");
    same(gd_sec{3, {.memory = .5}}, "gd_sec(xi=3, beta=0.5)");
}

TEST_CASE("what cannot be read is refused with its column and what would be right") {
    CHECK(error_of("adam").starts_with("1|"));
    for (auto const& m : list_methods()) CHECK(error_of("adam").find(m.name) != std::string::npos);
    CHECK(error_of("diana").find("needs a compressor") != std::string::npos);
    CHECK(error_of("diana(rand_q(2))").starts_with("7|"));
    CHECK(error_of("diana(rand_q(2))").find("rand_k") != std::string::npos);
    CHECK(error_of("cat").starts_with("1|"));
    CHECK(error_of("cat").find("cat needs a compressor: cat(compressor=...)") != std::string::npos);
    CHECK(error_of("cat(rand_k)").starts_with("5|"));
    CHECK(error_of("cat(rand_k)").find("a level can be chosen for top_k") != std::string::npos);
    CHECK(error_of("cat(top_k, cost=packets(512))").starts_with("17|"));
    CHECK(error_of("cat(top_k, batch=2)").starts_with("18|"));
    CHECK(error_of("gd(step=0)").find("above 0") != std::string::npos);
    CHECK(error_of("gd(step=-1)").find("above 0") != std::string::npos);
    CHECK(error_of("gd(step=big)").starts_with("9|"));
    for (auto const* text : {"gd(step=1/M)", "gd(step=L)", "gd(step=1/2)", "gd(step=nan)", "gd(step=-1/L)",
                             "sgd(batch=1e10)", "lag_wk(D=0)", "lag_wk(D=1.5)", "diana(rand_k(2), memory=x)"})
        CHECK(error_of(text) != "none");
    CHECK(error_of("gd(memory=0.5)") != "none");
    CHECK(error_of("gd(batch=2)") != "none");
    CHECK(error_of("sgd(batch=0)").find("batch is a whole number from 1 to") != std::string::npos);
    CHECK(error_of("sgd(batch=1.5)").starts_with("11|"));
    CHECK(error_of("diana(rand_k(2), memory=much)").find("memory is a number") != std::string::npos);
    CHECK(error_of("gd_sec(xi=1, alpha=2)") != "none");
    CHECK(error_of("gd | natural").find("a method cannot be part of a pipe") != std::string::npos);
    CHECK(error_of("qsgd(levels=2.5)") != "none");
    CHECK(error_of("ibcd(block=0)").find("block is a whole number") != std::string::npos);
    CHECK(error_of("dgc(nesterov=maybe)").find("yes or no") != std::string::npos);
    CHECK(error_of("bidirectional").find("needs a method") != std::string::npos);
    CHECK(error_of("bidirectional(gd)").find("needs a compressor") != std::string::npos);
    CHECK(error_of("bidirectional(adam, natural)").starts_with("15|"));
    CHECK(error_of("bidirectional(gd, natural, keep_errors=some)").find("yes or no") != std::string::npos);
    CHECK(error_of("") != "none");
    CHECK(error_of("gd(") != "none");
}

TEST_CASE("compositions that do not suit a problem are refused when they are composed") {
    problem const p{8, 5, 4, .5, 9, 6};
    auto const compose = [&](char const* text) { parse_method(text).compose<double, host>(p); };
    CHECK_THROWS_WITH_AS(compose("diana(top_k(2))"), doctest::Contains("top_k(2) is biased"), theory_error);
    CHECK_THROWS_WITH_AS(compose("dcgd(threshold(2))"), doctest::Contains("threshold(2) is biased"), theory_error);
    CHECK_THROWS_WITH_AS(compose("ef21(rand_k(2))"), doctest::Contains("rand_k(2)"), theory_error);
    CHECK_THROWS_WITH_AS(compose("ef_sgd(threshold(2))"), doctest::Contains("threshold(2)"), theory_error);
    CHECK_THROWS_WITH_AS(compose("bidirectional(diana(top_k(2)), natural)"), doctest::Contains("top_k(2) is biased"),
                         theory_error);
    CHECK_THROWS_AS(compose("diana(rand_k(2), memory=0.5)"), argument_error);
    CHECK_THROWS_AS(compose("vr_diana(natural)"), theory_error);  // the number of samples is not known
    CHECK_NOTHROW(compose("ef_sgd(threshold(2), step=0.1)"));
    CHECK_NOTHROW(compose("dcgd(top_k(2), step=0.1)"));
    CHECK_THROWS_WITH_AS(compose("cat(top_k)"), doctest::Contains("best_level(top_k) is biased"), theory_error);
    CHECK_NOTHROW(compose("cat(top_k, step=0.1)"));
}

// tests/methods.cpp tries every entry; here is what a list must be.
TEST_CASE("each method stands in the list once, with what it is and who says so, and is the same for float") {
    std::set<std::string> names;
    for (auto const& m : list_methods<double>()) {
        CHECK(names.insert(m.name + m.parameters).second);
        CHECK(m.parameters.front() == '(');
        CHECK(m.parameters.back() == ')');
        CHECK(!m.about.empty());
        CHECK(!m.source.empty());
    }
    CHECK(names.size() >= 30);
    for (auto const& m : list_methods<float>()) CHECK(names.count(m.name + m.parameters) == 1);
    CHECK(list_methods<float>().size() == names.size());
    any_method<float> const method(diana{rand_k{.1} | natural{}});  // builds/consumer.sh compiles parse_method<float>
    CHECK(to_string(method) == "diana(rand_k(0.1) | natural)");
    CHECK(method.compose<float, host>({8, 5, 4, .5, 9, 6}).step.rate() > 0);
}

TEST_CASE("each method has the length of its step") {
    problem p{8, 5, 4, .5, 9, 6, .5, 7, 12};
    p.own_smoothness = 8;
    for (auto const& text : every_recursion()) {
        CAPTURE(text);
        auto const r = parse_method<double>(text).compose<double, host>(p);
        CHECK(r.scale * r.step.rate() > 0);
    }
    CHECK(parse_method<double>("dual_averaging(step=0.25)").compose<double, host>(p).step.rate() == .25);
    CHECK(parse_method<double>("dual_averaging").compose<double, host>(p).step.rate() == 1. / 8);
}
