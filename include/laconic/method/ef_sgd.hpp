// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/collective/select/spar_reduce_scatter.hpp"
#include "laconic/compress/signs.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/method/proved_step.hpp"
#include "laconic/recursion.hpp"

/// Error feedback, and its forms that have names of their own.
namespace laconic {

namespace detail {

template <Scalar T, class B, class C>
recursion<C, memory<T, B>> compose_ef(C const& compressor, theory const& of) {
    double const step = of.step([&] {
        of.refuse_batch();
        double const delta = of.delta(compressor, "give the step"), l = of.smoothness();
        bool const one_optimum = of.p.workers == 1 || of.p.shared_optimum;
        if (one_optimum && of.p.least_strong_convexity > 0)
            return proved_step::tight(of.largest_smoothness(), of.p.least_strong_convexity, delta).size;
        return std::min(1 / (4 * l), delta / (14 * std::sqrt((1 - delta) * l * of.largest_smoothness())));
    });
    return {compressor, {0, 1}, gradient_step{1}, {}, of.given.batch, {}, step};
}

}  // namespace detail

/// Error feedback (EF-SGD, Top-k SGD, 1-bit SGD; Stich et al., NeurIPS 2018; Karimireddy et al., ICML 2019): what a
/// message leaves out is added to the next one. The residual e_i is in units of the step times the gradient, so that
/// the step may change from round to round. For a contractive compressor, full gradients of convex f_i, and
///     step = min{ 1 / (4 L), delta / (14 sqrt((1 - delta) L max L_i)) },
/// V = |x - mean e - x*|^2 + (12 step L / delta) mean |e_i|^2 obeys
///     V+ <= (1 - min(step mu / 2, delta / 4)) V + 48 step^3 L (1 - delta) / delta^2 mean_i |grad f_i(x*)|^2 ,
/// by the descent of the virtual iterate x - mean e. If all f_i are strongly convex and have their least value at the
/// same x* (one rank, or problem::shared_optimum), the step is 6 to 7 times as long: that of the tight theorem
/// (proved_step::tight, arXiv:2605.31594) with max L_i and min mu_i, by which
///     V = |sum e_i|^2 / (n sqrt(1 - delta)) + sum |x - x* - e_i|^2
/// falls to 0. No theorem covers steps of the order of 1 / L, which usually work, nor mini-batches: give `step` for
/// these.
template <class C>
struct ef_sgd {
    static_assert(detail::require_compressor<C>());

    C compressor;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_ef<T, B>(compressor, {*this, p});
    }
    bool operator==(ef_sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("ef_sgd", "g scaled by the step, C contractive, alpha 0, decay 1",
                 "Stich, Cordonnier, Jaggi, NeurIPS 2018; Karimireddy et al., ICML 2019", detail::compressor_field,
                 detail::step_field, detail::batch_field);
    }
};
template <class C>
ef_sgd(C, overrides = {}) -> ef_sgd<C>;

/// Top-k SGD with memory (Stich, Cordonnier, Jaggi, NeurIPS 2018; Aji, Heafield, EMNLP 2017): ef_sgd with the k numbers
/// of largest magnitude, a count or a fraction of them, and with ef_sgd's step for delta = k / d.
struct top_k_sgd {
    portion k = 0.01;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_ef<T, B>(top_k{k.value}, {*this, p});
    }
    bool operator==(top_k_sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("top_k_sgd", "g scaled by the step, C top_k, alpha 0, decay 1",
                 "Aji, Heafield, EMNLP 2017; Stich, Cordonnier, Jaggi, NeurIPS 2018",
                 field("k", &top_k_sgd::k).written_by_name(), detail::step_field, detail::batch_field);
    }
};

/// 1-bit SGD (Seide, Fu, Droppo, Li, Yu, Interspeech 2014): ef_sgd with a bit a number and two means a bucket of
/// consecutive numbers (the paper's are columns of weight matrices; 0: one bucket), and with ef_sgd's step for delta =
/// 1 / bucket, which is short.
struct one_bit_sgd {
    std::size_t bucket = 0;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_ef<T, B>(two_means{bucket}, {*this, p});
    }
    bool operator==(one_bit_sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("one_bit_sgd", "g scaled by the step, C two_means, alpha 0, decay 1", "Seide et al., Interspeech 2014",
                 field("bucket", &one_bit_sgd::bucket).between(0, 1e12), detail::step_field, detail::batch_field);
    }
};

