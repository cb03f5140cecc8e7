// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "laconic/comm/topology.hpp"
#include "laconic/estimate/local_solver.hpp"
#include "laconic/session_loop.hpp"

namespace laconic {

/// The loop of ggadmm on one rank, with the shape of descent. Memory: 2 (1 + the most neighbours) + 5 vectors, and the
/// solver's. After its first round it allocates only where the solver does.
template <class M, class F, PointToPoint C, Scalar T>
class gadmm_loop : public session_loop<gadmm_loop<M, F, C, T>, F, C, T> {
    using compressor_type = decltype(M::compressor);
    static_assert(detail::require_compressor<compressor_type, T, host>());
    static_assert(LocalSolver<decltype(M::solver), F, T>, "the solver is none for this objective and these numbers");
    using base = session_loop<gadmm_loop, F, C, T>;
    friend loop_base<gadmm_loop, F, C, T>;
    using base::comm_, base::delta_, base::objective_, base::on_, base::round_, base::sent_, base::session_, base::x_;

  public:
    gadmm_loop(M const& how, F const& objective, C& comm, std::span<T> x, std::uint64_t seed)
        : gadmm_loop(how, graph_schedule(how.among, comm.size(), key{seed}.child(~std::uint64_t{0})), objective, comm,
                     x, seed) {}

    /// Throws non_finite_error on all ranks where a solution or its change is not finite, compression_error where a
    /// solver or compressor throws, wire_error where a message is damaged; then nothing has changed on any rank. After
    /// a comm_error all later calls throw comm_error until a state is restored.
    void round() {
        this->open_round();
        auto const era = schedule_.era_of(round_);
        schedule_.make(era, next_graph_);
        next_known_ = known_;
        if (!(next_graph_ == graph_)) refresh();
        if (next_graph_.is_head(this->me()))
            send_change(), receive_changes();
        else
            receive_changes(), send_change();
        measure();
        this->close_round(2,
                          how_.balance > 0 ? std::as_bytes(std::span(next_residuals_)) : std::span<std::byte const>());
        double const rho = how_.balance > 0 ? balanced_rho() : rho_;
        commit();
        rho_ = rho;
    }

    /// a_n.
    std::span<T const> dual() const { return dual_; }
    /// q_n: what the neighbours know of this rank's model.
    std::span<T const> known() const { return std::span(known_).first(x_.size()); }
    double rho() const { return rho_; }
    /// After the last round: (sum over the neighbours |q_n - q_m|^2)^(1/2).
    double primal_residual() const { return residuals_[0]; }
    /// After the last round: |rho sum_m (q_m - q_m of the round before)| of a head, 0 of a tail; what is left of the
    /// Lagrangian's gradient.
    double dual_residual() const { return residuals_[1]; }

  private:
    gadmm_loop(M const& how, graph_schedule schedule, F const& objective, C& comm, std::span<T> x, std::uint64_t seed)
        : base(to_string(how), to_string(schedule), objective, comm, x, seed),
          how_(how),
          schedule_(std::move(schedule)),
          solver_(how.solver.template make<T>(x.size())),
          rho_(how.rho),
          dual_(x.size()),
          pull_(x.size()),
          next_(x.size()),
          dual_left_(x.size()) {
        detail::check_fields(how_);
        how_.compressor.check(x.size());
        schedule_.make(schedule_.era_of(0), graph_);
        graph_.require_bipartite();
        auto const models = 1 + schedule_.largest_degree();
        for (std::size_t i = 0; i < models; ++i) known_.insert(known_.end(), x.begin(), x.end());
    }

    // The model of this rank (0) or of its i-th neighbour (i + 1).
    std::span<T> model(std::vector<T>& all, std::size_t i) { return std::span(all).subspan(i * x_.size(), x_.size()); }
    double distance_of(std::span<T const> a, std::span<T const> b) {
        std::span<T> const apart(delta_);
        copy(on_, a, apart);
        add_scaled(on_, T(-1), b, apart);
        return double(kernels::norm_of(on_, p_norm::two, std::span<T const>(apart)));
    }
    // Those who were no neighbours before know nothing of each other's models.
    void refresh() {
        auto const me = this->me();
        auto const before = graph_.neighbours(me), now = next_graph_.neighbours(me);
        new_.clear();
        for (std::size_t i = 0; i < now.size(); ++i) {
            auto const place = std::find(before.begin(), before.end(), now[i]);
            if (place == before.end())
                new_.push_back(now[i]);
            else
                copy(on_, std::span<T const>(model(known_, 1 + static_cast<std::size_t>(place - before.begin()))),
                     model(next_known_, i + 1));
        }
        auto const bits_before = sent_.bits;
        auto const bytes = session_.encode([&](wire::bit_writer& sink) { put_numbers(sink, known()); }).finish();
        this->send(new_, bytes);
        for (std::size_t i = 0; i < now.size(); ++i)
            if (std::find(new_.begin(), new_.end(), now[i]) != new_.end())
                this->receive(now[i],
                              [&](wire::bit_reader& source) { take_numbers(source, model(next_known_, i + 1)); });
        ++sent_.refreshes;
        sent_.refresh_bits += sent_.bits - bits_before;
        sent_.slot_count += 2;  // heads and tails
    }

