// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/optim/step.hpp"
#include "laconic/reducer.hpp"
#include "laconic/wire/state.hpp"

namespace laconic {

/// One call after every H local steps, in a training loop whose ranks communicate rarely (local SGD, FedAvg, DiLoCo,
/// SparseLoCo and their kin): it takes the rank's own model after these steps, and replaces it by the model that all
/// ranks agree on.
///
///     laconic::momentum<float> nesterov({.rate = 0.7, .beta = 0.9, .nesterov = true});
///     laconic::outer_reducer outer(laconic::plain{}, comm, model, nesterov);   // DiLoCo
///     for (;;) {
///         for (int h = 0; h < 30; ++h) adam.step(model, gradient(model));
///         outer(model);
///     }
///
/// With x the last agreed model, y_i that of rank i, and a reducer,
///     d = the reducer's estimate of mean_i(x - y_i),    x <- step(x, d),    y_i <- x ,
/// so that x - y_i, the outer gradient, takes the place of a gradient. The step gradient_step{1}, which is the default,
/// makes x the mean of the y_i: local SGD, and with the ranks' weights FedAvg (McMahan et al., AISTATS 2017); momentum
/// makes it SlowMo (Wang, Tantia, Ballas, Rabbat, ICLR 2020), Nesterov's form of it DiLoCo (Douillard et al., 2023),
/// Adam without a correction of its bias FedAdam (Reddi et al., ICLR 2021). The state of the local optimizer stays with
/// its rank and is not averaged.
///
/// Or several vectors, layers, whose messages travel while the next ones are made. Local steps may go on between
/// start() and finish() (Streaming DiLoCo; Douillard et al., 2025): start() takes what is to be sent out of the model,
/// and finish() only then writes into it. For parts of a model that take turns make one outer_reducer for each part.
/// Where a model has 16-bit numbers, x is kept in float, and the model gets x rounded to 16 bits.
///
/// Every rank makes one, with the same arguments, and makes the same calls. A round is a transaction, as a step of the
/// reducer is: where finish() throws, x, the step's state and the ranks' models are on all ranks as they were. Memory:
/// 2 d numbers, the step's and the reducer's. Cost beside these: 2 passes over the model.
template <class R, class C, class S = gradient_step, Scalar T = float, class B = host>
class outer_reducer : detail::can_be_reduced<R, C, T, B> {
    static_assert(
        Step<S, T, B>,
        "the step of an outer_reducer moves a vector: step(on, x, d), as gradient_step, momentum and those of "
        "optim/ do");

  public:
    /// For one vector: model <- rank 0's model on all ranks, which is x from then on. Throws as the reducer's
    /// constructor and begin() do.
    template <detail::MakesReduction<R> How = R, class X>
    [[gnu::cold]] outer_reducer(How const& how, detail::comm_argument<C> comm, X& model, S step = {},
                                reducer_options const& options = {}, B on = {})
        : outer_reducer(how, comm, detail::layers_from<T>(model), std::move(step), options, std::move(on)) {
        begin(0, model);
    }
    /// For layers, of which each needs begin() before its first start(). Throws as the reducer's constructor does, and
    /// argument_error for options with on_non_finite::propagate, or under which layers may be absent: a round in which
    /// a number is not finite, or a layer is missing, is an error on all ranks.
    template <detail::MakesReduction<R> How = R>
    [[gnu::cold]] outer_reducer(How const& how, detail::comm_argument<C> comm, std::vector<layer> const& layers,
                                S step = {}, reducer_options const& options = {}, B on = {})
        : step_(std::move(step)), reduce_(how, comm, layers, refused(options), std::move(on)) {
        std::size_t d = 0;
        for (auto const& l : layers) parts_.push_back({d, l.size}), d += l.size;
        if constexpr (requires { step_.check(d); }) step_.check(d);
        x_.resize(d), delta_.resize(d);
    }

    /// The agreed model of this layer <- rank 0's, and so the model of all ranks: before the first round, or later,
    /// to give all ranks rank 0's model again. Throws argument_error for a layer that does not exist and during a
    /// round, shape_error for a model of another length, agreement_error on all ranks where their lengths or outer
    /// steps differ. A collective call.
    template <class X>
    void begin(std::size_t l, X&& model) {
        if constexpr (detail::takes<T, X>()) {
            detail::caller_vector const y(detail::view(model));
            check(l);
            broadcast(y);
            if (y.size() != parts_[l].size)
                throw shape_error({"layer ", l, " of this outer_reducer has ", parts_[l].size, " numbers, and the ",
                                   "model ", y.size()});
            copy(on_, y.as_numbers(of(delta_, l)), of(x_, l));
            parts_[l].begun = true;
        }
    }

