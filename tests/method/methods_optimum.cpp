// SPDX-License-Identifier: Apache-2.0
// Each method that goes to the optimum does; and with a proximal operator to that of f + R.
#include "support/everything.hpp"
#include "support/sums.hpp"
#include "support/tasks.hpp"

using namespace toys;

task as_task(workers const& f, vec start) {
    return task_of("workers", f, constants(f), known_optimum(f), std::move(start));
}
// Centres that are +1s and -1s in turn.
task pulling_apart() {
    std::vector<vec> centres;
    for (int i = 0; i < 10; ++i) centres.emplace_back(10, i % 2 == 0 ? 1.0 : -1.0);
    return as_task(around(centres), vec(10, 1.0));
}
// Workers that agree on their minimiser.
task agreeing() {
    auto f = random_ridges(6, 12, 1, 4);
    for (auto& each : f) each.b = each.h * Eigen::VectorXd::Constant(12, 2);
    return as_task(f, vec(12, 1.0));
}
// Workers of five rows that differ; their means agree, on (1, -2, 3, 1).
task agreeing_sums() {
    auto const f = random_sums(4, 5, std::vector<vec>(4, {1, -2, 3, 1}), 1, 3);
    return task_of("sums", f, constants(f), known_optimum(wholes(f)), vec(4));
}
// Rows that all agree, on (1, 2, 3).
task agreeing_rows() {
    auto const f = random_sums(4, 6, std::vector<vec>(4, {1, 2, 3}), 0, 3);
    return task_of("rows", f, constants(f), known_optimum(wholes(f)), vec(3));
}

struct course_to_optimum {
    std::string method;
    task const& on;
    std::size_t rounds;
    double within;  // of |x - x*|^2
};

TEST_CASE("methods that reach the optimum, of workers that differ or that agree" * doctest::test_suite("slow")) {
    auto const differing = ridges(4, 6, 3), wide = ridges(5, 12, 11), apart = pulling_apart(), one_point = agreeing();
    auto const sums = agreeing_sums(), rows = agreeing_rows(), biased = as_task(beznosikov(), vec(3, 1.0));
    auto const one = ridges(1, 8, 2);
    course_to_optimum const all[] = {
        {"diana(quantize(1, p=1))", differing, 12000, 1e-20},
        {"diana(quantize(1, p=2))", differing, 8000, 1e-20},
        {"diana(quantize(1, p=inf))", wide, 8000, 1e-20},
        {"bidirectional(diana(rand_k(2), step=0.1/L, memory=0.125), natural, memory=0.4)", differing, 10000, 1e-20},
        {"heavy_ball(diana(rand_k(2)), beta=0.5)", differing, 8000, 1e-20},
        {"adiana(natural)", differing, 16000, 1e-20},
        {"marina(rand_k(3))", wide, 6000, 1e-18},
        {"proxskip", differing, 2000, 1e-20},
        {"locodl(natural)", differing, 6000, 1e-20},
        {"scaffold(step=0.1/L)", differing, 2000, 1e-20},
        {"isega(tau=0.1, block=1)", apart, 1500, 1e-20},
        {"lag_wk(xi=0.05, D=10)", differing, 4000, 1e-18},
        {"isaga(tau=1, block=1)", sums, 6000, 1e-20},
        {"ef21(top_k(2))", differing, 10000, 1e-20},
        {"clip21(limit=0.5, eta=0.5, step=0.1/L, memory=0.5)", differing, 10000, 1e-20},
        {"cat(ef_sgd(top_k, step=1/L))", one, 3000, 1e-9},
        {"cat(ef_sgd(top_k | scaled_sign, step=1/L), cost=affine(1, 256))", one, 3000, 1e-9},
        {"cat(ef_sgd(top_blocks(block=2), step=1/L), cost=packets(20, 4, 10))", one, 3000, 1e-9},
        {"one_bit_sgd(step=0.01)", biased, 2000, 1e-18},
        {"bidirectional(ef_sgd(top_k(1), step=0.01), top_k(1), keep_errors=yes)", biased, 3200, 1e-18},
        {"top_k_sgd(k=1, step=0.3/L)", one_point, 600, 1e-7},
        {"gtop_k_sgd(k=1, step=0.3/L)", one_point, 600, 1e-7},
        {"gtop_k_sgd(k=1, as_published=yes, step=0.3/L)", one_point, 600, 1e-7},
        {"gtop_k_sgd(k=3, step=0.3/L)", one_point, 600, 1e-7},
        {"spardl_sgd(k=6, step=0.3/L)", one_point, 600, 1e-7},
        {"dgc(k=3, momentum=0.7, nesterov=yes, step=0.1/L)", one_point, 3000, 1e-7},
        {"quantized_gd_sec(quantize(16), xi=2, step=0.5/L)", differing, 3000, 1e-9},
        {"sgd_sec(xi=1, step=0.3/L)", rows, 4000, 1e-16}};
    for (auto const& [text, on, rounds, within] : all) {
        std::string const& method = text;  // which a lambda may capture, also with clang++ 14
        CAPTURE(method);
        any_run run(named(method, on.p), on.f, on.start, 1);
        run.rounds(rounds);
        CHECK(distance2(run.x(), on.best.x) < within);
    }
}

TEST_CASE("where they do not agree, those that forget what they did not send stay away") {
    auto const differing = ridges(4, 6, 3), sums = agreeing_sums();
    struct {
        std::string method;
        task const& on;
        double away;
    } const all[] = {{"qsgd", differing, 1e-10}, {"ibcd(tau=1, block=1, step=0.1/L, batch=1)", sums, 1e-6}};
    for (auto const& [method, on, away] : all) {
        any_run run(named(method, on.p), on.f, on.start, 1);
        run.rounds(6000);
        double nearest = 1e300;
        for (int k = 0; k < 500; ++k) {
            run.round();
            nearest = std::min(nearest, distance2(run.x(), on.best.x));
        }
        CHECK(nearest > away);
    }
}

TEST_CASE("with R = |x|_1 / 2 methods reach the soft-thresholded mean, with |x|^2 / 2 the mean over 1 + weight") {
    auto const f = around({{3, -1, .2, 0}, {1, -2, .2, 4}, {-1, -3, -.1, -4}});
    auto const p = constants(f);
    any_objectives const any(f.begin(), f.end());
    struct {
        std::string method;
        elastic_net prox;
        vec answer;
        std::size_t rounds;
    } const all[] = {{"gd(step=0.5)", {.5, 0}, {.5, -1.5, 0, 0}, 100},
                     {"gd(step=0.5)", {0, 1}, {.5, -1, .05, 0}, 100},
                     {"ef21(top_k(1), step=0.1)", {.5, 0}, {.5, -1.5, 0, 0}, 1500},
                     {"diana(rand_k(1), step=0.125, memory=0.125)", {.5, 0}, {.5, -1.5, 0, 0}, 800},
                     {"isega(tau=0.25, block=1)", {.5, 0}, {.5, -1.5, 0, 0}, 800},
                     {"heavy_ball(gd(step=0.25), beta=0.5)", {.5, 0}, {.5, -1.5, 0, 0}, 200},
                     {"ef_sgd(top_k(4), step=0.25)", {.5, 0}, {.5, -1.5, 0, 0}, 200}};
    for (auto const& [text, prox, answer, rounds] : all) {
        std::string const& method = text;  // which a lambda may capture, also with clang++ 14
        CAPTURE(method);
        any_run run(named(method, p, prox), any, vec(4, 0.0), 1);
        run.rounds(rounds);
        CHECK(std::sqrt(distance2(run.x(), answer)) < 1e-13);
    }
}