    void send_change() {
        auto const neighbours = next_graph_.neighbours(this->me());
        auto bytes = this->encode(
            how_.compressor, std::span<T const>(delta_), [&] { solve(neighbours); }, message_);
        auto const own = model(next_known_, 0);
        if (!bytes.empty()) add_message(on_, own, T(1), message_);
        double const least = how_.censor * std::pow(how_.censor_decay, static_cast<double>(round_ + 1));
        if (how_.censor > 0 && distance_of(own, known()) < least) {
            copy(on_, known(), own);
            bytes = {};
        }
        this->send(neighbours, bytes);
    }
    void solve(std::span<int const> neighbours) {
        copy(on_, std::span<T const>(dual_), std::span<T>(pull_));
        for (std::size_t i = 1; i <= neighbours.size(); ++i)
            add_scaled(on_, static_cast<T>(-rho_), std::span<T const>(model(next_known_, i)), std::span<T>(pull_));
        copy(on_, std::span<T const>(x_), std::span<T>(next_));
        solver_.solve(on_, *objective_, rho_ * static_cast<double>(neighbours.size()), std::span<T const>(pull_),
                      this->now(), std::span<T>(next_));
        copy(on_, std::span<T const>(next_), std::span<T>(delta_));
        add_scaled(on_, T(-1), known(), std::span<T>(delta_));
    }

    void receive_changes() {
        auto const neighbours = next_graph_.neighbours(this->me());
        fill(on_, std::span<T>(dual_left_), T(0));
        for (std::size_t i = 0; i < neighbours.size(); ++i)
            this->receive(neighbours[i], how_.compressor, theirs_, [&](auto const& m) {
                add_message(on_, model(next_known_, i + 1), T(1), m);
                if (next_graph_.is_head(this->me()))
                    add_message(on_, std::span<T>(dual_left_), static_cast<T>(-rho_), m);
            });
    }

    void measure() {
        next_residuals_ = {0, double(kernels::norm_of(on_, p_norm::two, std::span<T const>(dual_left_)))};
        for (std::size_t i = 1; i <= next_graph_.degree(this->me()); ++i)
            next_residuals_[0] =
                std::hypot(next_residuals_[0], distance_of(model(next_known_, 0), model(next_known_, i)));
    }
    // From the residuals that all ranks have sent.
    double balanced_rho() const {
        double primal = 0, dual = 0;
        for (int r = 0; r < comm_->size(); ++r) {
            auto const theirs = detail::value_from<std::array<double, 2>>(*comm_, r, "its residuals");
            primal = std::hypot(primal, theirs[0]);
            dual = std::hypot(dual, theirs[1]);
        }
        primal /= std::sqrt(2.);  // each edge has two ends
        return primal > how_.balance * dual ? 2 * rho_ : dual > how_.balance * primal ? rho_ / 2 : rho_;
    }
    void commit() {
        auto const degree = next_graph_.degree(this->me());
        std::span<T> const dual(dual_);
        auto const share = static_cast<T>(how_.dual_step * rho_);
        for (std::size_t i = 1; i <= degree; ++i) {
            add_scaled(on_, share, std::span<T const>(model(next_known_, 0)), dual);
            add_scaled(on_, -share, std::span<T const>(model(next_known_, i)), dual);
        }
        residuals_ = next_residuals_;
        copy(on_, std::span<T const>(next_), x_);
        known_.swap(next_known_);
        std::swap(graph_, next_graph_);
        solver_.commit();
    }

    void state(auto& archive) { archive(rho_, dual_, known_, solver_); }
    void recover() {
        schedule_.make(schedule_.era_of(round_ == 0 ? 0 : round_ - 1), graph_);
        residuals_ = {};
        base::recover();  // last: making the graph may throw
    }

    M how_;
    graph_schedule schedule_;
    decltype(std::declval<M>().solver.template make<T>(0)) solver_;
    double rho_;
    std::array<double, 2> residuals_{}, next_residuals_{};  // the primal one and the dual one
    graph graph_, next_graph_;
    std::vector<T> known_, next_known_;  // of this rank, then of its neighbours
    std::vector<T> dual_, pull_, next_, dual_left_;
    detail::message_of<compressor_type, T> message_, theirs_;
    std::vector<int> new_;
};

}  // namespace laconic
