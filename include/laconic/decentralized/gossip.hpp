// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "laconic/collective/mixing.hpp"
#include "laconic/estimate/estimator.hpp"
#include "laconic/session_loop.hpp"

namespace laconic {

/// The loop of choco on one rank, with the shape of descent. Memory: 7 vectors.
template <class M, class F, PointToPoint C, Scalar T>
class choco_loop : public session_loop<choco_loop<M, F, C, T>, F, C, T> {
    using compressor_type = decltype(M::compressor);
    static_assert(detail::require_compressor<compressor_type, T, host>());
    using base = session_loop<choco_loop, F, C, T>;
    friend loop_base<choco_loop, F, C, T>;
    using base::delta_, base::objective_, base::on_, base::round_, base::x_;

  public:
    choco_loop(M const& how, F const& objective, C& comm, std::span<T> x, std::uint64_t seed)
        : base(to_string(how), to_string(how.over), objective, comm, x, seed),
          how_(how),
          estimator_(how.batch),
          known_(x.begin(), x.end()),
          around_(known_),
          next_(x.size()) {}

    /// Throws as the round of gadmm_loop.
    void round() {
        this->open_round();
        auto const me = this->me();
        next_known_ = known_, next_around_ = around_;
        std::span<T> const y(next_), delta(delta_);
        auto const make_delta = [&] {
            estimator_(on_, *objective_, this->now(), std::span<T const>(x_), delta);
            copy(on_, std::span<T const>(x_), y);
            add_scaled(on_, static_cast<T>(-step()), std::span<T const>(delta), y);
            copy(on_, std::span<T const>(y), delta);
            add_scaled(on_, T(-1), known(), delta);
        };
        auto const weigh = [&](double weight) {
            return
                [&, weight](auto const& m) { add_message(on_, std::span<T>(next_around_), static_cast<T>(weight), m); };
        };
        auto const bytes = this->encode(how_.compressor, std::span<T const>(delta), make_delta, message_);
        if (!bytes.empty()) {
            add_message(on_, std::span<T>(next_known_), T(1), message_);
            weigh(how_.over.own_weight(me))(message_);
        }
        this->send(how_.over.neighbours(me), bytes);
        for (int const m : how_.over.neighbours(me))
            this->receive(m, how_.compressor, message_, weigh(how_.over.weight(me, m)));
        this->close_round(1);
        known_.swap(next_known_);
        around_.swap(next_around_);
        add_scaled(on_, static_cast<T>(how_.gamma), std::span<T const>(around_), y);
        add_scaled(on_, static_cast<T>(-how_.gamma), known(), y);
        copy(on_, std::span<T const>(y), x_);
    }

    /// The step of the next round.
    double step() const {
        return how_.decrease == 0 ? how_.step : how_.step / (1 + static_cast<double>(round_) / how_.decrease);
    }
    double gamma() const { return how_.gamma; }
    /// q_n: what the neighbours know of this rank's model.
    std::span<T const> known() const { return known_; }

  private:
    void state(auto& archive) { archive(known_, around_); }

    M how_;
    mini_batch estimator_;
    std::vector<T> known_, around_, next_known_, next_around_;  // around_ is sum_m w_nm q_m
    std::vector<T> next_;
    detail::message_of<compressor_type, T> message_;
};

/// CHOCO-SGD (Koloskova, Stich, Jaggi, ICML 2019, algorithm 2) over any connected graph of ranks, with Metropolis
/// weights w. It minimises the mean of the ranks' objectives. With q_m what all know of x_m, the starting point at
/// first, a round is
///     y_n <- x_n - step_t grad f_n(x_n),    q_n <- q_n + C(y_n - q_n), sent to all neighbours,
///     x_n <- y_n + gamma sum_m w_nm (q_m - q_n).
/// The mean of the x_n moves as gradient descent does, whatever C. With a constant step it ends near the optimum, at
/// the fixed point of decentralized gradient descent; step_t = step / (1 + t / decrease) reaches the optimum. gamma = 0
/// is delta, for contractive C, and step = 0 is 4 / (mu (a + t)) with a = 16 L / mu, for f_n that are mu-strongly
/// convex and L-smooth: it works in practice, and no theorem covers gossip that is as bold. With `proved`, gamma is the
/// one at which the ranks are known to agree fastest (mixing::best_gamma), of the order of gap delta, and the step that
/// of theorem 4 with their rate p, a = max(5 / p, 16 L / mu): some 10 to 100 times as many rounds. Sends one message
/// about d numbers a round, to all neighbours, in one slot; errors as ggadmm.
template <class C = identity>
struct choco {
    C compressor{};
    double step = 0, decrease = 0, gamma = 0;
    std::size_t batch = 0;
    bool proved = false;
    graph over{};  ///< the ring of the ranks where it is empty

