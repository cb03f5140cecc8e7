// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "laconic/adapt/level.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/core/text.hpp"
#include "laconic/exchange/agreement.hpp"
#include "laconic/exchange/by_gather.hpp"
#include "laconic/feedback/memory.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/optim/gradient_step.hpp"
#include "laconic/wire/kind.hpp"

namespace laconic {

/// One method, as the parts and numbers of the one equation:
///
///     news_i = scale g_i - h_i + e_i           m_i = C(news_i)
///     e_i   <- news_i - m_i  if keep_unsaid    h_i <- h_i + memory_rate m_i
///     d      = mean_i(h_i + m_i)               x <- step(x, d)
///
/// The named methods of method/ fill one in from the theorems; change any part of what they give as you like.
template <class C, class S = gradient_step, class L = fixed_level>
struct recursion {
    C compressor;
    double memory_rate = 0;
    bool keep_unsaid = false;
    double scale = 1;
    S step{};
    L level{};
};

/// What an observer is shown: the iterate x^k before round k, and this rank's own gradient and value there.
template <class F, Scalar T>
struct standing {
    std::uint64_t round;
    std::span<T const> x, gradient;
    F const* objective;
    double const* known_value;

    /// f_i(x^k), this rank's share; costs a pass over the data unless the objective is fused.
    double value() const { return known_value ? *known_value : static_cast<double>(objective->value(x)); }
};

/// A recursion, or a type of your own with the same members.
template <class R>
concept Recursion = std::movable<R> && requires(R r) {
    r.compressor;
    r.step;
    r.level;
    { r.memory_rate } -> std::convertible_to<double>;
    { r.scale } -> std::convertible_to<double>;
    { r.keep_unsaid } -> std::convertible_to<bool>;
};

/// The loop of every method, on one rank. Each rank makes one, with the same recursion, seed and starting point, and
/// calls the same members in the same order. After its first round it allocates nothing.
template <Recursion R, class F, Communicator C, Scalar T = double, class B = host>
class descent {
    static_assert(Objective<F, T>,
                  "an objective needs dimension(), value(x) and gradient(x, g), const, for spans of x's numbers");

  public:
    using compressor_type = decltype(R::compressor);
    using message_type = message_of<compressor_type, T, B>;

    /// x is the starting point, is moved in place and must outlive this. Throws argument_error where the compressor
    /// does not suit the dimension, shape_error on every rank where ranks disagree on composition, dimension, seed or
    /// x.
    descent(R method, F const& objective, C& comm, std::span<T> x, std::uint64_t seed, B on = {},
            position_code positions = position_code::smallest)
        : method_(std::move(method)),
          objective_(&objective),
          comm_(&comm),
          x_(x),
          seed_{seed},
          on_(std::move(on)),
          memory_(x.size(), method_.memory_rate, method_.keep_unsaid),
          exchange_(positions),
          news_(x.size()),
          mean_(x.size()) {
        if (x.size() != static_cast<std::size_t>(objective.dimension()))
            throw shape_error("x has " + std::to_string(x.size()) + " numbers, the objective's dimension is " +
                              std::to_string(objective.dimension()));
        if (x.size() > largest_dimension) throw argument_error("more than 2^32 - 1 dimensions");
        method_.compressor.check(x.size());
        require_agreement(comm, {{"the dimension", std::to_string(x.size())},
                                 {"the bytes of a number", std::to_string(sizeof(T))},
                                 {"the version of the wire format", std::to_string(wire_version)},
                                 {"the compressor", to_string(method_.compressor)},
                                 {"the memory rate", shortest(method_.memory_rate)},
                                 {"whether errors are kept", method_.keep_unsaid ? "yes" : "no"},
                                 {"the scale", shortest(method_.scale)},
                                 {"the step", described(method_.step)},
                                 {"the level", described(method_.level)},
                                 {"the seed", std::to_string(seed)},
                                 {"the starting point", digest(std::as_bytes(std::span<T const>(x)))}});
    }

    /// Evaluates this rank's gradient at x^k; the next round() uses it.
    standing<F, T> look() {
        if (!looked_) {
            if constexpr (FusedObjective<F, T>)
                value_ =
                    static_cast<double>(objective_->value_and_gradient(std::span<T const>(x_), std::span<T>(news_)));
            else
                objective_->gradient(std::span<T const>(x_), std::span<T>(news_));
            looked_ = true;
        }
        return {round_, x_, news_, objective_, FusedObjective<F, T> ? &value_ : nullptr};
    }

