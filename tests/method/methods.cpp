// SPDX-License-Identifier: Apache-2.0
// What each method makes of the constants of a problem, as numbers by hand, and what it refuses, with the reason.
#include "laconic/method/methods.hpp"

#include "support/everything.hpp"
#include "support/tasks.hpp"

using toys::named;

// dimension, n, L, mu, max L_i, mean square L_i; min mu_i, samples, max L_ij, own L_i
problem const p{8, 5, 4, .5, 9, 6}, of_rows{8, 5, 4, .5, 7, 6, .5, 40, 10}, three{8, 5, 3, .6, 7, 6, .5};
problem const alone{8, 1, 4, .5, 4, 4}, blocks{1024, 5, 4, .5, 10, 6}, sixteen{16, 8, 5, .5, 6, 6, .25, 0, 10};
problem const own{8, 5, 4, .5, 9, 6, 0, 0, 0, 9}, all_known{100, 5, 4, .5, 9, 6, .25, 7, 12, 9}, none{};

problem with(problem q, double problem::*member, double value) {
    q.*member = value;
    return q;
}

struct numbers {
    std::string method;
    problem of;
    double step;  // times the scale
    std::vector<std::string> parts = {};
};

// The step of ef_sgd for p, where a message keeps the share that is guaranteed at this cost.
double ef_step(auto const& c, auto const& cost) {
    double const delta = detail::guaranteed_share<double>(c, cost, p.dimension);
    return std::min(1. / 16, delta / (14 * std::sqrt((1 - delta) * 4 * 9)));
}

