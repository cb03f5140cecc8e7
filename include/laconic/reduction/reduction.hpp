// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "laconic/collective/collective.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/feedback/memory.hpp"

/// A reduction: how the gradients of all ranks become an estimate of their mean, by a compressor C, the state of each
/// rank, and the transport of the messages. With the shift h_i and the residual e_i of rank i,
///
///     delta_i = g_i - h_i + decay e_i                m_i = C(delta_i)
///     e_i <- delta_i - m_i                           h_i <- h_i + alpha m_i
///     estimate = mean_i(h_i + m_i)
///
/// | reduction         | C           | alpha                 | decay  | known as                          |
/// |-------------------|-------------|-----------------------|--------|-----------------------------------|
/// | plain{C}          | unbiased    | 0                     | 0      | QSGD, TernGrad; plain{} sends all |
/// | error_feedback{C} | contractive | 0                     | 0 .. 1 | EF-SGD, Top-k SGD; DeMo's below 1 |
/// | shifted{C}        | unbiased    | 1 / (2 (1 + omega))   | 0      | DIANA                             |
/// | ef21_shift{C}     | contractive | 1                     | 0      | EF21                              |
/// | majority_vote{}   | vote        | 0                     | 0      | signSGD: the signs of the mean    |
///
/// Other combinations need unproved{...}.
namespace laconic::detail {

[[noreturn]] inline void refuse(std::string const& reduction, std::string const& compressor, std::string const& why) {
    throw theory_error({reduction, "{", compressor, "}: ", why});
}
// Returns omega(d) of an unbiased compressor.
double require_unbiased(auto const& c, std::size_t d, std::string const& reduction, std::string const& or_else = "") {
    if (!is_unbiased(c))
        refuse(reduction, to_string(c),
               concat({"the compressor is biased, so that errors add up; take error_feedback{...} or ef21_shift{...}",
                       or_else}));
    double const omega = c.omega(d);
    if (!std::isfinite(omega)) refuse(reduction, to_string(c), "omega is infinite: nothing would be sent");
    return omega;
}
template <class C>
void require_contractive(C const& c, std::size_t d, std::string const& reduction) {
    if (!is_contractive(c))
        refuse(
            reduction, to_string(c),
            concat({"the compressor is not known to be contractive; scaled_down{...} makes an unbiased one so, or take "
                    "unproved{",
                    reduction, "{...}}"}));
    if constexpr (Contractive<C>)
        if (!(c.delta(d) > 0)) refuse(reduction, to_string(c), "delta is 0: nothing would be sent");
}

// Throws theory_error unless a collective that rounds does so as such a reduction's compressor must.
void require_rounding(auto const& over, bool sum_rounding::*as, std::string const& how, std::string const& why) {
    if (!(rounding_of(over).*as))
        refuse(how, concat({"..., ", to_string(over)}), concat({why, ": take another, or unproved{...}"}));
}

// The collective has gather_all as default, unless its type excludes that.
template <class R, class X>
constexpr auto over_field(X R::*member) {
    auto const f = field("over", member).by_name();
    return std::convertible_to<gather_all, X> ? f : f.written();
}

/// finish_estimate(on, ranks, mean, spare) makes the estimate from the messages' mean, with a message as workspace.
template <class R, class M, class T, class B>
concept FinishesEstimate = requires(R const& r, B& on, int ranks, std::span<T> mean, M& spare) {
    r.finish_estimate(on, ranks, mean, spare);
};
/// Whether r does so; one whose kind is chosen at run time has finishes_estimate(), which returns it.
template <class M, class T, class B, class R>
bool finishes_estimate([[maybe_unused]] R const& r) {
    if constexpr (requires { r.finishes_estimate(); }) return r.finishes_estimate();
    return FinishesEstimate<R, M, T, B>;
}
/// weigh(on, weight, m) makes a message count by this weight, where it is not by the size of its numbers; it also makes
/// a blank message one that has a weight.
template <class R, class M, class T, class B>
concept WeighsMessages = requires(R const& r, B& on, T weight, M& m) {
    r.weigh(on, weight, m);
};
/// A reduction for a layer of d numbers, a matrix of so many rows, row after row, or with fewer than 2 a vector: what
/// depends on the shape, such as the rows of low_rank or of shared_factors, becomes that of the layer.
template <class R>
R shaped_as(R how, [[maybe_unused]] std::size_t d, [[maybe_unused]] std::size_t rows) {
    if constexpr (requires { how.shape(d, rows); }) return how.shape(d, rows), how;
    if constexpr (requires { how.compressor.shape(d, rows); }) how.compressor.shape(d, rows);
    if constexpr (requires { how.over.shape(d, rows); }) how.over.shape(d, rows);
    return how;
}
/// compressor_at(step) is the compressor of the step with that number.
template <class R>
concept FollowsSteps = requires(R const& r, std::uint64_t step) {
    r.compressor_at(step);
};
template <class R>
decltype(auto) compressor_in(R const& how, [[maybe_unused]] std::uint64_t step) {
    if constexpr (FollowsSteps<R>)
        return how.compressor_at(step);
    else
        return (how.compressor);
}

// A collective as the second value of error_feedback{...}.
template <class X>
struct over_in_place_of_decay {
    static_assert(!std::same_as<X, X>,
                  "error_feedback{compressor, decay, over}: the second value is decay, a number, and a collective is "
                  "the third, as in error_feedback{top_k{0.01}, 1, gtop_k{0.01}}");
};

}  // namespace laconic::detail

