// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "laconic/any/parse.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/any_method.hpp"
#include "laconic/method/arguments.hpp"
#include "laconic/method/bidirectional.hpp"
#include "laconic/method/cat_arguments.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/dgc.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/dual_averaging.hpp"
#include "laconic/method/ef21.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/method/gd.hpp"
#include "laconic/method/gd_sec.hpp"
#include "laconic/method/gtop_k_sgd.hpp"
#include "laconic/method/heavy_ball.hpp"
#include "laconic/method/iasgd.hpp"
#include "laconic/method/ibcd.hpp"
#include "laconic/method/ibgd.hpp"
#include "laconic/method/isaga.hpp"
#include "laconic/method/isega.hpp"
#include "laconic/method/isgd.hpp"
#include "laconic/method/lag_ps.hpp"
#include "laconic/method/lag_wk.hpp"
#include "laconic/method/marina.hpp"
#include "laconic/method/one_bit_sgd.hpp"
#include "laconic/method/proxskip.hpp"
#include "laconic/method/qsgd.hpp"
#include "laconic/method/quantized_gd_sec.hpp"
#include "laconic/method/sgd.hpp"
#include "laconic/method/sgd_sec.hpp"
#include "laconic/method/signsgd.hpp"
#include "laconic/method/signum.hpp"
#include "laconic/method/spardl_sgd.hpp"
#include "laconic/method/terngrad.hpp"
#include "laconic/method/top_k_sgd.hpp"
#include "laconic/method/vr_diana.hpp"