std::vector<numbers> by_hand() {
    std::vector<numbers> all{
        {"gd", p, 1. / 4, {"identity;", "memory(rate=0);", "scale 1", "the full gradient"}},
        {"gd(step=2/L)", p, .5},
        {"gd(step=0.1)", none, .1},
        {"sgd", of_rows, 1 / (4 + 2 * 10 / 5.), {"mini_batch(1)"}},
        {"sgd(batch=4)", of_rows, 1 / (4 + 2 * 10 / 20.), {"mini_batch(4)"}},
        {"sgd(step=0.1)", none, .1},
        // 1 / (L + 2 omega max L_i / n + 2 (1 + omega) max L_ij / (n b))
        {"dcgd(rand_k(2))", three, 1 / (3 + 2 * 3 * 7 / 5.), {"rand_k(2);", "memory(rate=0);", "scale 1"}},
        {"dcgd(natural)", three, 1 / (3 + 2 * .125 * 7 / 5.)},
        {"dcgd(identity)", three, 1. / 3},
        {"dcgd(rand_k(2), step=0.5/L)", three, .5 / 3},
        {"dcgd(rand_k(2), step=0.125)", {8, 5}, .125},
        {"dcgd(rand_k(2), batch=3)", of_rows, 1 / (4 + 2 * 3 * 7 / 5. + 2 * 4 * 10 / 15.), {"mini_batch(3)"}},
        {"dcgd(top_k(2))", alone, 1. / 4},  // one worker's may be contractive
        {"dcgd(top_k(3) | natural)", alone, 1. / 4},
        {"dcgd(top_k(8) | quantize(1), step=0.1)", alone, .1},  // omega of 8 values with one level is 1.8: no delta
        {"qsgd", {64, 4, 2, .1, 3, 2.5}, 1 / (2 + 2 * 3 / 4.), {"quantize(4);"}},  // omega = min(64 / (4 16), 8 / 4)
        {"qsgd(levels=8, step=0.25)", none, .25, {"quantize(8);"}},
        {"terngrad", {9, 4, 2, .1, 3, 2.5}, 1 / (2 + 2 * 3 / 4.)},  // omega = (sqrt d - 1) / 2
        {"terngrad(batch=3)", {9, 4, 2, .1, 3, 2.5, 0, 0, 6}, 1 / (2 + 2 * 3 / 4. + 2 * 2 * 6 / 12.)},
        {"terngrad(clip=2.5, step=0.1, batch=32)", none, .1, {"mini_batch(32), clipped at 2.5 standard deviations"}},
        {"signsgd(step=1/L, batch=8)", p, .25, {"mini_batch(8)", "served(vote"}},
        {"signum(beta=0.5, step=0.1, batch=3)", none, .1, {"local_momentum(0.5) of mini_batch(3)", "served(vote"}},
        // min(1 / (4 L), delta / (14 sqrt((1 - delta) L max L_i)))
        {"ef_sgd(top_k(2))", p, .25 / (14 * std::sqrt(27.)), {"memory(rate=0, decay=1);", "gradient_step(1)"}},
        {"ef_sgd(top_k(8))", p, 1. / 16},
        {"ef_sgd(top_k(4) | natural)", p, .4375 / (14 * std::sqrt(.5625 * 36))},  // delta = (1 - 1/8) / 2
        {"ef_sgd(top_k(2), step=2/L)", p, .5},
        {"ef_sgd(threshold(0.5), step=0.1)", p, .1},
        {"top_k_sgd(k=0.25)", p, .25 / (14 * std::sqrt(27.)), {"top_k(0.25);", "memory(rate=0, decay=1);"}},
        {"top_k_sgd(k=100, step=0.5, batch=8)", none, .5, {"mini_batch(8)"}},
        {"gtop_k_sgd(k=0.25, as_published=yes, step=2/L, batch=3)",
         p,
         .5,
         {"top_k(0.25);", "memory(rate=0, decay=1);", "gtop_k(0.25, as_published=yes)", "mini_batch(3)"}},
        {"spardl_sgd(k=0.25, as_published=yes, step=2/L, batch=3)",
         p,
         .5,
         {"top_k(0.25);", "memory(rate=0, decay=1);", "spar_reduce_scatter(0.25, as_published=yes)", "mini_batch(3)"}},
        {"spardl_sgd(k=0.25, step=0.1)", p, .1, {"spar_reduce_scatter(0.25);"}},
        {"dgc(k=0.01, momentum=0.5, nesterov=yes, clip=2, warm_up=100, step=0.1, batch=32)",
         {8, 4},
         .1,
         {"memory(rate=0, decay=1, momentum=0.5, nesterov", "warm_up(0.01, rounds=100)",
          "mini_batch(32), clipped at 1;"}},
        // theta = 1/4, beta = 9/4: min(1 / (L + L~ sqrt(2 beta / theta)), theta / (2 mu)); for mu = 0 without the 2
        {"ef21(top_k(0.4375))", {16, 5, 4, .5, 9, 6}, 1 / (4 + 6 * std::sqrt(18.)), {"memory(rate=1);", "scale 1"}},
        {"ef21(top_k(0.4375))", {16, 5, 4, 0, 9, 6}, 1. / 22},
        {"ef21(top_k(0.4375))", {16, 5, .01, .2, .01, .01}, .625},
        {"ef21(identity)", p, .25},
        {"ef21(top_k(4) | natural, step=0.5, batch=4)", p, .5, {"mini_batch(4)"}},
        {"ef21(top_k(1))", {3, 3, 103. / 6, 7. / 6, 34.5, 34.5}, .004268781101},  // Beznosikov et al., known
        {"ef21(top_k(1))", {3, 3, 103. / 6, 0, 34.5, 34.5}, .005859121085},
        // omega 3, alpha 1/8 unless given. Theorem 1: min(alpha / mu, 2 / ((L + mu) (1 + 2 omega / n))), mu = min mu_i
        {"diana(rand_k(2))", three, 2 / (7.5 * (1 + 6. / 5)), {"memory(rate=0.125);", "scale 1"}},
        {"diana(rand_k(2))", {8, 5, 3, 2.5, 7, 6, 2.5}, .125 / 2.5},
        {"diana(rand_k(2))", {8, 5, 3, .6, 7, 6, 0}, 2 / (7 * 2.2)},
        {"diana(natural)", three, 2 / (7.5 * (1 + .25 / 5)), {"memory(rate=0.4444444444444444"}},
        {"diana(rand_k(2), memory=0.1)", three, 2 / (7.5 * (1 + 1.))},
        {"diana(rand_k(1))", {4, 1000, 1, 1, 1, 1, 1}, .125},
        {"diana(rand_k(1))", {4, 1, 1, .01, 1, 1, .01}, 2 / (1.01 * 7)},
        // alpha = 1/4, the largest: the general form's min(alpha / (2 mu), 2 / ((L + mu) (1 + 6 omega / n)))
        {"diana(rand_k(2), memory=0.25)", three, 2 / (7.5 * (1 + 18. / 5)), {"memory(rate=0.25);"}},
        {"diana(rand_k(1), memory=0.25)", {4, 1000, 1, 1, 1, 1, 1}, .125},
        {"diana(rand_k(1), memory=0.25)", {4, 1, 1, .01, 1, 1, .01}, 2 / (1.01 * 19)},
        // alpha = 0.24: 2 / (1.01 (1 + 3 / 0.04)) by theorem 1, which has nothing against the general form
        {"diana(rand_k(1), memory=0.24)", {4, 1, 1, .01, 1, 1, .01}, 2 / (1.01 * 19)},
        // batches: min(alpha / (2 mu), 1 / (L + 6 omega max L_i / n + 32 max L_ij / (n b))), mu of f
        {"diana(rand_k(1), batch=1)", {4, 1000, 1, 1, 1, 1, .5, 9, 1}, .0625, {"mini_batch(1)"}},
        {"diana(rand_k(1), memory=0.25, batch=1)", {4, 1000, 1, 1, 1, 1, .5, 9, 1}, .125},
        {"diana(rand_k(1), batch=2)", {4, 10, 1, .01, 2, 2, .01, 9, 5}, 1 / (1 + 3.6 + 8)},
        {"diana(rand_k(1), batch=2)", {4, 10, 1, 0, 2, 2, 0, 9, 5}, 1 / (1 + 3.6 + 8)},
        {"vr_diana(rand_k(2), batch=4)",
         {8, 5, 3, .5, 7, 6, .5, 40, 9},
         1 / (9 * (1 + 36 * 4 / 5.)),
         {"memory(rate=0.25);", "l_svrg(batch=4, p=0.1)"}},
        {"vr_diana(rand_k(2))",
         {8, 5, 3, .5, 7, 6, .5, 40, 9},
         1 / (9 * (1 + 36 * 4 / 5.)),
         {"l_svrg(batch=1, p=0.025)"}},
        {"vr_diana_saga(rand_k(2), memory=0.0125)",
         all_known,
         1 / (12 * (1 + 36 * 50 / 5.)),
         {"rate=0.0125)", "saga(batch=1)"}},
        // omega 3, p 1/4: min(1 / (L~ (1 + sqrt(2 (1 - p) omega / (p n)))), p / (2 mu)); for mu = 0 without the 2
        {"marina(rand_k(2))",
         {8, 5, 3, .5, 7, 6},
         1 / (6 * (1 + std::sqrt(2 * .75 * 3 / (.25 * 5)))),
         {"last_gradient(0.25)", "synchronise(0.25)"}},
        {"marina(rand_k(2), p=0.1)", {8, 5, 3, 2.9, 7, 3}, .1 / 5.8},
        {"marina(rand_k(2), p=0.5)", {8, 5, 3, 0, 7, 6}, 1 / (6 * (1 + std::sqrt(.6)))},
        {"marina(rand_k(2))", {8, 5, 3, 0, 7, 6}, 1 / (6 * (1 + 3 / std::sqrt(5.)))},
        {"marina(rand_k(2), p=0.5, step=0.5)", none, .5},
        // 1 / (tau L + (1 - tau) max L_i / n), one block in n unless given
        {"ibcd", blocks, 1 / (.25 * 4 + .75 * 10 / 5), {"scaled_down(rand_block(1, block=256));"}},
        {"ibcd(block=8)", blocks, 1 / (26. / 128 * 4 + 102. / 128 * 2), {"scaled_down(rand_block(26, block=8));"}},
        {"ibcd(tau=0.25, block=8)", blocks, 1 / (.25 * 4 + .75 * 10 / 5)},
        {"ibcd(tau=32, block=8)", blocks, 1 / (.25 * 4 + .75 * 10 / 5)},
        {"ibcd", {1024, 1, 4, .5, 10, 6}, .25},
        {"ibcd(tau=0.5, block=8, step=0.1)", none, .1},
        {"ibgd", {8, 5, 4, .5, 10, 6}, 1 / (.2 * 4 + .8 * 10 / 5), {"scaled_down(lazy(0.2))"}},
        {"ibgd(tau=0.1, step=0.5)", none, .5, {"scaled_down(lazy(0.1))"}},
        // omega 3: the paper's min(1 / (4 L (1 + 1 / (n tau))), 1 / (mu / tau + 4 L / (n tau))), or diana's, if longer
        {"isega(tau=0.25, block=4)",
         sixteen,
         std::max(std::min(1 / (24 * 1.5), 1 / (2 + 12.)), std::min(.5, 2 / (6.25 * (1 + 18. / 8)))),
         {"rand_block(0.25, block=4);", "memory(rate=0.25);"}},
        // tau 1/16, n 10, mu = L = 1; the paper's arms 1 / (4 (1 + 1.6)) and 1 / (16 + 6.4), diana's 1 / 32 and 1 / 10
        {"isega(tau=0.0625, block=1)", {16, 10, 1, 1, 1, 1, 1}, 1 / 22.4},
        // n 1000, mu = 1/5: 1 / (4 (1 + 0.016)) and 1 / (3.2 + 0.064), diana's 0.15625 and 2 / (1.2 1.09)
        {"isega(tau=0.0625, block=1)", {16, 1000, 1, .2, 1, 1, .2}, 1 / 4.064},
        // n 10, mu = 1/32: the paper's 1 / 10.4 and 1 / 6.9, diana's 1 and 2 / (1.03125 (1 + 90 / 10))
        {"isega(tau=0.0625, block=1)", {16, 10, 1, .03125, 1, 1, .03125}, 2 / 10.3125},
        // n 100, mu = 1/8: diana's 1 / 4 and 2 / (1.125 1.9); the paper's 1 / (4 (1 + 0.16)) and 1 / (2 + 0.64)
        {"isega(tau=0.0625, block=1)", {16, 100, 1, .125, 1, 1, .125}, .25},
        {"isega(tau=0.25, block=4, step=0.5)", {16, 8}, .5},
        {"isaga(tau=0.25, block=4)", sixteen, 1 / (10 * (.25 + .5)), {"block_saga of rand_block(0.25, block=4)"}},
        {"isaga(block=2)", sixteen, 8. / 50},  // n / (5 L)
        {"isaga(tau=0.25, block=4, step=0.1)", {16, 8}, .1},
        {"isgd(tau=0.25, block=4)", sixteen, 1 / 5.25, {"decreasing_step(5.25, 0.03125)", "scaled_down(rand_block("}},
        // a = 5.25; batches of 2 ask for 2.625 + 2 L_ij / 16, and for a at least
        {"isgd(tau=0.25, block=4, batch=2)", sixteen, 1 / 5.25},
        {"isgd(tau=0.25, block=4, batch=2)", with(sixteen, &problem::largest_sample_smoothness, 80), 1 / (2.625 + 10)},
        {"isgd(tau=0.25, block=4, step=0.5)", none, .5},
        {"iasgd(tau=0.25, block=4, rho=3)",
         sixteen,
         1 / (5 * (1 + 11 / 8.)),
         {"rand_block(0.25, block=4);", ", mu=0.5, growth=2.375)"}},
        {"iasgd(tau=0.25, block=4, rho=2, step=0.1)", sixteen, .1},
        {"gd_sec(xi=100)",
         p,
         .25,
         {"memory(rate=0.01, decay=1);", "follow_last_move(400)", "the full gradient", "scale 1"}},
        {"gd_sec(xi=100, beta=0, step=0.5)", p, .5, {"memory(rate=0, decay=1);", "follow_last_move(400)"}},
        {"gd_sec(xi=0, beta=0.5, step=0.5)", none, .5, {"memory(rate=0.5, decay=1);", "follow_last_move(0)"}},
        {"sgd_sec(xi=100)", p, .25, {"memory(rate=0.01, decay=1);", "follow_last_move(400)", "mini_batch(1)"}},
        {"sgd_sec(xi=2, step=0.5, batch=7)", p, .5, {"follow_last_move(8)", "mini_batch(7)"}},
        {"quantized_gd_sec(quantize(4), xi=100)",
         p,
         .25,
         {"| quantize(4);", "memory(rate=0.01, decay=1);", "follow_last_move(400)", "the full gradient"}},
        // (1 - sqrt(D xi)) / L
        {"lag_wk(xi=0.01, D=25)", p, .125, {"memory(rate=1);", "lag(xi=0.01, D=25, step=0.125, by delta)"}},
        {"lag_wk(xi=1, D=25, step=0.5)", none, .5},
        {"lag_ps(xi=0.01, D=25)", own, .125, {"memory(rate=1);", "lag(xi=0.01, D=25, step=0.125, by the iterate)"}},
        {"lag_ps(xi=0.1, D=1, step=0.5)", with(none, &problem::own_smoothness, 3), .5},
        {"dual_averaging", p, 1. / 8, {"dual_averaging_step(0.125)"}},
        {"dual_averaging(step=0.5, batch=4)", none, .5, {"mini_batch(4)"}},
        // 1 / max L_i, and p = sqrt(step min mu_i)
        {"one_bit_adam(scaled_sign, warm_up=7, beta1=0.5, step=0.25, batch=3)",
         none,
         .25,
         {"identity_or(scaled_sign)", "memory(rate=0, decay=1, momentum=0.5, common)",
          "adam(0.25, beta1=0.5, bias_correction=no, freeze_after=7)", "synchronise(0, first=7)", "mini_batch(3)",
          "served(scaled_sign, memory(rate=0, decay=1), in_full=7)"}},
        {"ef21_sgdm(top_k(2), eta=0.25, step=0.5, batch=3)",
         none,
         .5,
         {"top_k(2);", "memory(rate=1);", "local_momentum(0.75, from the first gradient) of mini_batch(3)"}},
        {"ef21_muon(top_k(2), eta=0.25, rows=4, step=0.5, batch=3)",
         none,
         .5,
         {"identity_or(top_k(2));", "orthogonalized(rows=4, by=polar) memory(rate=1);", "synchronise(0)",
          "local_momentum(0.75, from the first gradient) of mini_batch(3)"}},
        {"clip21(limit=2, eta=0.25, step=0.5, memory=0.75, batch=3)",
         none,
         .5,
         {"clip(limit=2, factor=0.75);", "memory(rate=1);", "local_momentum(0.75) of mini_batch(3)"}},
        {"proxskip", {8, 5, 4, .5, 8, 6, .125}, .125, {"local_steps(p=0.125, step=0.125), the full gradient"}},
        {"proxskip(p=0.5, step=0.25, batch=3)", none, .25, {"local_steps(p=0.5, step=0.25), mini_batch(3)"}},
        {"proxskip(step=2)", {8, 5, 4, .5, 8, 6, .125}, 2, {"local_steps(p=0.5, step=2)"}},
        {"proxskip(step=32)", {8, 5, 4, .5, 8, 6, .125}, 32, {"local_steps(p=1, step=32)"}},  // sqrt(32 / 8) is none
        {"proxskip(p=0.5)", {8, 5, 4, .5, 8, 6, 0}, .125},
        // the outer step
        // omega 3: p = 1/8, step = n / (64 omega 2^2 max L_i)
        {"adiana(rand_k(2))",
         {8, 5, 4, .5, 8, 6},
         5. / 768 / 8,
         {"memory(rate=0.25) of odd rounds", "adiana_points(theta1=0.0570544330734", "beta=0.996459349161",
          "p=0.125)"}},
        {"adiana(rand_k(2), step=0.5)",
         {8, 5, 4, .5, 8, 6},
         .5,
         {"(theta1=0.25, theta2=0.5, eta=0.5, gamma=0.5, beta=0.75, p=0.125)"}},
        // omega 3, rho 5/8: rho / 2, and p = sqrt(7 8/5 / (2 8 / .125 - 1))
        {"locodl(rand_k(2))",
         {8, 5, 4, .5, 8, 6, .125},
         .3125,
         {"locodl_steps(p=0.29696628828530", "step=0.25, lambda=0.0625, rho=0.625, pull=0.02651484716833"}},
        {"local_sgd(step=0.5/L)", p, 1, {"local_rounds(5 of gradient_step(0.125)), the full gradient"}},
        {"local_sgd(local=3, pull=0.5, step=0.1, batch=4)",
         none,
         1,
         {"local_rounds(3 of gradient_step(0.1), pull=0.5), mini_batch(4)"}},
        {"scaffold(local=2, step=0.1)", none, 1, {"local_rounds(2 of gradient_step(0.1), corrected_for=0.1)"}},
        {"diloco(top_k(2), decay=0.95, step=0.01)",
         none,
         .7,
         {"top_k(2);", "memory(rate=0, decay=0.95);", "momentum(0.7, 0.9, nesterov=yes)",
          "local_rounds(30 of adam(0.01, weight_decay=0.01, decoupled=yes)), the full gradient"}},
        {"bidirectional(ef21(top_k(4)), top_k(2), keep_errors=yes)",
         {16, 4, 4, .5, 9, 6},
         proved_step::ef21_p(4, 6, .25, .125).size},
        {"ef21(top_k(2), control=0.25, step=0.5)", none, .5, {"memory(rate=1, decay=0.25, controlled)"}},
        // omega 3, a 1/7: min(1 / (L + L~ sqrt((24 omega^2 + 4 omega) / n)), a / (2 mu)); 2 omega (4 omega + 1) for mu
        // 0
        {"dasha(rand_k(2))", {8, 5, 3, .01, 7, 6}, 1 / (3 + 6 * std::sqrt(228 / 5.)), {"synchronise(0)"}},
        {"dasha(rand_k(2))", {8, 5, 3, 2.9, 7, 3}, 1 / (7 * 5.8), {"last_gradient(0, correction=0.142857142857142"}},
        {"dasha(rand_k(2), step=0.5, batch=10)", of_rows, .5, {"page(p=0.2) of mini_batch(10)", "correction=0.14"}},
        {"dasha(rand_k(2))", {8, 5, 3, 0, 7, 6}, 1 / (3 + 6 * std::sqrt(78 / 5.))},
        {"bidirectional(gd, natural, memory=0.5, keep_errors=yes)",
         p,
         .25,
         {"served(natural, memory(rate=0.5, decay=1))"}},
        // delta 7/8: s = 3/4, as if delta were 7/16 above; omega' = (5/2)(3 + 3/4)
        {"some_of(ef21(top_k(0.875)), ranks=2)",
         {16, 4, 4, .5, 9, 6},
         1 / (4 + 6 * std::sqrt(18.)),
         {"memory(rate=1);"}},
        {"some_of(diana(rand_k(2)), ranks=2)",
         three,
         2 / (7.5 * (1 + 2 * 9.375 / 5)),
         {"memory(rate=0.0481927710843373", "participation(2, rescaled) of fixed"}},
        {"some_of(diana(rand_k(2)), ranks=5)", three, 2 / (7.5 * (1 + 6. / 5)), {"memory(rate=0.125);"}},
        {"some_of(scaffold(local=2, step=0.1), ranks=2)",
         three,
         1,
         {"local_rounds(2 of gradient_step(0.1), corrected_for=0.1, participants=2)"}},
        // ef_sgd's, for the share that the best level is guaranteed to keep
        {"cat(ef_sgd(top_k), cost=affine(1, 640))", p, ef_step(top_k{1}, affine_cost(1, 640)), {"decay=1)"}},
        {"cat(ef_sgd(top_k | scaled_sign), cost=packets(20, 4, 100))", p,
         ef_step(top_k{1} | scaled_sign{}, packet_cost(20, 4, 100))},
        // one worker: 1 / L, whatever the cost
        {"cat(top_k)", alone, 1. / 4},
        {"cat(top_k | scaled_sign, step=0.5/L)", alone, .5 / 4},
        {"cat(top_k, step=0.125)", p, .125}};
    return all;
}

