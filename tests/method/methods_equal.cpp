// SPDX-License-Identifier: Apache-2.0
// Methods that are others under special names, numbers or problems give the same iterates, and mostly the same bytes.
#include "support/everything.hpp"
#include "support/samples.hpp"
#include "support/tasks.hpp"

using namespace toys;

enum class alike { iterates_and_bytes, iterates, nearly };

struct pair_of_methods {
    std::string one, other;
    alike how;
    std::size_t rounds = 40;
};

void are_equal(pair_of_methods const& pair, any_objectives const& f, problem const& p) {
    CAPTURE(pair.one);
    CAPTURE(pair.other);
    vec const start(p.dimension, 1.0);
    auto const a = history(named(pair.one, p), f, start, pair.rounds, 7);
    auto const b = history(named(pair.other, p), f, start, pair.rounds, 7);
    for (std::size_t k = 0; k <= pair.rounds; ++k) {
        CAPTURE(k);
        if (pair.how == alike::nearly) {
            REQUIRE(std::sqrt(distance2(a[k].x[0], b[k].x[0])) < 1e-12);
            continue;
        }
        REQUIRE(a[k].x == b[k].x);
        if (pair.how == alike::iterates_and_bytes) REQUIRE(a[k].bytes == b[k].bytes);
    }
}

TEST_CASE("one method is another, on workers that differ") {
    auto const t = ridges(3, 9, 4);
    pair_of_methods const all[] = {
        {"qsgd", "dcgd(quantize(4))", alike::iterates_and_bytes},
        {"terngrad", "dcgd(quantize(1, p=inf))", alike::iterates_and_bytes},
        {"one_bit_sgd", "ef_sgd(two_means)", alike::iterates_and_bytes},
        {"one_bit_sgd(bucket=4)", "ef_sgd(two_means(bucket=4))", alike::iterates_and_bytes},
        {"top_k_sgd(k=2)", "ef_sgd(top_k(2))", alike::iterates_and_bytes},
        {"isega(tau=2, block=3, step=0.01)", "diana(rand_block(2, block=3), step=0.01, memory=0.6666666666666666)",
         alike::iterates_and_bytes},
        {"isgd(tau=2, block=1, step=0.0078125)", "ibcd(tau=2, block=1, step=0.0078125)", alike::iterates_and_bytes},
        {"marina(rand_k(2), p=1, step=0.01)", "gd(step=0.01)", alike::iterates_and_bytes},
        {"signum(beta=0, step=0.01)", "signsgd(step=0.01)", alike::iterates_and_bytes},
        // What leaves nothing out is gradient descent.
        {"dcgd(identity, step=0.01)", "gd(step=0.01)", alike::iterates_and_bytes},
        {"dcgd(rand_k(9), step=0.01)", "gd(step=0.01)", alike::iterates},
        {"ef21(identity, step=1/L)", "gd", alike::nearly},
        {"one_bit_adam(identity, warm_up=10000, step=0.01)", "with_step(gd(step=1), adam(0.01, bias_correction=no))",
         alike::nearly},
        {"ef21_sgdm(top_k(2), eta=1, step=0.01)", "ef21(top_k(2), step=0.01)", alike::iterates_and_bytes},
        {"clip21(limit=1e+6, eta=1, step=0.01)", "ef21(identity, step=0.01)", alike::iterates_and_bytes},
        {"ef21(top_k(9), step=1/L)", "gd", alike::nearly},
        {"ef_sgd(top_k(9), step=1/L)", "gd", alike::nearly},
        {"diana(identity, step=1/L, memory=1)", "gd", alike::nearly},
        {"gd_sec(xi=0)", "gd", alike::nearly},
        {"lag_wk(xi=0)", "gd", alike::nearly},
        {"proxskip(p=1, step=0.01)", "gd(step=0.01)", alike::nearly},
        {"local_sgd(local=1, step=0.01)", "gd(step=0.01)", alike::nearly},
        {"scaffold(local=1, step=0.01)", "gd(step=0.01)", alike::nearly},
        {"dgc(k=9, momentum=0.9, step=0.002)", "gd(step=0.002)", alike::nearly},
        {"dgc(k=2, momentum=0, step=0.0009765625)", "top_k_sgd(k=2, step=0.0009765625)", alike::nearly, 100},
        {"bidirectional(diana(rand_k(2)), identity)", "diana(rand_k(2))", alike::nearly, 100}};
    for (auto const& pair : all) are_equal(pair, t.f, t.p);
}

TEST_CASE("one method is another, of one worker, or where each has one row") {
    auto const alone = ridges(1, 6, 4);
    are_equal({"cat(top_k, cost=affine(0, 1))", "gd", alike::iterates}, alone.f, alone.p);
    are_equal({"cat(top_blocks(block=4), cost=affine(0, 1))", "gd", alike::iterates}, alone.f, alone.p);
    are_equal({"cat(top_k)", "dcgd(top_k(1))", alike::iterates}, alone.f, alone.p);
    any_objectives rows;
    for (std::uint64_t i = 0; i < 3; ++i) rows.push_back(samples::logistic_of(1, 6, 10 + i));
    problem const p{6, 3, 1, .1, 1, 1, .1, 1, 1};
    pair_of_methods const all[] = {
        {"sgd(step=0.5)", "gd(step=0.5)", alike::iterates},
        {"vr_diana(rand_k(2), step=0.1, memory=0.25)", "diana(rand_k(2), step=0.1, memory=0.25)", alike::nearly, 100},
        {"vr_diana_saga(rand_k(2), step=0.1, memory=0.25)", "diana(rand_k(2), step=0.1, memory=0.25)", alike::nearly,
         100},
        {"isaga(tau=2, block=1, step=0.1)", "ibcd(tau=2, block=1, step=0.1)", alike::nearly}};
    for (auto const& pair : all) are_equal(pair, rows, p);
}
