// SPDX-License-Identifier: Apache-2.0
// Every method is read from its text and written back, composes as in C++, and each mistake has its column.
#include "laconic/parse_method.hpp"

#include "named_methods.hpp"
#include "support/everything.hpp"
#include "support/methods.hpp"
#include "support/toys.hpp"

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
    auto const method = parse_method<float>("diana(rand_k(0.1) | natural)");
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
