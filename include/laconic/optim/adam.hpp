// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/backend/host.hpp"
#include "laconic/optim/step.hpp"

namespace laconic {

/// The numbers of `adam`; the defaults are PyTorch's. AdamW is {.weight_decay = 0.01, .decoupled = true}, AMSGrad is
/// {.amsgrad = true}, the server's step of FedAdam {.beta2 = 0.99, .epsilon = 1e-3, .bias_correction = false}, and that
/// of 1-bit Adam {.bias_correction = false, .freeze_after = 1000}.
struct adam_options {
    double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
    bool decoupled = false;  ///< the weight decay does not pass through the moments
    bool amsgrad = false;
    bool bias_correction = true;
    std::uint64_t freeze_after = 0;  ///< the steps after which v stays as it is, and d is m; 0: never, and d is not

    static constexpr void description(auto&& describe) {
        describe("adam", "each coordinate by the mean of d, over the root of the mean of d^2", "Kingma, Ba, ICLR 2015",
                 field("rate", &adam_options::rate).between(0, 1e300).written(),
                 field("beta1", &adam_options::beta1).between(0, 1).by_name(),
                 field("beta2", &adam_options::beta2).between(0, 1).by_name(),
                 field("epsilon", &adam_options::epsilon).between(0, 1e300).by_name(),
                 field("weight_decay", &adam_options::weight_decay).between(0, 1e300).by_name(),
                 field("decoupled", &adam_options::decoupled).by_name(),
                 field("amsgrad", &adam_options::amsgrad).by_name(),
                 field("bias_correction", &adam_options::bias_correction).by_name(),
                 field("freeze_after", &adam_options::freeze_after).between(0, 1e12).by_name());
    }
};

namespace detail {

/// A step of adam, for the numbers of a vector V from j on, where m is divided by `first` and the root of v by
/// `second`.
template <Scalar T>
struct adam_numbers {
    using number = T;
    std::span<T> x, d, mean, square, largest;
    adam_options how;
    bool frozen;
    double first, second;

    template <class V>
    constexpr void at(std::size_t j) const {
        auto const load = [j](std::span<T> from) { return V::load(from.data() + j); };
        auto const all = [](double v) { return V::all(static_cast<T>(v)); };
        // Products are rounded before they are added to: the same bits for every processor.
        V const here = load(x), kept_mean = rounded_product(all(how.beta1), load(mean));
        V g = load(d), m = g, v = load(square);
        if (!how.decoupled) g = g + rounded_product(all(how.weight_decay), here);
        if (how.freeze_after > 0)
            g = (m - kept_mean) / all(1 - how.beta1);
        else
            m = kept_mean + rounded_product(all(1 - how.beta1), g);
        if (!frozen) v = rounded_product(all(how.beta2), v) + rounded_product(all(1 - how.beta2) * g, g);
        m.store(mean.data() + j);
        v.store(square.data() + j);
        if (how.amsgrad) {
            v = raised_to(load(largest), v);
            v.store(largest.data() + j);
        }
        double const kept = how.decoupled ? 1 - simd::rounded_product(how.rate, how.weight_decay) : 1;
        V const move = all(how.rate) * (m / all(first)) / (root(v) / all(second) + all(how.epsilon));
        (rounded_product(all(kept), here) - move).store(x.data() + j);
    }
    constexpr void operator()(std::size_t j) const { at<simd::single<T>>(j); }
};

/// A step of rmsprop, for the numbers of a vector V from j on.
template <Scalar T>
struct rmsprop_numbers {
    using number = T;
    std::span<T> x, d, squares;
    T rate, decay, epsilon;