    /// A round of a model that is one vector: start() and finish().
    template <class X>
    void operator()(X&& model, step_options const& options = {}) {
        if (parts_.size() != 1)
            throw argument_error({"this outer_reducer has ", parts_.size(),
                                  " layers: call start(layer, model) for each of them, and then finish()"});
        start(0, std::forward<X>(model), options);
        finish();
    }

    /// Starts the round of this layer: its message is x less the model, compressed. The model may go on changing; its
    /// memory must stay until finish(), which writes into it. `options.weight` is this rank's in the mean, such as the
    /// number of its samples. Throws argument_error for a layer that does not exist or has no model yet; finish()
    /// throws all other errors, on all ranks, such as compression_error for a model of another length.
    template <class X>
    void start(std::size_t l, X&& model, step_options const& options = {}) {
        if constexpr (detail::takes<T, X>()) {
            detail::caller_vector const y(detail::view(model));
            check(l);
            if (!parts_[l].begun)
                throw argument_error(
                    {"layer ", l, " of this outer_reducer has no model yet: call begin(", l, ", model) on all ranks"});
            if (y.size() != parts_[l].size)
                return reduce_.step().start(l, y, options);  // which finish() refuses on all ranks
            std::span<T> const delta = of(delta_, l);
            compensate(on_, T(-1), y.as_numbers(delta), std::span<T const>(), T(1), agreed(l), delta);
            reduce_.start(l, delta, options);
            parts_[l].model = y;
        }
    }

    /// Ends the round: x takes its step, and each layer's model becomes keep times itself plus (1 - keep) times x. keep
    /// is in [0, 1); it differs from 0 only in Streaming DiLoCo, where part of the local steps since start() is to
    /// stay. With keep > 0 the fixed point is farther from the optimum if the ranks' data differ. Throws argument_error
    /// for another keep, and the round goes on; and what the reducer's finish() throws, which ends it.
    void finish(double keep = 0) {
        if (!(keep >= 0 && keep < 1)) throw argument_error({"finish: keep = ", keep, " is outside [0, 1)"});
        reduce_.finish();
        step_(on_, std::span<T>(x_), std::span<T>(delta_));
        for (std::size_t l = 0; l < parts_.size(); ++l) {
            auto const& y = parts_[l].model;
            if (keep == 0) {
                y.assign(on_, agreed(l));
                continue;
            }
            std::span<T> const mixed = of(delta_, l);
            compensate(on_, static_cast<T>(keep), y.as_numbers(mixed), std::span<T const>(), static_cast<T>(1 - keep),
                       agreed(l), mixed);
            y.assign(on_, std::span<T const>(mixed));
        }
    }

    /// Drops a round: nothing changes. Every rank must drop it.
    void drop() { reduce_.drop(); }

    /// x of this layer, the agreed model: the one to evaluate and to keep.
    std::span<T const> agreed(std::size_t l = 0) const { return check(l), of(x_, l); }
    /// The outer step, with its state.
    S const& step() const { return step_; }
    /// The number of rounds that have succeeded, and what the reducer has done.
    std::uint64_t rounds() const { return reduce_.steps(); }
    reducer_statistics statistics() const { return reduce_.statistics(); }
    /// The reducer of the differences x - y_i, such as for its residuals.
    reducer<R, C, T, B> const& reduction() const { return reduce_; }