TEST_CASE("each method's step, and its parts, by hand") {
    for (auto const& [as_text, of, step, parts] : by_hand()) {
        std::string const& method = as_text;  // which a lambda may capture, also with clang++ 14
        CAPTURE(method);
        auto const r = named(method, of);
        CHECK(r.scale * r.step.rate() == doctest::Approx(step).epsilon(1e-10));
        auto const text = to_string(r.compressor) + "; " + to_string(r.feedback) + "; " + to_string(r.step) + "; " +
                          to_string(r.level) + "; " + to_string(r.estimator) + "; " + to_string(r.over) + "; scale " +
                          detail::shortest(r.scale);
        CAPTURE(text);
        for (auto const& part : parts) CHECK(text.find(part) != std::string::npos);
    }
}

TEST_CASE("what no theorem covers, and numbers that cannot be, are refused with the reason") {
    struct refused {
        std::string method;
        problem of;
        char const* why;
        bool by_theory = true;
    };
    auto const without = [](problem q, auto member) {
        q.*member = 0;
        return q;
    };
    refused const all[] = {
        {"gd", none, "gd: its theorem needs the smoothness L"},
        {"gd(step=1/L)", none, "the smoothness L"},
        {"sgd", p, "sgd: its theorem needs max L_ij"},
        {"sgd", without(of_rows, &problem::smoothness), "smoothness L"},
        {"dcgd(top_k(2))", p, "top_k(2) is biased"},
        {"dcgd(rand_k(2))", {8, 5, 0, 0, 7, 6}, "smoothness L"},
        {"dcgd(rand_k(2))", {8, 5, 3, 0, 0, 6}, "max L_i"},
        {"dcgd(top_k(8) | quantize(1))", alone, "dcgd: "},
        {"qsgd", none, "qsgd: its theorem needs"},
        {"terngrad(clip=2.5)", p, "terngrad: clipped gradients"},
        {"terngrad", none, "terngrad: its theorem"},
        {"terngrad(clip=-1, step=0.1)", p, "clip is from 0 to", false},
        {"signsgd", p, "signsgd: its step depends on how long it runs; give the step yourself"},
        {"signum", p, "signum: its step"},
        {"signum(beta=1, step=0.1)", p, "", false},
        {"ef_sgd(threshold(0.5))", p, "threshold(0.5)"},
        {"ef_sgd(natural)", p, "natural"},
        {"ef_sgd(top_k(0))", p, "no delta above 0"},
        {"ef_sgd(top_k(4) | quantize(1))", p, "quantize(1)"},
        {"ef_sgd(top_k(2))", {8, 5, 0, 0, 9, 6}, "smoothness L"},
        {"top_k_sgd(k=2)", none, "top_k_sgd: "},
        {"top_k_sgd(k=2, batch=4)", p, "top_k_sgd: its theorem is about the gradients of all rows"},
        {"one_bit_sgd", none, "one_bit_sgd: "},
        {"one_bit_sgd(batch=4)", p, "gradients of all rows"},
        {"gtop_k_sgd(k=2)", p, "no theorem gives its step"},
        {"spardl_sgd(k=2)", p, "no theorem gives its step"},
        {"dgc", p, "dgc: no theorem gives its step; give the step yourself"},
        {"dgc(momentum=1, step=1)", p, "", false},
        {"dgc(clip=-1, step=1)", p, "clip is from 0 to", false},
        {"ef21(rand_k(2))", p, "rand_k(2)"},
        {"ef21(top_k(2))", without(p, &problem::mean_square_smoothness), "mean square"},
        {"ef21(top_k(2), batch=4)", p, "gradients of all rows"},
        {"diana(top_k(2))", p, "top_k(2) is biased"},
        {"diana(rand_k(2))", {8, 5, 3, .5, 0, 6}, "max L_i"},
        {"diana(rand_k(2), batch=1)", p, "diana: its theorem needs max L_ij"},
        {"diana(rand_k(2), memory=0.26)", p, "outside (0, 0.25]", false},
        {"diana(rand_k(2), memory=0)", p, "outside (0, 0.25]", false},
        {"diana(rand_k(2), memory=-0.1)", p, "outside (0, 0.25]", false},
        {"vr_diana(rand_k(2))", {8, 5, 3, .5, 7, 6, .5, 40}, "max L_ij"},
        {"vr_diana(rand_k(2))", {8, 5, 3, .5, 7, 6, .5, 0, 9}, "number of samples"},
        {"vr_diana_saga(rand_k(2))", {8, 5}, "max L_ij"},
        {"vr_diana(rand_k(2), memory=0.3)", of_rows, "outside (0, 0.25]", false},
        {"vr_diana(top_k(2))", of_rows, "top_k(2) is biased"},
        {"marina(rand_k(2), p=1.5)", p, "p is from 0 to 1", false},
        {"marina(rand_k(2), p=-0.5)", p, "p is from 0 to 1", false},
        {"marina(top_k(2))", p, "top_k(2) is biased"},
        {"marina(rand_k(2))", {8, 5, 3}, "mean square"},
        {"ibcd(tau=0.5, block=8)", {1024, 5}, "ibcd: its theorem"},
        {"ibcd(block=8, step=0.1)", none, "ibcd: it needs the dimension, which is not known"},
        {"ibcd(tau=0.5, block=8, batch=2)", p, "ibcd: its theorem"},
        {"ibcd(tau=2.5, block=8)", blocks, "tau = 2.5", false},
        {"ibgd", none, "ibgd: its theorem"},
        {"ibgd(tau=-0.1, step=0.1)", p, "tau is from 0 to 1", false},
        {"ibgd(tau=1.1, step=0.1)", p, "tau is from 0 to 1", false},
        {"isega(tau=0.25, block=4)", {16, 8}, "isega: its theorem"},
        {"isaga(tau=0.25, block=4)", {16, 8, 5, .5, 6, 6}, "isaga: its theorem needs max L_ij"},
        {"isgd(tau=0.25, block=4, batch=2)", {16, 8, 5, .5, 6, 6}, "max L_ij"},
        {"isgd(tau=0.25, block=4)", without(sixteen, &problem::strong_convexity), "isgd: its theorem needs mu"},
        {"iasgd(tau=0.25, block=4)", sixteen, "iasgd: it needs the strong growth"},
        {"iasgd(tau=0.25, block=4, rho=2, step=0.1)", {16, 8, 5}, "mu, the strong convexity"},
        {"gd_sec(xi=-1)", p, "xi is from 0 to", false},
        {"gd_sec(xi=1, beta=1.5)", p, "beta is from 0 to 1", false},
        {"gd_sec(xi=1, beta=-0.5)", p, "beta is from 0 to 1", false},
        {"gd_sec(xi=1, step=0.5)", none, "smoothness L"},
        {"gd_sec", none, "smoothness L"},
        {"sgd_sec(xi=-1)", p, "xi is from 0 to", false},
        {"sgd_sec", none, "smoothness L"},
        {"quantized_gd_sec(quantize(4), xi=-1)", p, "xi is from 0 to", false},
        {"quantized_gd_sec(quantize(4))", none, "smoothness L"},
        {"lag_wk(xi=0.1, D=10)", p, "lag_wk: D xi = 1 is not below 1"},
        {"lag_wk(xi=-0.1, D=10)", p, "xi is from 0 to", false},
        {"lag_wk", none, "smoothness L"},
        {"lag_ps(xi=0.1, D=10)", own, "lag_ps: D xi = 1"},
        {"lag_ps(xi=0.1, D=1, step=0.5)", p, "own_smoothness"},
        {"lag_ps(xi=0.1, D=1, step=0.5)", with(p, &problem::own_smoothness, HUGE_VAL), "own_smoothness"},
        {"lag_ps(xi=0.1, D=1)", with(none, &problem::own_smoothness, 3), "the smoothness L"},
        {"dual_averaging", none, "smoothness L"},
        {"proxskip", {8, 5, 4, .5, 8, 6, 0}, "strongly convex"},
        {"proxskip(p=0.5)", none, "max L_i"},
        {"proxskip(p=1.5)", p, "p is from 0 to 1", false},
        {"proxskip(p=-0.5)", p, "p is from 0 to 1", false},
        {"proxskip(p=9e-7)", p, "a round has 1 / p local steps on average", false},
        {"ef21_sgdm(top_k(2))", all_known, "give the step yourself"},
        {"ef21_sgdm(top_k(2), eta=0, step=1)", p, "eta is above 0, up to 1", false},
        {"ef21_muon(top_k(2))", all_known, "give the step yourself"},
        {"ef21_muon(top_k(2), eta=0, step=1)", p, "eta is above 0, up to 1", false},
        {"ef21_muon(top_k(2), rows=0, step=1)", p, "rows is a whole number from 1 to", false},
        {"clip21", all_known, "give the step yourself"},
        {"clip21(eta=0, step=1)", p, "eta is above 0, up to 1", false},
        {"clip21(limit=0, step=1)", p, "limit is above 0", false},
        {"clip21(step=1, memory=1.5)", p, "outside (0, 1]", false},
        {"adiana(top_k(2))", p, "top_k(2) is biased"},
        {"adiana(rand_k(2))", {8, 5, 3, 0, 7, 6}, "mu, the strong convexity"},
        {"adiana(rand_k(2))", {8, 5, 3, .5, 0, 6}, "max L_i"},
        {"adiana(rand_k(2), memory=0.26)", p, "outside (0, 0.25]", false},
        {"bidirectional(adiana(natural), natural)", all_known, "needs the mean in full", false},
        {"some_of(adiana(natural), ranks=2)", all_known, "no form in which some ranks", false},
        {"heavy_ball(adiana(natural))", all_known, "its step has no form with momentum", false},
        {"locodl(rand_k(2))", {8, 5, 4, .5, 8, 6, 0}, "min mu_i"},
        {"locodl(top_k(2))", p, "top_k(2) is biased"},
        {"locodl(rand_k(2), p=1.5)", all_known, "p is from 0 to 1", false},
        {"locodl(rand_k(2), p=9e-7)", all_known, "p = 9e-07 is outside 1e-06 .. 1", false},
        {"bidirectional(locodl(natural), natural)", all_known, "needs the mean in full", false},
        {"some_of(locodl(natural), ranks=2)", all_known, "no form in which some ranks", false},
        {"heavy_ball(locodl(natural))", all_known, "its step has no form with momentum", false},
        {"local_sgd", all_known, "give the step yourself"},
        {"scaffold", all_known, "give the step yourself"},
        {"diloco(identity)", all_known, "give the step yourself"},
        {"one_bit_adam(scaled_sign)", all_known, "give the step yourself"},
        {"one_bit_adam(scaled_sign, warm_up=0, step=1)", p, "warm_up is a whole number from 1 to", false},
        {"one_bit_adam(scaled_sign, beta1=1, step=1)", p, "a momentum is at least 0 and below 1, not 1", false},
        {"local_sgd(local=0, step=1)", p, "local is a whole number from 1 to", false},
        {"scaffold(local=0, step=1)", p, "local is a whole number from 1 to", false},
        {"diloco(identity, local=0, step=1)", p, "local is a whole number from 1 to", false},
        {"diloco(identity, decay=2, step=1)", p, "decay is from 0 to 1", false},
        {"bidirectional(scaffold(step=1), natural)", p, "needs the mean in full", false},
        {"bidirectional(proxskip(p=0.5, step=1), natural)", p, "needs the mean in full", false},
        {"heavy_ball(scaffold(step=1))", p, "has no form with momentum", false},
        {"heavy_ball(proxskip)", all_known, "its step has no form with momentum", false},
        {"heavy_ball(dual_averaging)", p, "its step has no form with momentum", false},
        {"heavy_ball(heavy_ball(gd))", p, "", false},
        {"heavy_ball(bidirectional(gd, natural))", p, "", false},
        {"heavy_ball(gd, beta=1)", p, "", false},
        {"bidirectional(gd, natural, memory=-0.1)", p, "", false},
        {"bidirectional(gd, natural, memory=1.1)", p, "", false},
        {"ef21(top_k(2), control=0.1)", all_known, "with control; give the step yourself"},
        {"ef21(top_k(2), control=2, step=1)", p, "control is from 0 to 1", false},
        {"dasha(rand_k(2), batch=2)", of_rows, "gradients of all rows"},
        {"dasha(rand_k(2), step=1, batch=2)", p, "the number of samples"},
        {"dasha(top_k(2))", p, "top_k(2) is biased"},
        {"dasha(rand_k(2))", {8, 5, 3}, "mean square"},
        {"some_of(gd, ranks=2)", p, "gd has no form in which some ranks send nothing", false},
        {"some_of(ef_sgd(top_k(2)), ranks=2)", p, "no form in which some ranks", false},
        {"some_of(ef21(top_k(2)), ranks=0)", p, "ranks is a whole number from 1 to", false},
        {"some_of(ef21(rand_k(2)), ranks=2)", p, "rand_k(2)"},
        {"bidirectional(some_of(scaffold(step=1), ranks=2), natural)", p, "needs the mean in full", false},
        {"cat(top_k)", p, "cat: best_level(top_k) is biased"},
        {"cat(top_k)", {8, 1}, "smoothness L"},
        {"cat(ef_sgd(top_k))", {8, 1}, "cat(ef_sgd)"},
        {"cat(ef_sgd(top_k, batch=2))", p, "batch"},
        {"cat(diana(rand_k))", p, "min mu_i"}};
    for (auto const& [as_text, of, why, by_theory] : all) {
        std::string const& method = as_text;  // which a lambda may capture, also with clang++ 14
        CAPTURE(method);
        std::string text = "is composed";
        bool theory = false;
        try {
            named(method, of);
        } catch (theory_error const& e) {
            theory = true;
            text = e.what();
        } catch (error const& e) {
            text = e.what();
        }
        CAPTURE(text);
        CHECK(theory == by_theory);
        CHECK((text != "is composed" && text.find(why) != std::string::npos));
    }
}