namespace laconic {

/// The description of a method in a list: its text, its row of the one equation, and its source.
struct method_description {
    std::string name, parameters, equation, reference;
};

namespace detail {

template <Scalar T>
struct named_method {
    method_description about;
    std::function<any_method<T>(grammar::arguments&)> make;
};

template <Scalar T>
any_compressor<T> compressor_argument(grammar::arguments& a) {
    auto const* const i = a.find("compressor");
    if (!i)
        a.refuse(a.from().position,
                 concat({a.from().name, " needs a compressor: ", a.from().name, "(rand_k(0.1)), say"}));
    return make_compressor<T, host>(a.text(), i->calls);
}

template <Scalar T>
any_method<T> make_method(std::string_view text, grammar::pipe const& calls);

template <Scalar T>
std::vector<named_method<T>> const& named_methods() {
    using any = any_compressor<T>;
    using method = any_method<T>;
    using arguments = grammar::arguments;
    static std::vector<named_method<T>> const all = {
        {{"gd", "(step=)", "g full, C identity, alpha 0", "gradient descent"},
         [](arguments& a) -> method { return gd{rates_arguments(a)}; }},
        {{"sgd", "(step=, batch=1)", "g mini-batch, C identity, alpha 0",
          "Robbins, Monro 1951; Gower et al., ICML 2019"},
         [](arguments& a) -> method { return sgd{rates_arguments(a, {.batch = true})}; }},
        {{"dcgd", "(C, step=, batch=)", "g full or mini-batch, C unbiased, alpha 0",
          "Gorbunov, Hanzely, Richtarik, AISTATS 2020"},
         [](arguments& a) -> method {
             auto const c = compressor_argument<T>(a);
             return dcgd<any>{c, rates_arguments(a, {.batch = true})};
         }},
        {{"cat", "(C or C, D or METHOD(C), cost=bits, sizes=formula, step=)",
          "g full, C at its best level for the cost, alpha 0; or another method, diana(rand_k), say, with such a C",
          "Khirirat, Magnusson, Aytekin, Johansson, arXiv:2003.06377"},
         [](arguments& a) -> method { return cat_argument<T>(a); }},
        {{"qsgd", "(levels=4, step=, batch=)", "g full or mini-batch, C quantize of the 2-norm, alpha 0",
          "Alistarh et al., NeurIPS 2017"},
         [](arguments& a) -> method {
             auto const levels = a.whole("levels", 4, 1, 32767);
             return qsgd{static_cast<int>(levels), rates_arguments(a, {.batch = true})};
         }},
        {{"terngrad", "(clip=0, step=, batch=)", "g clipped, C quantize to one level of the largest, alpha 0",
          "Wen et al., NeurIPS 2017"},
         [](arguments& a) -> method {
             double const clip = a.number("clip", 0.0, false);
             return terngrad{clip, rates_arguments(a, {.batch = true})};
         }},
        {{"signsgd", "(step=, batch=)",
          "g full or mini-batch, C the sign, alpha 0; the server answers with a majority vote",
          "Bernstein et al., ICML 2018"},
         [](arguments& a) -> method { return signsgd{rates_arguments(a, {.batch = true})}; }},
        {{"signum", "(beta=0.9, step=, batch=)", "g a running mean, C the sign, alpha 0; a majority vote",
          "Bernstein et al., ICML 2018"},
         [](arguments& a) -> method {
             double const beta = a.number("beta", 0.9, false);
             return signum{beta, rates_arguments(a, {.batch = true})};
         }},
        {{"ef_sgd", "(C, step=, batch=)", "g scaled by the step, C contractive, alpha 0, decay 1",
          "Stich, Cordonnier, Jaggi, NeurIPS 2018; Karimireddy et al., ICML 2019"},
         [](arguments& a) -> method {
             auto const c = compressor_argument<T>(a);
             return ef_sgd<any>{c, rates_arguments(a, {.batch = true})};
         }},
        {{"top_k_sgd", "(k=0.01, step=, batch=)", "g scaled by the step, C top_k, alpha 0, decay 1",
          "Aji, Heafield, EMNLP 2017; Stich, Cordonnier, Jaggi, NeurIPS 2018"},
         [](arguments& a) -> method {
             double const k = a.number("k", 0.01);
             return top_k_sgd{portion{k}, rates_arguments(a, {.batch = true})};
         }},
        {{"gtop_k_sgd", "(k=0.01, as_published=no, step=, batch=)",
          "top_k_sgd whose sums are cut to k on their way up a tree", "Shi et al., ICDCS 2019"},
         [](arguments& a) -> method {
             double const k = a.number("k", 0.01);
             bool const as_published = a.yes("as_published");
             return gtop_k_sgd{portion{k}, as_published, rates_arguments(a, {.batch = true})};
         }},
        {{"spardl_sgd", "(k=0.01, as_published=no, step=, batch=)",
          "top_k_sgd whose sums are cut to k by a reduce-scatter of blocks", "Zhao et al., ICDE 2024"},
         [](arguments& a) -> method {
             double const k = a.number("k", 0.01);
             bool const as_published = a.yes("as_published");
             return spardl_sgd{portion{k}, as_published, rates_arguments(a, {.batch = true})};
         }},
        {{"one_bit_sgd", "(bucket=0, step=, batch=)", "g scaled by the step, C two_means, alpha 0, decay 1",
          "Seide et al., Interspeech 2014"},
         [](arguments& a) -> method {
             auto const bucket = a.whole("bucket", 0, 0, 1e12);
             return one_bit_sgd{bucket, rates_arguments(a, {.batch = true})};
         }},
        {{"dgc", "(k=0.001, momentum=0.9, nesterov=no, clip=0, warm_up=0, step=, batch=)",
          "g clipped, C top_k of momenta that are accumulated until sent, alpha 0", "Lin et al., ICLR 2018"},
         [](arguments& a) -> method {
             dgc m;
             m.k = portion{a.number("k", 0.001)};
             m.momentum = a.number("momentum", 0.9, false);
             m.nesterov = a.yes("nesterov");
             m.clip = a.number("clip", 0.0, false);
             m.warm_up = a.whole("warm_up", 0, 0, 1e12);
             m.given = rates_arguments(a, {.batch = true});
             return m;
         }},
        {{"ef21", "(C, step=, batch=)", "g full or mini-batch, C contractive, alpha 1",
          "Richtarik, Sokolov, Fatkhullin, NeurIPS 2021"},
         [](arguments& a) -> method {
             auto const c = compressor_argument<T>(a);
             return ef21<any>{c, rates_arguments(a, {.batch = true})};
         }},
        {{"diana", "(C, step=, memory=, batch=)", "g full or mini-batch, C unbiased, alpha in (0, 1/(1+omega)]",
          "Mishchenko, Gorbunov, Takac, Richtarik, arXiv:1901.09269"},
         [](arguments& a) -> method {
             auto const c = compressor_argument<T>(a);
             return diana<any>{c, rates_arguments(a, {.memory = true, .batch = true}), {}};
         }},
        {{"vr_diana", "(C, step=, memory=, batch=1)", "g by L-SVRG, C unbiased, alpha in (0, 1/(1+omega)]",
          "Horvath et al., Optim. Methods Softw. 2023"},
         [](arguments& a) -> method {
             auto const c = compressor_argument<T>(a);
             return vr_diana<any>{c, rates_arguments(a, {.memory = true, .batch = true}), {}};
         }},
        {{"vr_diana_saga", "(C, step=, memory=, batch=1)", "g by SAGA, C unbiased, alpha in (0, 1/(1+omega)]",
          "Horvath et al., Optim. Methods Softw. 2023"},
         [](arguments& a) -> method {
             auto const c = compressor_argument<T>(a);
             return vr_diana_saga<any>{c, rates_arguments(a, {.memory = true, .batch = true}), {}};
         }},
        {{"marina", "(C, p=0, step=)", "g full, C unbiased, h the last gradient; all in full with probability p",
          "Gorbunov, Burlachenko, Li, Richtarik, ICML 2021"},
         [](arguments& a) -> method {
             auto const c = compressor_argument<T>(a);
             double const p = a.number("p", 0.0, false);
             return marina<any>{c, p, rates_arguments(a)};
         }},
        {{"ibcd", "(tau=0, block=256, step=, batch=)", "g full, C random blocks as they are, alpha 0",
          "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437"},
         [](arguments& a) -> method {
             auto m = blocks_arguments<ibcd>(a);
             m.given = rates_arguments(a, {.batch = true});
             return m;
         }},
        {{"ibgd", "(tau=0, step=, batch=)", "g full, C all or nothing as it is, alpha 0",
          "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437"},
         [](arguments& a) -> method {
             double const tau = a.number("tau", 0.0, false);
             return ibgd{tau, rates_arguments(a, {.batch = true})};
         }},
        {{"isega", "(tau=0, block=256, step=, batch=)", "g full or mini-batch, C random blocks, alpha tau",
          "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437"},
         [](arguments& a) -> method {
             auto m = blocks_arguments<isega<>>(a);
             m.given = rates_arguments(a, {.batch = true});
             return m;
         }},
        {{"isaga", "(tau=0, block=256, step=)", "g by SAGA on the blocks that are sent, C random blocks as they are",
          "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437"},
         [](arguments& a) -> method {
             auto m = blocks_arguments<isaga>(a);
             m.given = rates_arguments(a);
             return m;
         }},
        {{"isgd", "(tau=0, block=256, step=, batch=)", "ibcd with decreasing steps",
          "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437"},
         [](arguments& a) -> method {
             auto m = blocks_arguments<isgd>(a);
             m.given = rates_arguments(a, {.batch = true});
             return m;
         }},
        {{"iasgd", "(tau=0, block=256, rho=, step=, batch=)", "ibcd with accelerated steps, under strong growth rho",
          "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437; Vaswani, Bach, Schmidt, AISTATS 2019"},
         [](arguments& a) -> method {
             auto m = blocks_arguments<iasgd>(a);
             m.rho = a.number("rho", 0.0, false);
             m.given = rates_arguments(a, {.batch = true});
             return m;
         }},
        {{"gd_sec", "(xi=100, beta=0.01, step=)", "g full, C a threshold that follows x, alpha beta, decay 1",
          "Chen, Blum, Takac, Sadler, IEEE JSTSP 2022"},
         [](arguments& a) -> method { return sec_arguments(a, gd_sec{}, {}); }},
        {{"sgd_sec", "(xi=100, beta=0.01, step=, batch=1)", "gd_sec with mini-batches",
          "Chen, Blum, Takac, Sadler, IEEE JSTSP 2022"},
         [](arguments& a) -> method { return sec_arguments(a, sgd_sec{}, {.batch = true}); }},
        {{"quantized_gd_sec", "(C, xi=100, beta=0.01, step=, batch=)",
          "gd_sec, what passes the threshold compressed by C", "Chen, Blum, Takac, Sadler, IEEE JSTSP 2022"},
         [](arguments& a) -> method {
             auto const c = compressor_argument<T>(a);
             return sec_arguments(a, quantized_gd_sec<any>{c, 100, {}}, {.batch = true});
         }},
        {{"lag_wk", "(xi=0.05, D=10, step=)", "g full, C all or nothing by the change of g, alpha 1",
          "Chen, Giannakis, Sun, Yin, NeurIPS 2018"},
         [](arguments& a) -> method { return lag_arguments<lag_wk>(a); }},
        {{"lag_ps", "(xi=0.05, D=10, step=)", "g full, C all or nothing by how far x moved, alpha 1",
          "Chen, Giannakis, Sun, Yin, NeurIPS 2018"},
         [](arguments& a) -> method { return lag_arguments<lag_ps>(a); }},
        {{"dual_averaging", "(step=, batch=)", "g full or mini-batch, C identity, alpha 0; x from the sum of all",
          "Nesterov, Math. Programming 2009"},
         [](arguments& a) -> method { return dual_averaging{rates_arguments(a, {.batch = true})}; }},
        {{"proxskip", "(p=0, step=, batch=)", "g the result of local steps, C identity, alpha 0",
          "Mishchenko, Malinovsky, Stich, Richtarik, ICML 2022"},
         [](arguments& a) -> method {
             double const p = a.number("p", 0.0, false);
             return proxskip{p, rates_arguments(a, {.batch = true})};
         }},
        {{"heavy_ball", "(METHOD, beta=0.9)", "any of these that moves by a step of one length, with momentum",
          "Polyak 1964; Mishchenko, Gorbunov, Takac, Richtarik, arXiv:1901.09269"},
         [](arguments& a) -> method {
             auto const* const i = a.find("method");
             if (!i) a.refuse(a.from().position, "heavy_ball needs a method: heavy_ball(diana(natural))");
             auto const inner = make_method<T>(a.text(), i->calls);
             return heavy_ball<method>{inner, a.number("beta", 0.9, false)};
         }},
        {{"bidirectional", "(METHOD, C, memory=0, errors=dropped)",
          "any of these; the server answers in messages of C, with a memory and errors of its own",
          "Tang et al., ICML 2019; Philippenko, Dieuleveut, arXiv:2006.14591"},
         [](arguments& a) -> method {
             auto const* const i = a.find("method");
             if (!i)
                 a.refuse(a.from().position, "bidirectional needs a method: bidirectional(diana(natural), natural)");
             auto const inner = make_method<T>(a.text(), i->calls);
             auto const c = compressor_argument<T>(a);
             double const rate = a.number("memory", 0.0, false);
             auto const* const kept = a.find("errors", false);
             if (kept && kept->word != "kept" && kept->word != "dropped")
                 a.refuse(kept->position, "errors are kept or dropped");
             return bidirectional<method, any>{inner, c, rate, kept && kept->word == "kept"};
         }},
    };
    return all;
}

}  // namespace detail
}  // namespace laconic