    template <Scalar T, class F, class Comm>
    auto start(problem const& p, F const& objective, Comm& comm, std::span<T> x, std::uint64_t seed) const {
        auto how = *this;
        if (how.over.size() == 0) how.over = graph::ring(comm.size());
        if (how.over.size() != comm.size())
            throw argument_error({"a graph of ", how.over.size(), " ranks, among ", comm.size()});
        detail::check_fields(*this);
        how.compressor.check(x.size());
        if (step == 0 || gamma == 0) how.fill_in(p, x.size());
        return choco_loop<choco, F, Comm, T>(how, objective, comm, x, seed);
    }
    bool operator==(choco const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("choco", "gossip among neighbours, compressed differences, no server",
                 "Koloskova, Stich, Jaggi, ICML 2019", field("compressor", &choco::compressor).written(),
                 field("step", &choco::step).between(0, 1e9).by_name(),
                 field("decrease", &choco::decrease).between(0, 1e18).by_name(),
                 field("gamma", &choco::gamma).between(0, 1).by_name(),
                 field("batch", &choco::batch).between(0, 1e9).by_name(), field("proved", &choco::proved).by_name());
    }

  private:
    void fill_in(problem const& p, std::size_t d) {
        double delta = 0;
        if constexpr (Contractive<C>)
            if (is_contractive(compressor)) delta = compressor.delta(d);
        if (!(delta > 0))
            throw theory_error(
                "choco: only a contractive compressor gives gamma and the step; take top_k or scaled_down(rand_k), or "
                "give both");
        if (gamma == 0) gamma = proved ? mixing(over).best_gamma(delta) : delta;
        if (step > 0) return;
        if (!(p.largest_smoothness > 0 && p.least_strong_convexity > 0))
            throw theory_error("choco: its step needs strongly convex f_i and their L and mu; give the step");
        decrease = 16 * p.largest_smoothness / p.least_strong_convexity;
        if (proved) {
            mixing const facts(over);
            double const rate = facts.rate(gamma, delta);
            if (!(rate > 0))
                throw theory_error({"choco: with gamma = ", gamma,
                                    " ranks are not known to agree, and no "
                                    "theorem gives the step; take gamma = ",
                                    facts.best_gamma(delta)});
            decrease = std::max(5 / rate, decrease);
        }
        step = 4 / (p.least_strong_convexity * decrease);
    }
};

/// The loop of pair_gossip on one rank, with the shape of descent. Memory: 7 vectors.
template <class M, class F, PointToPoint C, Scalar T>
class pair_loop : public session_loop<pair_loop<M, F, C, T>, F, C, T> {
    using base = session_loop<pair_loop, F, C, T>;
    friend loop_base<pair_loop, F, C, T>;
    using base::delta_, base::objective_, base::on_, base::session_, base::x_;

  public:
    pair_loop(M const& how, F const& objective, C& comm, std::span<T> x, std::uint64_t seed)
        : base(to_string(how), "random pairs", objective, comm, x, seed),
          how_(how),
          estimator_(how.batch),
          order_(static_cast<std::size_t>(comm.size())),
          velocity_(x.size()),
          mine_(2 * x.size()) {}