template <class M>
concept HasRates = requires(M& m) {
    m.given.memory;
};

bool refuses(auto const& m) {
    try {
        m.template compose<double, host>(all_known);
    } catch (argument_error const&) {
        return true;
    } catch (theory_error const&) {
        return true;
    }
    return false;
}

// A method by itself: of what the text has no word for.
template <class M>
void refuses_numbers() {
    if constexpr (HasRates<M>) {
        auto const parameters = detail::listed<M>().parameters;
        CAPTURE(detail::listed<M>().name);
        for (double const bad : {0., -1., double(NAN), double(HUGE_VAL)}) {
            M m{};
            m.given.step = bad;
            CHECK(refuses(m));
        }
        M m{};
        m.given.step = .1;
        if constexpr (requires { m.rho; }) m.rho = 2;
        CHECK_FALSE(refuses(m));
        m.given.memory = NAN;
        CHECK(refuses(m));
        m.given.memory = .5;
        if (parameters.find("memory") == parameters.npos && parameters.find("beta") == parameters.npos)
            CHECK(refuses(m));
        m.given.memory.reset();
        m.given.batch = 2;
        if (parameters.find("batch") == parameters.npos) CHECK(refuses(m));
    }
}
template <class... M>
void all_refuse_numbers(detail::type_list<M...>) {
    (refuses_numbers<M>(), ...);
}

TEST_CASE("a step that is none, and a memory rate or a batch that a method has no use for, are refused") {
    all_refuse_numbers(detail::library_methods<identity, gd>{});
    for (double const bad : {-1., double(NAN)}) {
        CHECK(refuses(gd_sec{bad}));
        CHECK(refuses(lag_wk{bad}));
        CHECK(refuses(marina{identity{}, bad}));
        CHECK(refuses(proxskip{bad}));
        CHECK(refuses(ibgd{bad}));
        CHECK(refuses(iasgd{0, 256, bad}));
        CHECK(refuses(terngrad{bad, {.step = 1}}));
        CHECK(refuses(dgc{.001, .9, false, bad, 0, {.step = 1}}));
        CHECK(refuses(bidirectional{gd{}, identity{}, bad}));
    }
    CHECK(refuses(lag_wk{.1, 0}));
    CHECK(refuses(ibcd{.5, 0}));
    CHECK(refuses(cat{top_k{1}, {}, {.memory = .5}}));
    CHECK(refuses(cat{ef_sgd{top_k{1}, {.memory = .5}}}));
}
