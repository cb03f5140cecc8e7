// SPDX-License-Identifier: Apache-2.0
// Methods with a memory come to known answers, of 12 digits, on quadratics whose numbers are exact in binary.
#include "support/bowl_runs.hpp"
#include "support/everything.hpp"

using bowls::come_to, bowls::composed;

// x <- x - mean C(rate g_i + decay e_i)
auto with_decay(double rate, double decay) {
    auto r = composed(ef_sgd{top_k{2}, {.step = rate}});
    r.feedback = memory<>(0, decay);
    return r;
}

TEST_CASE("error feedback comes to known answers, also where it forgets") {
    come_to(with_decay(.05, 1), {{1, {1, .951171875, 7.73463356972}},
                                 {10, {.745877215322, .470006396051, 4.45634536416}},
                                 {200, {.324686052287, -.42488071603, 2.43638882023}}});
    come_to(with_decay(.05, .95), {{1, {1, .951171875, 7.73463356972}},
                                   {10, {.781189672539, .519080292722, 4.90696393039}},
                                   {200, {.309789313428, -.43822262892, 2.7632136748}}});
}

TEST_CASE("EF21, EF21-SGDM and EF21-BC come to known answers") {
    come_to(composed(ef21{top_k{2}, {.step = .2}}), {{1, {1, .8046875, 7.03304336548}},
                                                     {10, {.416091638947, -.279521022224, 2.62508483245}},
                                                     {100, {.330357142866, -.408333333327, 2.57869293822}}});
    come_to(composed(ef21_sgdm{top_k{2}, .5, {.step = .2}}), {{1, {1, .8046875, 7.03304336548}},
                                                              {10, {.348911760449, -.422033785978, 2.70565362938}},
                                                              {100, {.330357143797, -.4083333333, 2.57869293931}}});
    come_to(composed(bidirectional{ef21{top_k{2}, {.step = .1}}, top_k{3}, 1}),
            {{1, {1, .90234375, 7.4859992981}},
             {10, {.603354492188, .107156039029, 3.22463977909}},
             {200, {.330357142946, -.408333331822, 2.57869293731}}});
}
