// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "named_methods.hpp"

/// Texts of methods, as the library writes them, for a few workers with a few rows of some features each.
inline std::vector<std::string> chosen_methods() {
    return {"gd",
            "sgd(batch=2)",
            "dcgd(rand_k(2))",
            "dcgd(natural, batch=2)",
            "cat(top_k | scaled_sign, cost=packets(512, 64, 60), step=0.05)",
            "cat(top_k, top_k | scaled_sign, cost=affine(1, 300), sizes=written, step=0.05)",
            "cat(quantize(bucket=3), cost=affine(1, 64), step=0.05)",
            "cat(diana(rand_k | natural), cost=affine(1, 640))",
            "cat(ef_sgd(top_k | scaled_sign), cost=packets(20, 4, 10))",
            "qsgd(levels=4)",
            "terngrad",
            "terngrad(clip=2.5, step=0.1)",
            "signsgd(step=0.01)",
            "signum(beta=0.9, step=0.01)",
            "ef_sgd(top_k(2) | natural)",
            "top_k_sgd(k=2)",
            "gtop_k_sgd(k=2, step=0.2/L)",
            "gtop_k_sgd(k=1, as_published=yes, step=0.2/L, batch=2)",
            "spardl_sgd(k=3, step=0.2/L)",
            "one_bit_sgd(bucket=4)",
            "dgc(k=2, momentum=0.9, nesterov=yes, clip=1, warm_up=3, step=0.05)",
            "ef21(top_k(2))",
            "ef21(top_k(2), step=0.1, batch=2)",
            "ef21_sgdm(top_k(2), eta=0.25, step=0.1, batch=2)",
            "ef21_muon(top_k(2), eta=0.5, rows=2, by=newton_schulz, step=0.05)",
            "bidirectional(ef21_muon(top_k(2), eta=0.5, rows=2, step=0.05), top_k(2), keep_errors=yes)",
            "clip21(limit=0.5, eta=0.5, step=0.1, memory=0.5, batch=2)",
            "diana(rand_k(2) | natural)",
            "diana(quantize(1, bucket=3, p=inf), memory=0.1, batch=2)",
            "adiana(rand_k(2))",
            "adiana(natural, step=0.1, memory=0.5)",
            "vr_diana(rand_k(2))",
            "vr_diana(natural, batch=2)",
            "vr_diana_saga(rand_k(2))",
            "marina(rand_k(2))",
            "ibcd(tau=1, block=3)",
            "ibgd(tau=0.5)",
            "isega(block=2)",
            "isaga(tau=2, block=2)",
            "isgd(block=2)",
            "iasgd(tau=0.5, block=2, rho=4)",
            "gd_sec(xi=5, beta=0.01)",
            "sgd_sec(xi=5, beta=0.01, batch=2)",
            "quantized_gd_sec(natural, xi=5, beta=0.01)",
            "lag_wk(xi=0.05, D=10)",
            "lag_ps(xi=0.05, D=4)",
            "dual_averaging",
            "proxskip",
            "locodl(rand_k(2), p=0.5, step=0.1, batch=2)",
            "locodl(natural, p=0.5, step=0.1)",
            "local_sgd(local=3, pull=0.1, step=0.1/L)",
            "scaffold(local=3, step=0.1/L)",
            "diloco(rand_k(2), local=3, decay=0.5, step=0.01, batch=2)",
            "one_bit_adam(scaled_sign, warm_up=3, step=0.01, batch=2)",
            "heavy_ball(local_sgd(local=2, step=0.1/L), beta=0.5)",
            "heavy_ball(spardl_sgd(k=3, as_published=yes, step=0.05/L), beta=0.5)",
            "heavy_ball(diana(rand_k(2), step=0.02), beta=0.5)",
            "with_step(diana(rand_k(2), step=0.02), adam(0.01, weight_decay=0.01, decoupled=yes))",
            "bidirectional(with_step(gd, momentum(0.02, 0.5, nesterov=yes)), natural)",
            "bidirectional(diana(natural), natural, memory=0.5)",
            "bidirectional(heavy_ball(gd, beta=0.5), natural, memory=0.5)",
            "bidirectional(ef_sgd(top_k(2)), top_k(2), keep_errors=yes)",
            "bidirectional(vr_diana(natural), rand_k(4))",
            "bidirectional(lag_wk(xi=0.05, D=10), identity)",
            "bidirectional(ef21(top_k(2)), top_k(2), keep_errors=yes)",
            "ef21(top_k(2), step=0.1, batch=2, control=0.05)",
            "dasha(rand_k(2))",
            "dasha(rand_k(2), step=0.05, batch=2)",
            "some_of(diana(rand_k(2)), ranks=2)",
            "some_of(ef21(top_k(2)), ranks=1)",
            "some_of(scaffold(local=3, step=0.1/L), ranks=2)"};
}

/// These, and every other method that parse_method knows with its defaults, and rand_k where it needs a compressor.
inline std::vector<std::string> every_method() {
    auto all = chosen_methods();
    for (auto const& m : laconic::list_methods()) {
        auto const is_of = [&](std::string const& text) { return text.substr(0, text.find('(')) == m.name; };
        if (std::any_of(all.begin(), all.end(), is_of)) continue;
        bool const needs_compressor = m.parameters.starts_with("(compressor");
        all.push_back(to_string(laconic::parse_method(m.name + (needs_compressor ? "(rand_k(2))" : ""))));
    }
    return all;
}

/// Those of every_method() that are recursions.
inline std::vector<std::string> every_recursion() {
    auto all = every_method();
    std::erase_if(all, [](std::string const& text) { return laconic::parse_method(text).has_loop(); });
    return all;
}