    template <class V>
    constexpr void at(std::size_t j) const {
        V const g = V::load(d.data() + j), kept = rounded_product(V::all(decay), V::load(squares.data() + j));
        V const s = kept + rounded_product(V::all(1 - decay), g * g);
        s.store(squares.data() + j);
        (V::load(x.data() + j) - V::all(rate) * g / root(s + V::all(epsilon))).store(x.data() + j);
    }
    constexpr void operator()(std::size_t j) const { at<simd::single<T>>(j); }
};

}  // namespace detail

/// Adam (Kingma, Ba, ICLR 2015, algorithm 1), each coordinate by itself; with m = v = 0 at the start, in the t-th step,
/// counted from 1:
///     m <- beta1 m + (1 - beta1) d,   v <- beta2 v + (1 - beta2) d^2,
///     x <- x - rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon).
/// - amsgrad (Reddi, Kale, Kumar, ICLR 2018): the largest v so far takes the place of v in x. The bias is corrected, as
///   PyTorch does; the paper does not.
/// - weight_decay: first d <- d + weight_decay x; or, decoupled (AdamW, Loshchilov, Hutter, ICLR 2019), which leaves m
///   and v alone, x <- (1 - rate weight_decay) x.
/// - without bias_correction, m and v are used with their bias: FedAdam's step on the mean of the ranks' moves (Reddi
///   et al., ICLR 2021), whose v is 0 at the start here.
/// - freeze_after N (1-bit Adam, Tang et al., ICML 2021): d is the new m in all steps, as error feedback with a common
///   momentum of beta1 gives it, so that (d - beta1 m) / (1 - beta1) takes the place of d in v. After N steps v and its
///   correction stay as they are. The reduction is to be dense in the first N steps.
/// Reads 4 vectors and writes 3, with amsgrad 5 and 4. State: m, v, with amsgrad the largest v, and t.
template <Scalar T = double, class B = host>
class adam {
  public:
    explicit adam(double rate) : adam(adam_options{.rate = rate}) {}
    /// Throws argument_error unless beta1 and beta2 are in [0, 1), epsilon is above 0 in T, the others are at least 0,
    /// and all are finite; and for freeze_after with a weight decay that is not decoupled.
    explicit adam(adam_options how = {}) : how_(how) {
        detail::require_factor("adam", "beta1", how.beta1);
        detail::require_factor("adam", "beta2", how.beta2);
        detail::require_above_0("adam", "epsilon", static_cast<double>(static_cast<T>(how.epsilon)));
        detail::check_fields(how);
        if (how.freeze_after > 0 && how.weight_decay > 0 && !how.decoupled)
            throw argument_error("adam: with freeze_after a weight decay is decoupled, as d is a mean");
    }

    void operator()(B& on, std::span<T> x, std::span<T> d) {
        LACONIC_EXPECTS(d.size() == x.size());
        mean_.resize(x.size());
        square_.resize(x.size());
        if (how_.amsgrad) largest_.resize(x.size());
        bool const frozen = how_.freeze_after > 0 && taken_ >= how_.freeze_after;
        double const t = static_cast<double>(++taken_), moved = frozen ? static_cast<double>(how_.freeze_after) : t;
        double const first = how_.bias_correction ? 1 - std::pow(how_.beta1, t) : 1;
        double const second = how_.bias_correction ? std::sqrt(1 - std::pow(how_.beta2, moved)) : 1;
        at_each_index(on, x.size(),
                      detail::adam_numbers<T>{x, d, mean_, square_, largest_, how_, frozen, first, second});
    }

    double rate() const { return how_.rate; }
    /// m and v; empty before the first step. Between steps they may be set, such as to their means over all ranks,
    /// which train with steps of their own (DES-LOC, Iacob et al., 2025).
    std::span<T const> mean() const { return mean_; }
    std::span<T const> square() const { return square_; }
    std::span<T> mean() { return mean_; }
    std::span<T> square() { return square_; }

    void state(auto& archive) {
        archive(taken_);
        if (how_.amsgrad)
            archive.vectors(mean_, square_, largest_);
        else
            archive.vectors(mean_, square_);
    }
    friend std::string to_string(adam const& s) { return to_string(s.how_); }

  private:
    adam_options how_;
    std::uint64_t taken_ = 0;
    typename B::template array<T> mean_, square_, largest_;
};

/// RMSProp (Tieleman, Hinton 2012): s <- decay s + (1 - decay) d^2, x <- x - rate d / sqrt(s + epsilon), number by
/// number. s is 1 at the start, and the defaults are TensorFlow's. Reads 3 vectors and writes 2.
template <Scalar T = double, class B = host>
class rmsprop {
  public:
    /// Throws argument_error unless decay is in [0, 1) and epsilon is above 0 and finite.
    explicit rmsprop(double rate = 1e-3, double decay = 0.9, double epsilon = 1e-10)
        : rate_(static_cast<T>(rate)), decay_(static_cast<T>(decay)), epsilon_(static_cast<T>(epsilon)) {
        if (!(decay >= 0 && decay < 1 && epsilon_ > 0 && std::isfinite(epsilon_)))
            throw argument_error(
                {"rmsprop: decay = ", decay, ", epsilon = ", epsilon, " are outside [0, 1) and (0, oo)"});
    }

    void operator()(B& on, std::span<T> x, std::span<T> d) {
        if (squares_.size() == 0) squares_.assign(x.size(), T(1));
        LACONIC_EXPECTS(d.size() == x.size() && squares_.size() == x.size());
        at_each_index(on, x.size(), detail::rmsprop_numbers<T>{x, d, squares_, rate_, decay_, epsilon_});
    }

    double rate() const { return double{rate_}; }
    /// s; empty before the first step.
    std::span<T const> square() const { return squares_; }
    void state(auto& archive) { archive.vectors(squares_); }
    friend std::string to_string(rmsprop const& s) {
        return detail::concat({"rmsprop(", double{s.rate_}, ", ", double{s.decay_}, ", ", double{s.epsilon_}, ")"});
    }

  private:
    T rate_, decay_, epsilon_;
    typename B::template array<T> squares_;
};

}  // namespace laconic
