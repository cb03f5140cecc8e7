// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "laconic/compress/parts.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/method/diana.hpp"

/// Methods whose workers send random blocks of their gradients, each its own (Mishchenko, Hanzely, Richtarik,
/// arXiv:1901.09437, whose algorithms they are).
namespace laconic {

namespace detail {

inline constexpr char const* blocks_source = "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437";
inline constexpr auto its_tau = [](auto& m) -> auto& { return m.tau; };
inline constexpr auto tau_field = field("tau", its_tau).by_name();
inline constexpr auto its_block = [](auto& m) -> auto& { return m.block; };
inline constexpr auto blocks_field = field("block", its_block).between(1, 1e12).written().by_name();

/// A method with blocks of `block` numbers, of which a worker sends the portion tau, or one in n where it is 0.
class blocks_theory : public theory {
  public:
    rand_block<> blocks;

    blocks_theory(auto const& method, problem const& its_problem)
        : theory(method, its_problem), blocks{method.tau, method.block} {
        if (method.tau.value == 0) blocks.k = std::max(1.0, std::round(number() / p.workers));
        if (p.dimension == 0) return;
        try {
            blocks.check(p.dimension);
        } catch (argument_error const& e) {
            throw argument_error(text({"tau = ", to_string(blocks.k), ": ", e.what()}));
        }
    }
    /// The share of the blocks that is sent.
    double share() const { return static_cast<double>(blocks.k.of(static_cast<std::size_t>(number()))) / number(); }

  private:
    double number() const {
        if (p.dimension == 0) throw lacks({"it needs the dimension, which is not known"});
        return static_cast<double>(pieces_in(p.dimension, blocks.block));
    }
};

// The step of ibcd and ibgd.
double masked_step(theory const& of, auto share) {
    return of.step([&] {
        of.refuse_batch();
        double const tau = share();
        return 1 / (tau * of.smoothness() + (1 - tau) * of.largest_smoothness() / of.p.workers);
    });
}

}  // namespace detail

/// Independent block coordinate descent (algorithm 1): each of n workers sends a random share tau of the blocks of its
/// gradient, unscaled; tau is a fraction of the blocks or their count, 0 means one block in n. Where all grad f_i(x*) =
/// 0 and f_i are convex, any step <= 1 / (tau L + (1 - tau) max L_i / n) gives
///     E|x^k - x*|^2 <= (1 - step tau mu)^k |x^0 - x*|^2 ,
/// and the longest is the default (by co-coercivity; an equality for f_i = |x|^2 / 2). The paper's step n / (2 max L_i
/// (tau n + 2 (1 - tau))), theorem 1, is about a third of it for tau = 1 / n. Elsewhere it stalls: see isega.
struct ibcd {
    portion tau = 0;
    std::size_t block = 256;
    overrides given{};

    template <Scalar T, class B>
    recursion<scaled_down<rand_block<>>, memory<T, B>> compose(problem const& p) const {
        detail::blocks_theory const of(*this, p);
        double const step = detail::masked_step(of, [&] { return of.share(); });
        return {scaled_down{of.blocks}, {}, gradient_step{step}, {}, given.batch};
    }
    bool operator==(ibcd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("ibcd", "g full, C random blocks as they are, alpha 0", detail::blocks_source, detail::tau_field,
                 detail::blocks_field, detail::step_field, detail::batch_field);
    }
};

/// Independent gradient descent by coin (algorithm 3): ibcd with one block, where each of n workers sends all of its
/// gradient with probability tau (0 means 1 / n) and nothing otherwise. Step, rate and assumption are ibcd's (theorem 4
/// there).
struct ibgd {
    double tau = 0;
    overrides given{};

    template <Scalar T, class B>
    recursion<scaled_down<lazy<>>, memory<T, B>> compose(problem const& p) const {
        detail::theory const of(*this, p);
        double const share = tau != 0 ? tau : 1.0 / p.workers;
        double const step = detail::masked_step(of, [&] { return share; });
        return {scaled_down{lazy<>{share}}, {}, gradient_step{step}, {}, given.batch};
    }
    bool operator==(ibgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("ibgd", "g full, C all or nothing as it is, alpha 0", detail::blocks_source,
                 field("tau", &ibgd::tau).between(0, 1).by_name(), detail::step_field, detail::batch_field);
    }
};

/// ISEGA (algorithm 2): each worker sends a random share tau of the blocks, as in ibcd, of the difference of its
/// gradient to its shift; it reaches the optimum of any convex f_i, with a prox too. It is diana with rand_block and
/// memory rate tau = 1 / (1 + omega), bit for bit. With
///     step = min{ 1 / (4 L (1 + 1 / (n tau))), 1 / (mu / tau + 4 L / (n tau)) },    L = max L_i, mu of f,
/// E|x^k - x*|^2 <= (1 - step mu)^k (|x^0 - x*|^2 + step / (2 L tau n) sum |h_i - grad f_i(x*)|^2) (theorem 3 there).
/// The default is the longer of this and diana's step, usually the latter.
struct isega {
    portion tau = 0;
    std::size_t block = 256;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        detail::blocks_theory const of(*this, p);
        double const share = of.share(), omega = 1 / share - 1;
        auto numbers = given;
        numbers.memory = share;
        numbers.step = of.step([&] {
            double const its = detail::diana_step(omega, share, of);
            if (given.batch > 0) return its;
            double const l = p.largest_smoothness, n = p.workers, mu = p.strong_convexity;
            return std::max(its, std::min(1 / (4 * l * (1 + 1 / (n * share))), 1 / (mu / share + 4 * l / (n * share))));
        });
        return diana{of.blocks, numbers}.template compose<T, B>(p);
    }
    bool operator==(isega const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("isega", "g full or mini-batch, C random blocks, alpha tau", detail::blocks_source, detail::tau_field,
                 detail::blocks_field, detail::step_field, detail::batch_field);
    }
};