/// top_k_sgd whose sums are cut to k numbers by the collective `Select`: gtop_k_sgd and spardl_sgd.
template <class Select>
struct cut_sums_sgd {
    static constexpr bool by_tree = std::same_as<Select, gtop_k>;

    portion k = 0.01;
    bool as_published = false;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        detail::theory const of(*this, p);
        of.own_step("no theorem gives its step");
        return detail::compose_ef<T, B>(top_k{k.value}, of).with_over(Select{k, as_published});
    }
    bool operator==(cut_sums_sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe(by_tree ? "gtop_k_sgd" : "spardl_sgd",
                 by_tree ? "top_k_sgd whose sums are cut to k on their way up a tree"
                         : "top_k_sgd whose sums are cut to k by a reduce-scatter of blocks",
                 by_tree ? "Shi et al., ICDCS 2019" : "Zhao et al., ICDE 2024",
                 field("k", &cut_sums_sgd::k).written_by_name(), field("as_published", &cut_sums_sgd::as_published),
                 detail::step_field, detail::batch_field);
    }
};

/// gTop-k SGD (Shi et al., ICDCS 2019): top_k_sgd in which each merge of a tree passes only the k largest of the ranks'
/// sums, so that a rank sends and receives k log P numbers instead of k P. The merging rank keeps in its residual what
/// a merge leaves out, so that x - mean e moves along the mean gradient; as published, a rank keeps its own numbers
/// only where nothing is applied, and the rest is lost. No theorem gives its step; steps of the order of 1 / L usually
/// work.
using gtop_k_sgd = cut_sums_sgd<gtop_k>;

/// SparDL's SGD (Zhao et al., ICDE 2024): top_k_sgd whose sums are made by a reduce-scatter of blocks, in which each
/// step passes ceil(k / P) numbers of each block, and the rank that drops the rest keeps it in its residual. So a rank
/// sends about 2 k numbers, however many ranks there are. A block has coordinates that are drawn anew in each round; as
/// published, neighbouring ones. No theorem gives its step; steps of the order of 1 / L usually work.
using spardl_sgd = cut_sums_sgd<spar_reduce_scatter>;

/// Deep Gradient Compression (Lin, Han, Mao, Wang, Dally, ICLR 2018): each rank sends the k numbers of largest
/// magnitude of its accumulated momentum, which is cleared where it was sent (see memory); each rank's
/// gradient is clipped to a norm of clip / sqrt(n) (0: none), and the first `warm_up` rounds send more (see
/// laconic::warm_up). k, a count or a fraction, is of the whole gradient, not of each layer. No theorem gives its step.
struct dgc {
    portion k = 0.001;
    double momentum = 0.9;
    bool nesterov = false;
    double clip = 0;
    std::uint64_t warm_up = 0;
    overrides given{};

    template <Scalar T, class B>
    recursion<top_k<>, memory<T, B>, gradient_step, laconic::warm_up, clipped<mini_batch>> compose(
        problem const& p) const {
        double const step = detail::theory(*this, p).own_step("no theorem gives its step");
        return {top_k{k.value},
                memory<T, B>(0, 1, momentum, true, nesterov),
                gradient_step{step},
                {k, warm_up},
                {given.batch, clip / std::sqrt(static_cast<double>(p.workers)), clip_at::norm}};
    }

    bool operator==(dgc const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("dgc", "g clipped, C top_k of momenta that are accumulated until they are sent, alpha 0",
                 "Deep Gradient Compression: Lin et al., ICLR 2018", field("k", &dgc::k).written_by_name(),
                 field("momentum", &dgc::momentum).written().by_name(), field("nesterov", &dgc::nesterov),
                 field("clip", &dgc::clip).between(0, 1e300).by_name(),
                 field("warm_up", &dgc::warm_up).between(0, 1e12), detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