namespace laconic {

/// No state: each rank sends C(g_i), and the estimate is unbiased with variance at most omega / n mean_i |g_i|^2 for n
/// ranks.
template <class C = identity, class X = gather_all>
struct plain {
    static_assert(detail::require_compressor<C>());
    static constexpr bool is_proved = Unbiased<C>;

    C compressor{};
    X over{};

    static constexpr void description(auto&& describe) {
        describe("plain", "no state; C unbiased", "Alistarh et al., NeurIPS 2017",
                 field("compressor", &plain::compressor).written(), detail::over_field(&plain::over));
    }
    void check_proof(std::size_t d) const {
        detail::require_unbiased(compressor, d, "plain", ", or unproved{plain{...}}");
        detail::require_rounding(over, &detail::sum_rounding::unbiased, "plain", "its rounding is biased");
    }
    template <Scalar T, class B>
    memory<T, B> feedback(std::size_t) const {
        return {};
    }
    bool operator==(plain const&) const = default;
};
plain()->plain<>;
template <class C, class X = gather_all>
plain(C, X = {}) -> plain<C, X>;

/// Error feedback: what a message leaves out is sent later, times decay, in [0, 1], for each round that it waits.
/// State: e_i, d numbers a rank. With a momentum m, in [0, 1), u_i <- m u_i + g_i takes the place of g_i and of the
/// optimizer's momentum: a number that is sent late then carries the momentum of the rounds before. Masked, u_i becomes
/// 0 wherever a message is not 0 (Deep Gradient Compression, Lin et al., ICLR 2018). Dense steps and layers are not
/// masked: they are momentum SGD. State: u_i, too, and as much workspace. The theorem is for momentum 0, here and in
/// the optimizer; C must be contractive in any case.
///
/// Common to all ranks, u is the last estimate, and m u + (1 - m) g_i takes the place of g_i, in dense steps and
/// layers, too: the estimate is a running mean of mean gradients, of which a rank sends its own next value (1-bit Adam,
/// Tang et al., ICML 2021, with adam's freeze_after behind it). Then `masked` has no meaning.
template <class C, class X = gather_all>
struct error_feedback {
    static_assert(detail::require_compressor<C>());
    static constexpr bool is_proved = Contractive<C>;

    C compressor{};
    double decay = 1;
    X over{};
    double momentum = 0;
    bool masked = true;
    bool common = false;

    static constexpr void description(auto&& describe) {
        describe("error_feedback", "what a message leaves out is sent later; C contractive",
                 "Stich et al., NeurIPS 2018", field("compressor", &error_feedback::compressor).needed(),
                 field("decay", &error_feedback::decay).between(0, 1).by_name(),
                 field("momentum", &error_feedback::momentum).between(0, 1).by_name(),
                 field("masked", &error_feedback::masked), field("common", &error_feedback::common),
                 detail::over_field(&error_feedback::over));
    }
    void check_proof(std::size_t d) const {
        detail::require_contractive(compressor, d, "error_feedback");
        detail::require_rounding(over, &detail::sum_rounding::contractive, "error_feedback",
                                 "its rounding is not known to be contractive");
    }
    template <Scalar T, class B>
    memory<T, B> feedback(std::size_t) const {
        return {0, decay, momentum, masked, false, false, common};
    }
    bool operator==(error_feedback const&) const = default;
};
template <class C, class X = gather_all>
error_feedback(C, double = 1, X = {}, double = 0, bool = true, bool = false) -> error_feedback<C, X>;
template <class C, class X>
requires(!std::convertible_to<X, double>) error_feedback(C, X)
->error_feedback<C, detail::over_in_place_of_decay<X>>;

/// Each rank sends C(g_i - h_i), whose variance vanishes as the gradients converge. State: h_i and mean h, 2 d numbers
/// a rank.
template <class C, class X = gather_all>
struct shifted {
    static_assert(detail::require_compressor<C>());
    static constexpr bool is_proved = Unbiased<C>;

