// SPDX-License-Identifier: Apache-2.0
// The methods that were made for networks, each a composition of the library's parts.
#include "methods.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "laconic/adapt/warm_start.hpp"
#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/compress/parts.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/short_float.hpp"
#include "laconic/compress/signs.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/estimate/local_rounds.hpp"
#include "laconic/feedback/memory.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/optim/step.hpp"

namespace deep {

using namespace laconic;

namespace {

/// Another step, made `rate` times as long at first and falling to 0 along half a cosine within so many rounds
/// (Loshchilov and Hutter, ICLR 2017, without restarts).
template <class S>
struct falling {
    S step;
    double rate;
    std::uint64_t rounds, taken = 0;

    void operator()(host& on, std::span<float> x, std::span<float> d) {
        double const passed = (static_cast<double>(taken) + 0.5) / static_cast<double>(rounds);
        multiply(on, static_cast<float>(rate * (1 + std::cos(std::numbers::pi * passed)) / 2), d);
        step(on, x, d);
        ++taken;
    }
    template <class Archive>
    void state(Archive& archive) {
        archive(step, taken);
    }
    friend std::string to_string(falling const& s) {
        return fmt::format("{} times {}, falling within {}", to_string(s.step), s.rate, s.rounds);
    }
};

template <class S>
falling<S> falling_from(plan const& p, double rate, S step) {
    return {std::move(step), rate, p.rounds};
}

/// Rank 0 adds up the messages and answers in full. (Where every rank receives all messages, all ranks would do the
/// same sum.)
using server = served<identity, float>;

/// Mini-batches, whose gradients are compressed; the mean of the messages goes into a momentum of 0.9.
template <class C, class L = fixed_level>
method with_momentum(plan const& p, double rate, C compressor, memory<float> feedback, L level = {}) {
    return erased<float, host>(recursion<C, memory<float>, falling<momentum<float>>, L, mini_batch, server>{
        std::move(compressor), std::move(feedback), falling_from(p, rate, momentum<float>(1, 0.9)), std::move(level),
        p.batch});
}

/// Each worker's own momentum, with error feedback around it (Zheng, Huang, Kwok, NeurIPS 2019).
template <class C>
method with_momentum_inside(plan const& p, double rate, C compressor, bool nesterov) {
    return erased<float, host>(
        recursion<C, memory<float>, falling<gradient_step>>{std::move(compressor),
                                                            memory<float>(0, 1, 0.9, false, nesterov),
                                                            falling_from(p, rate, gradient_step{1}),
                                                            {},
                                                            p.batch}
            .with_over(server{}));
}

/// No momentum and no server: the workers' sums are cut to k numbers as well, on their way up a tree and down again.
/// Most of what a worker brings waits for many rounds, which does the averaging that momentum would do twice.
method tree_of_top_k(plan const& p, double rate, double k) {
    return erased<float, host>(recursion<top_k<>, memory<float>, falling<gradient_step>>{
        top_k{k}, memory<float>{0, 1}, falling_from(p, rate, gradient_step{1}), {}, p.batch}
                                   .with_over(gtop_k{k}));
}

/// Deep Gradient Compression has its momentum on the workers, and a warm-up; the paper's takes four epochs.
method deep_gradient_compression(plan const& p, double rate) {
    dgc const named{.k = 0.001,
                    .momentum = 0.9,
                    .warm_up = std::min(4 * p.rounds_per_epoch, p.rounds / 5),
                    .given = {.step = 1.0, .batch = p.batch}};
    return erased<float, host>(named.compose<float, host>(problem{.workers = p.workers})
                                   .with_step(falling_from(p, rate, gradient_step{1}))
                                   .with_over(server{}));
}

/// Local rounds: so many steps of each worker with a momentum of 0.9, whose size falls within all of them, and then an
/// outer step along the mean of the workers' moves.
template <class C, class S>
method after_local_steps(plan const& p, double rate, std::uint64_t local, C compressor, double decay, S outer) {
    using inner = falling<momentum<float>>;
    return erased<float, host>(recursion<C, memory<float>, S, fixed_level, local_rounds<inner, float>, server>{
        std::move(compressor),
        memory<float>(0, decay),
        std::move(outer),
        {},
        local_rounds<inner, float>({.steps = local, .batch = p.batch},
                                   falling_from(p, rate, momentum<float>(1, 0.9)))});
}

}  // namespace

std::vector<named_method> compositions(plan const& p, network const& f, std::optional<double> given) {
    using matrix = low_rank<std::span<float const>>;
    memory<float> const nothing{0, 0}, errors{0, 1};
    auto const first = f.matrices()[0], second = f.matrices()[1];
    std::size_t const hidden = first.rows, classes = second.rows;
    // The four parts of the vector: both matrices as such; the biases, which are none, as a row each.
    parts<matrix> const matrices{
        {first.size(), {hidden, 2}}, {hidden, {1, 1}}, {second.size(), {classes, 2}}, {classes, {1, 1}}};
    // A scale for each unit's weights: where one for a whole layer is, most of what is sent of it is error.
    parts<scaled_sign> const units{
        {first.size(), {first.columns}}, {hidden, {}}, {second.size(), {second.columns}}, {classes, {}}};

    std::vector<named_method> all;
    auto const add = [&](std::string name, double own, auto const& compose) {
        double const rate = given.value_or(own);
        all.push_back({std::move(name), rate, compose(rate)});
    };
    add("dense", 0.05, [&](double rate) { return with_momentum(p, rate, identity{}, nothing); });
    add("top-k 1 %", 0.05, [&](double rate) { return with_momentum_inside(p, rate, top_k{0.01}, false); });
    add("gtop-k 1 %", 0.5, [&](double rate) { return tree_of_top_k(p, rate, 0.01); });
    add("dgc 0.1 %", 0.1, [&](double rate) { return deep_gradient_compression(p, rate); });
    add("ef-sign", 0.05, [&](double rate) { return with_momentum_inside(p, rate, units, true); });
    add("qsgd 4 bit", 0.05, [&](double rate) { return with_momentum(p, rate, quantize{7, 512}, nothing); });
    add("powersgd 2", 0.05, [&](double rate) { return with_momentum(p, rate, matrices, errors, warm_start<float>{}); });
    add("dense bf16", 0.05, [&](double rate) { return with_momentum(p, rate, bf16::random{}, nothing); });
    auto const add_local = [&](std::string name, std::uint64_t local, auto const& compressor, double decay,
                               auto const& outer) {
        add(std::move(name), 0.05,
            [&](double rate) { return after_local_steps(p, rate, local, compressor, decay, outer); });
        all.back().local = local;
    };
    momentum<float> const nesterov({.rate = 0.7, .beta = 0.9, .nesterov = true});
    add_local("local 30", 30, identity{}, 0, gradient_step{1});
    add_local("diloco 30", 30, identity{}, 0, nesterov);
    add_local("diloco 100", 100, identity{}, 0, nesterov);
    add_local("sparse 30", 30, top_k{1. / 64} | damped_quantize{7, 128}, 0.95, gradient_step{1});
    return all;
}

}  // namespace deep