    /// The state of this rank between two rounds: x, the step's state, and the reducer's. The local optimizer's state
    /// is the caller's. Throws argument_error during a round.
    std::vector<std::byte> save() {
        auto of_reducer = reduce_.save();
        wire::state_writer to(owner(), on_);
        to.of_any_length(of_reducer);
        own_state(to);
        return to.finish();
    }
    /// Restores what save() wrote on this rank; then the models of the ranks are to be set from agreed(). All ranks
    /// restore; where one does not, the next finish() throws agreement_error on all of them unless that rank has
    /// made as many rounds. Throws shape_error for the state of a model of another length, of another outer step, or of
    /// another reduction, wire_error for damaged bytes, argument_error during a round; then nothing has changed.
    void restore(std::span<std::byte const> saved) {
        restore_own(saved, [&] { reduce_.restore(std::span<std::byte const>(state_of_reducer(saved))); });
    }
    /// The same from the states of all ranks, in their order, on every rank, over as many ranks or others: x and the
    /// step's state are those of the first, and the means of the residuals and of the shifts are kept.
    void restore(std::span<std::vector<std::byte> const> saved) {
        if (saved.empty()) throw argument_error("restore: there is no state");
        std::vector<std::vector<std::byte>> all;
        for (auto const& s : saved) all.push_back(state_of_reducer(s));
        restore_own(saved[0], [&] { reduce_.restore(std::span<std::vector<std::byte> const>(all)); });
    }
    /// Goes on over other ranks, such as those that are left after a comm_error, with x and the step's state of the new
    /// rank 0; it drops a round in progress. Throws as the reducer's rebind() does.
    void rebind(detail::comm_argument<C> comm) {
        reduce_.rebind(comm);
        wire::state_writer to(owner(), on_);
        own_state(to);
        auto bytes = to.finish();
        broadcast(detail::caller_vector(std::span<T>()));
        std::uint64_t size = bytes.size();  // of a rank that has missed the first round, less
        reduce_.step().take(std::as_writable_bytes(std::span(&size, 1)), 0);
        bytes.resize(size);
        reduce_.step().take(bytes, 0);
        wire::state_reader from(bytes, owner(), x_.size(), on_);
        own_state(from), from.rewind(), own_state(from);
    }

  private:
    struct part {
        std::size_t first, size;
        bool begun = false;
        detail::caller_vector model{};  // of the last start()
    };

    static reducer_options const& refused(reducer_options const& o) {
        if (o.non_finite == on_non_finite::propagate)
            throw argument_error({"an outer_reducer raises an error for numbers that are not finite: with ",
                                  "on_non_finite::propagate the agreed model would be lost"});
        if (o.missing_layer != on_missing_layer::raise || o.skip_zero_layers)
            throw argument_error({"an outer_reducer takes all layers in each round: missing_layer and ",
                                  "skip_zero_layers stay at their defaults"});
        return o;
    }
    void broadcast(detail::caller_vector const& x) {
        reduce_.step().broadcast(x, 0, {{"the outer step", to_string(step_)}});
    }
    void check(std::size_t l) const {
        if (l >= parts_.size())
            throw argument_error({"there is no layer ", l, ": this outer_reducer has ", parts_.size()});
    }
    // What a state begins with, so that another outer_reducer refuses it.
    std::string owner() const {
        return detail::concat({"outer_reducer of ", x_.size(), " numbers\nthe outer step: ", to_string(step_)});
    }
    // The part of this layer of a vector of all of them.
    auto of(auto& all, std::size_t l) const { return std::span(all).subspan(parts_[l].first, parts_[l].size); }
    void own_state(auto& archive) {
        archive.vectors(x_);
        archive(step_);
        for (part& p : parts_) archive(p.begun);
    }
    std::vector<std::byte> state_of_reducer(std::span<std::byte const> saved) {
        std::vector<std::byte> bytes;
        wire::state_reader from(saved, owner(), x_.size(), on_);
        from.skip_checks();
        from.of_any_length(bytes);
        return bytes;
    }
    void restore_own(std::span<std::byte const> saved, auto restore_reducer) {
        std::vector<std::byte> of_reducer;
        wire::state_reader from(saved, owner(), x_.size(), on_);
        auto const walk = [&] { from.of_any_length(of_reducer), own_state(from); };
        walk(), from.rewind();
        restore_reducer();
        walk();
    }

    [[no_unique_address]] B on_{};  // beside the reducer's
    S step_;
    reducer<R, C, T, B> reduce_;
    std::vector<part> parts_;
    typename B::template array<T> x_, delta_;
};

template <class How, class C, class X, class S = gradient_step, class B = host>
outer_reducer(How const&, C&&, X const&, S = {}, reducer_options const& = {}, B = {})
    -> outer_reducer<detail::reduction_from<How, C, X>, detail::comm_from<How, C, X>, S, detail::number_from<How, C, X>,
                     B>;
template <class How, class C, class S = gradient_step, class B = host>
outer_reducer(How const&, C&&, std::vector<layer> const&, S = {}, reducer_options const& = {}, B = {})
    -> outer_reducer<detail::reduction_from<How, C>, detail::comm_from<How, C>, S, detail::number_from<How, C>, B>;

}  // namespace laconic