    C compressor{};
    X over{};

    static constexpr void description(auto&& describe) {
        describe("shifted", "differences to a shift that follows the gradient, as in DIANA; C unbiased",
                 "Mishchenko et al., arXiv:1901.09269", field("compressor", &shifted::compressor).needed(),
                 detail::over_field(&shifted::over));
    }
    void check_proof(std::size_t d) const { detail::require_unbiased(compressor, d, "shifted"); }
    template <Scalar T, class B>
    memory<T, B> feedback(std::size_t d) const {
        static_assert(Unbiased<C>,
                      "shifted{C} has its alpha from omega(d), which C does not have: C is biased; take "
                      "error_feedback{C} or ef21_shift{C}");
        return {1 / (2 * (1 + detail::require_unbiased(compressor, d, "shifted"))), 0};
    }
    bool operator==(shifted const&) const = default;
};
template <class C, class X = gather_all>
shifted(C, X = {}) -> shifted<C, X>;

/// Each rank sends C(g_i - h_i), C contractive, and adds it to h_i, its own estimate of its gradient (alpha = 1).
/// State: h_i and mean h, 2 d numbers a rank.
template <class C, class X = gather_all>
struct ef21_shift {
    static_assert(detail::require_compressor<C>());
    static constexpr bool is_proved = Contractive<C>;

    C compressor{};
    X over{};

    static constexpr void description(auto&& describe) {
        describe("ef21_shift", "differences to the rank's own estimate, as in EF21; C contractive",
                 "Richtarik et al., NeurIPS 2021", field("compressor", &ef21_shift::compressor).needed(),
                 detail::over_field(&ef21_shift::over));
    }
    void check_proof(std::size_t d) const { detail::require_contractive(compressor, d, "ef21_shift"); }
    template <Scalar T, class B>
    memory<T, B> feedback(std::size_t) const {
        return {1, 0};
    }
    bool operator==(ef21_shift const&) const = default;
};
template <class C, class X = gather_all>
ef21_shift(C, X = {}) -> ef21_shift<C, X>;

/// A reduction to which no theorem here applies, such as unproved{plain{top_k{0.01}}}: it runs as it is.
template <class R>
struct unproved : R {
    static constexpr bool is_proved = true;
    void check_proof(std::size_t) const {}
    static constexpr void description(auto&& describe) {
        auto const inside = [](auto& u) -> auto& {
            if constexpr (std::is_const_v<std::remove_reference_t<decltype(u)>>)
                return static_cast<R const&>(u);
            else
                return static_cast<R&>(u);
        };
        describe("unproved", "one of these for which there is no theorem, as it is", "",
                 field("reduction", inside).needed());
    }
    bool operator==(unproved const&) const = default;
};
template <class R>
unproved(R) -> unproved<R>;

/// A reduction whose compressor follows the steps: in step k, from 0, it is level(how.compressor, k), such as a top_k
/// that sends fewer and fewer numbers. All ranks give the same name, which represents the level when they compare their
/// settings.
template <class R, class Level>
struct scheduled : R {
    std::string name;
    Level level;

    scheduled(R how, std::string level_name, Level level_of)
        : R(std::move(how)), name(std::move(level_name)), level(std::move(level_of)) {}
    auto compressor_at(std::uint64_t step) const { return level(R::compressor, step); }
    friend std::string to_string(scheduled const& r) {
        return detail::concat({"scheduled(", to_string(static_cast<R const&>(r)), ", ", r.name, ")"});
    }
};

/// One of the reductions above, or a type of your own with the same members; those of FinishesEstimate,
/// WeighsMessages and FollowsSteps are optional.
template <class R, class T = float, class B = host>
concept Reduction = std::copy_constructible<R> && requires(R const& r, std::size_t d) {
    requires detail::SomeCompressor<std::remove_cvref_t<decltype(r.compressor)>>;
    { R::is_proved } -> std::convertible_to<bool>;
    r.check_proof(d);
    requires Feedback<std::remove_cvref_t<decltype(r.template feedback<T, B>(d))>, T, B>;
    { to_string(r.over) } -> std::convertible_to<std::string>;
    { to_string(r) } -> std::convertible_to<std::string>;
};

}  // namespace laconic