    /// One round: every rank says its message, hears all, and moves x the same way. Throws non_finite_error on every
    /// rank where one's gradient is not finite: that rank has sent a complaint in place of a message, the others'
    /// messages are dropped unread, nothing has changed, and the next round() evaluates the gradient anew.
    void round() {
        look();
        looked_ = false;
        auto const key_of = [&](int rank) { return seed_.child(round_).child(static_cast<std::uint64_t>(rank)); };
        auto const complaint = [&](int rank, std::span<std::byte const> bytes) { throw_complaint(rank, bytes); };
        std::span<T> const news(news_), mean(mean_);

        if (auto const i = first_non_finite(on_, std::span<T const>(news)); i < news.size()) {
            std::uint64_t const where = i;
            exchange_.complain(*comm_, std::as_bytes(std::span(&where, 1)), complaint);
        }
        if (method_.scale != 1) multiply(on_, static_cast<T>(method_.scale), news);
        memory_.before(on_, news);
        method_.level.tune(on_, method_.compressor, std::span<T const>(x_), std::span<T const>(news));
        method_.compressor(on_, std::span<T const>(news), key_of(comm_->rank()), said_);
        exchange_.mean(
            on_, *comm_, said_, [&](int r, message_type& m) { method_.compressor.blank(on_, x_.size(), key_of(r), m); },
            complaint, mean);
        memory_.after(on_, std::span<T const>(news), said_);
        memory_.estimate(on_, mean);
        method_.level.said(on_, std::span<T const>(x_), said_);
        method_.step(on_, x_, mean);
        ++round_;
    }

    std::uint64_t rounds() const { return round_; }
    std::span<T const> x() const { return x_; }
    memory<T, B> const& remembered() const { return memory_; }
    message_type const& said() const { return said_; }

  private:
    template <class Part>
    static std::string described(Part const& part) {
        if constexpr (requires { to_string(part); })
            return to_string(part);
        else
            return "of the user's own making";
    }
    [[noreturn]] void throw_complaint(int rank, std::span<std::byte const> bytes) const {
        std::uint64_t where = 0;
        if (bytes.size() != sizeof where)
            throw comm_error(rank, "rank " + std::to_string(rank) + " complains illegibly");
        std::memcpy(&where, bytes.data(), sizeof where);
        throw non_finite_error(rank, round_, static_cast<std::size_t>(where));
    }

    R method_;
    F const* objective_;
    C* comm_;
    std::span<T> x_;
    key seed_;
    B on_;
    memory<T, B> memory_;
    by_gather<message_type, T, B> exchange_;
    typename B::template array<T> news_, mean_;
    message_type said_;
    std::uint64_t round_ = 0;
    double value_ = 0;
    bool looked_ = false;
};

/// A method of method/: something that fills in a recursion from the constants of a problem.
template <class M, class T = double, class B = host>
concept Method = requires(M const& method, problem const& p) {
    method.template compose<T, B>(p);
};

/// When to stop, and what randomness to use.
struct run_settings {
    std::uint64_t rounds = 1000;
    std::uint64_t seed = 0;
    position_code positions = position_code::smallest;  ///< short messages, or ones that are fast to read
};

/// Runs a recursion, moving x in place; every rank calls it with the same arguments but its own objective. Before each
/// round, and once after the last, `watch(standing)` is called; where it returns a bool, false stops the run, and all
/// ranks must return the same. Returns the number of rounds. Errors as descent's.
template <Recursion R, class F, Communicator C, Contiguous X, class Watch>
std::uint64_t descend(R method, F const& objective, X& x, C& comm, run_settings how, Watch watch) {
    using T = element_of<X>;
    descent<R, F, C, T> run(std::move(method), objective, comm, view(x), how.seed, {}, how.positions);
    for (;;) {
        if constexpr (std::convertible_to<decltype(watch(run.look())), bool>) {
            if (!watch(run.look())) break;
        } else {
            watch(run.look());
        }
        if (run.rounds() == how.rounds) break;
        run.round();
    }
    return run.rounds();
}

/// Runs a named method, its numbers filled in from the constants p of the problem.
template <Method M, class F, Communicator C, Contiguous X, class Watch>
std::uint64_t descend(M const& method, problem const& p, F const& objective, X& x, C& comm, run_settings how,
                      Watch watch) {
    return descend(method.template compose<element_of<X>, host>(p), objective, x, comm, how, std::move(watch));
}

/// The same with the constants that the ranks' objectives know of themselves: L is bounded by the mean of the L_i.
template <Contiguous X, Method M, SmoothObjective<element_of<X>> F, Communicator C, class Watch>
std::uint64_t descend(M const& method, F const& objective, X& x, C& comm, run_settings how, Watch watch) {
    auto const p = agree_on_problem(comm, objective.dimension(), objective.smoothness(), objective.strong_convexity());
    return descend(method, p, objective, x, comm, how, std::move(watch));
}

/// Without a watch.
template <class M, class F, Communicator C, Contiguous X>
std::uint64_t descend(M const& method, F const& objective, X& x, C& comm, run_settings how = {}) {
    return descend(method, objective, x, comm, how, [](auto const&) {});
}
template <class M, class F, Communicator C, Contiguous X>
std::uint64_t descend(M const& method, problem const& p, F const& objective, X& x, C& comm, run_settings how = {}) {
    return descend(method, p, objective, x, comm, how, [](auto const&) {});
}

}  // namespace laconic