    /// Throws as the round of ggadmm.
    void round() {
        this->open_round();
        auto const me = this->me();
        int const other = partner();
        std::span<T> const x = std::span(mine_).first(d()), change = std::span(mine_).last(d()), gradient(delta_);
        this->attempt([&] {
            copy(on_, std::span<T const>(x_), x);
            copy(on_, std::span<T const>(x), change);
            auto now = this->now();
            for (std::uint64_t l = 0; l < how_.local; ++l) {
                now.gradient = this->now().gradient.child(l);
                estimator_(on_, *objective_, now, std::span<T const>(change), gradient);
                add_scaled(on_, static_cast<T>(-how_.step), std::span<T const>(gradient), change);
            }
            add_scaled(on_, T(-1), std::span<T const>(x), change);
            session_.check_input(on_, me, std::span<T const>(change), d());
        });
        theirs_ = mine_;
        if (other != me) {
            this->send(std::span(&other, 1),
                       session_.encode([&](wire::bit_writer& sink) { put_numbers(sink, mine_); }).finish());
            this->receive(other, [&](wire::bit_reader& source) { take_numbers(source, theirs_); });
        }
        this->close_round(1);
        for (std::size_t j = 0; j < d(); ++j) {
            T const apart = (x[j] - theirs_[j]) / 2, mean = (change[j] + theirs_[d() + j]) / 2;
            velocity_[j] = static_cast<T>(how_.momentum) * velocity_[j] + static_cast<T>(how_.outer) * mean -
                           static_cast<T>(how_.pull) * apart;
            x_[j] += velocity_[j];
        }
    }

    /// This rank's partner in the next round: the same draw on all ranks.
    int partner() {
        std::iota(order_.begin(), order_.end(), 0);
        auto const coins = this->now_of(0).shared.child(3);
        for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[coins.below(i, i)]);
        auto const place =
            static_cast<std::size_t>(std::find(order_.begin(), order_.end(), this->me()) - order_.begin());
        return order_[std::min(place ^ 1, order_.size() - 1)];
    }

  private:
    std::size_t d() const { return x_.size(); }
    void state(auto& archive) { archive(velocity_); }

    M how_;
    mini_batch estimator_;
    std::vector<int> order_;
    std::vector<T> velocity_, mine_, theirs_;  // x and its change, of this rank and its partner
};

/// Gossip of random pairs after local steps, in the manner of NoLoCo (Kolehmainen et al., arXiv:2506.10911): no
/// collective call carries numbers. In each round the seed pairs the ranks (of an odd number one is its own partner);
/// with D_n the change of x_n by `local` gradient steps of size `step`, and means over n and its partner,
///     v_n <- momentum v_n + outer mean D - pull (x_n - mean x),    x_n <- x_n + v_n.
/// With the defaults both hold the mean of their results. Sends x_n and D_n in full, 2 d numbers, in one slot; errors
/// as ggadmm, and theory_error without a step, as no theorem gives one.
struct pair_gossip {
    double step = 0;
    std::uint64_t local = 1;
    double momentum = 0, outer = 1, pull = 1;
    std::size_t batch = 0;

    template <Scalar T, class F, class C>
    auto start(problem const&, F const& objective, C& comm, std::span<T> x, std::uint64_t seed) const {
        if (detail::check_fields(*this); step == 0) throw theory_error("pair_gossip: no theorem gives a step");
        return pair_loop<pair_gossip, F, C, T>(*this, objective, comm, x, seed);
    }
    bool operator==(pair_gossip const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("pair_gossip", "local steps, then the mean with a random partner",
                 "Kolehmainen et al., arXiv:2506.10911",
                 field("step", &pair_gossip::step).between(0, 1e9).written().by_name(),
                 field("local", &pair_gossip::local).between(1, 1e9).by_name(),
                 field("momentum", &pair_gossip::momentum).between(0, 1).by_name(),
                 field("outer", &pair_gossip::outer).between(0, 10).by_name(),
                 field("pull", &pair_gossip::pull).between(0, 2).by_name(),
                 field("batch", &pair_gossip::batch).between(0, 1e9).by_name());
    }
};

}  // namespace laconic
