// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "laconic/optim/sr1.hpp"
#include "laconic/transport/full_mean.hpp"

namespace laconic {

/// What of the pairs (S, Y) travels in a round of ds_lsr1, in numbers that a rank brings to sums over all ranks:
///   ship_y         Y, m d; S is drawn everywhere from the round's shared key, as in those below;
///   ship_s_and_y   the baseline: before that rank 0 sends S, m d, to all;
///   ship_m         S'Y, m^2, and for each product with B in the search Psi'p and Psi u, m + d;
///   gram           Y, of whose sum each rank gets one P-th of the coordinates, the products of these parts with each
///                  other, 2 m^2 + m + 1, and one P-th of the step: the search runs on coefficients of g and Psi.
enum class curvature_transport { ship_y, ship_s_and_y, ship_m, gram };
constexpr std::array<std::string_view, 4> words_of(curvature_transport) {
    return {"ship_y", "ship_s_and_y", "ship_m", "gram"};
}

namespace detail {

/// The pairs of ds_lsr1 on one rank, and the search in the model that all ranks' pairs make. Reuses its memory.
template <class X, Scalar T>
class shared_pairs {
    using mean_type = full_mean<X, T>;

  public:
    shared_pairs(X const& over, curvature_transport how, std::size_t d, std::size_t m, double gamma)
        : how_(how),
          pairs_(d, m, gamma),
          curvature_(over, in_full()                            ? m * d
                           : how == curvature_transport::ship_m ? m * m
                                                                : sr1_span<T>::size(m)),
          inner_(m * m),
          u_(m) {
        if (how == curvature_transport::ship_m) projections_.emplace(over, m), images_.emplace(over, d);
        if (how == curvature_transport::gram) parts_.emplace(d, m), span_.emplace(m);
    }
    /// use(mean) for each sum over the ranks.
    void each_mean(auto use) {
        use(curvature_);
        if (projections_) use(*projections_), use(*images_);
    }
    sr1<T> const& pairs() const { return pairs_; }

    /// Draws directions, multiplies them by this rank's Hessian, times(s, out), and shares what is to be shared; g is
    /// the mean gradient. A product that is not finite is named by its coordinate of x.
    void share(host& on, Communicator auto& comm, round_context const& at, std::span<T const> g, auto times) {
        bool const sends_s = how_ == curvature_transport::ship_s_and_y, draws = !sends_s || comm.rank() == 0;
        if (draws) pairs_.draw(on, at.shared);
        if (sends_s) {
            sink_.clear();
            if (draws) put_numbers(sink_, pairs_.s());
            comm.broadcast(0, {sink_.finish()});
        }
        auto const multiply_all = [&](failure& own) {
            if (!draws) {
                wire::bit_reader source(comm.from(0).bytes);
                take_numbers(source, pairs_.s());
                source.finish();
            }
            pairs_.multiply(on, times);
            std::span<T const> const all = pairs_.psi();
            if (auto const j = first_non_finite(on, all); j < all.size()) own = failure::not_finite(j % g.size());
        };
        std::span<T> const inner(inner_);
        if (in_full()) {
            curvature_(on, comm, at, pairs_.psi(), multiply_all);
            pairs_.inner(on, inner);
        } else if (how_ == curvature_transport::ship_m) {
            curvature_(on, comm, at, inner, [&](failure& own) {
                multiply_all(own);
                pairs_.inner(on, inner);
            });
        } else {
            parts_->scatter(on, comm, at, pairs_.psi(), multiply_all);
            curvature_(on, comm, at, span_->products(), [&](failure&) {
                parts_->raise();
                span_->multiply(on, parts_in(comm, pairs_.s()), parts_in(comm, pairs_.psi()), parts_->part(comm, g));
            });
            multiply(on, static_cast<T>(comm.size()), span_->products());  // the parts' sum is sought, not their mean
            copy(on, std::span<T const>(span_->products()).first(inner.size()), inner);
        }
        pairs_.accept(on, inner);
    }

    /// Writes the step of the search from the mean gradient g, within the radius and down to a residual of min(forcing,
    /// sqrt |g|) |g|: the same on all ranks.
    steihaug_result search(host& on, Communicator auto& comm, round_context const& at, std::span<T const> g,
                           double radius, double forcing, std::span<T> step) {
        auto const limits = [&](double norm) -> steihaug_limits {
            return {radius, std::min(forcing, std::sqrt(norm)) * norm,
                    2 * std::min(g.size(), pairs_.accepted().size() + 1)};
        };
        if (span_) {
            auto const found = span_->search(on, pairs_, limits);
            span_->combine(on, parts_in(comm, pairs_.psi()), parts_->part(comm, g), parts_->part(comm, step));
            parts_->gather(comm, step);
            return found;
        }
        auto const summed = [&](auto& mean, std::span<T> x) {
            return [&, x](auto make) { mean ? (*mean)(on, comm, at, x, [&](failure&) { make(); }) : make(); };
        };
        auto const apply = [&](std::span<T const> v, std::span<T> out) {
            pairs_.times(on, v, std::span<T>(u_), out, summed(projections_, std::span<T>(u_)), summed(images_, out));
        };
        return search_(on, g, step, limits(std::sqrt(sum_of_squares(on, g))), apply);
    }

  private:
    bool in_full() const { return how_ == curvature_transport::ship_y || how_ == curvature_transport::ship_s_and_y; }
    // This rank's part of the j-th of m vectors, for each j.
    auto parts_in(auto const& comm, std::span<T> all) const {
        return [this, &comm, all](std::size_t j) -> std::span<T const> {
            return parts_->part(comm, all.subspan(j * pairs_.dimension(), pairs_.dimension()));
        };
    }

    curvature_transport how_;
    sr1<T> pairs_;
    mean_type curvature_;
    std::optional<mean_type> projections_, images_;  // ship_m's
    std::optional<parts_of_mean<T>> parts_;          // gram's, as the next
    std::optional<sr1_span<T>> span_;
    host::array<T> inner_, u_;
    steihaug<T> search_;
    wire::bit_writer sink_;
};

}  // namespace detail
}  // namespace laconic