/// ISAGA with each worker's own data (algorithm 5): ibcd whose gradients come from one row a round and a table of all
/// rows' gradients, renewed on the blocks that are sent (see block_saga, also for its memory). For convex L-smooth
/// f_ij, L = max L_ij, m rows a worker, all grad f_i(x*) = 0, and
///     step = 1 / (L (tau + 4 / n)),        which is n / (5 L) for tau = 1 / n,
/// |x - x*|^2 + (3 / n^2) step^2 sum_ij |table_ij - grad f_ij(x*)|^2 falls in expectation by the factor 1 - tau min{
/// step mu, 1 / (3 m) } a round (theorem 5 there). Give steps up to 1 / (L (tau + 3 / n)), as in the paper's plots,
/// yourself.
struct isaga {
    portion tau = 0;
    std::size_t block = 256;
    overrides given{};

    template <Scalar T, class B>
    recursion<scaled_down<rand_block<>>, memory<T, B>, gradient_step, fixed_level, block_saga<T, B>> compose(
        problem const& p) const {
        detail::blocks_theory const of(*this, p);
        double const step = of.step([&] { return 1 / (of.sample_smoothness() * (of.share() + 4.0 / p.workers)); });
        return {scaled_down{of.blocks}, {}, gradient_step{step}, {}, block_saga<T, B>(of.blocks)};
    }
    bool operator==(isaga const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("isaga", "g by SAGA on the blocks that are sent, C random blocks as they are", detail::blocks_source,
                 detail::tau_field, detail::blocks_field, detail::step_field);
    }
};

/// ISGD (algorithm 6): ibcd with decreasing steps 1 / (a + c t), which also reaches the optimum where the workers
/// differ or take batches of b rows. For convex f_i, with the paper's c = mu tau / 4 and a = 2 (tau + 2 (1 - tau) / n)
/// max L_i, for batches at least half of that + 2 max L_ij / (n b),
///     E|x^t - x*|^2 <= max{ a |x^0 - x*|^2, 4 N / (3 n mu) } / (a + c t),   N = 2 sigma^2 / b + 2 (1 - tau) zeta^2 ,
/// zeta^2 = mean_i |grad f_i(x*)|^2 and sigma^2 the mean variance of a row's gradient at x*, 0 for all rows. This is
/// derived: theorem 6 there bounds f at a weighted mean of the iterates. Tighter is what it comes from,
///     E|x^(t+1) - x*|^2 <= (1 - s tau mu) E|x^t - x*|^2 + s^2 tau N / n,   s = 1 / (a + c t).
/// A step that you give is constant.
struct isgd {
    portion tau = 0;
    std::size_t block = 256;
    overrides given{};

    template <Scalar T, class B>
    recursion<scaled_down<rand_block<>>, memory<T, B>, decreasing_step> compose(problem const& p) const {
        detail::blocks_theory const of(*this, p);
        double c = 0;
        double const step = of.step([&] {
            double const share = of.share();
            double const a = 2 * (share + 2 * (1 - share) / p.workers) * of.largest_smoothness();
            c = of.strong_convexity() * share / 4;
            return 1 / std::max(a, a / 2 + 2 * of.noise_of_batch());
        });
        return {scaled_down{of.blocks}, {}, decreasing_step(1 / step, c), {}, given.batch};
    }
    bool operator==(isgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("isgd", "ibcd with decreasing steps", detail::blocks_source, detail::tau_field, detail::blocks_field,
                 detail::step_field, detail::batch_field);
    }
};

/// IASGD (algorithm 7): accelerated steps along a random share tau of the blocks of each worker's gradient, scaled by 1
/// / tau. It needs strong growth, with a rho >= 1 that you give: mean_i E|g_i(x)|^2 <= rho |grad f(x)|^2 for all x, so
/// that all gradients vanish at x*. The mean of the messages then has growth = 1 + (rho / tau - 1) / n, and with step =
/// 1 / (growth L) and mu > 0
///     f(y) - f* + (mu / 2) |v - x*|^2 falls in expectation by the factor 1 - sqrt(mu / L) / growth a round
/// (Vaswani, Bach, Schmidt, AISTATS 2019; see accelerated_step): for tau >= rho / n that is Nesterov's rate up to a
/// constant.
struct iasgd {
    portion tau = 0;
    std::size_t block = 256;
    double rho = 0;
    overrides given{};

    template <Scalar T, class B>
    recursion<rand_block<>, memory<T, B>, accelerated_step<T, B>> compose(problem const& p) const {
        detail::blocks_theory const of(*this, p);
        if (!(rho >= 1))
            throw of.lacks({"it needs the strong growth rho of the workers' gradients, at least 1; rho = ", rho});
        double const mu = of.strong_convexity(), growth = 1 + (rho / of.share() - 1) / p.workers;
        double const step = of.step([&] { return 1 / (growth * of.smoothness()); });
        return {of.blocks, {}, accelerated_step<T, B>(step, mu, growth), {}, given.batch};
    }
    bool operator==(iasgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("iasgd", "ibcd with accelerated steps, under strong growth rho",
                 "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437; Vaswani, Bach, Schmidt, AISTATS 2019",
                 detail::tau_field, detail::blocks_field, field("rho", &iasgd::rho).by_name(), detail::step_field,
                 detail::batch_field);
    }
};

}  // namespace laconic
