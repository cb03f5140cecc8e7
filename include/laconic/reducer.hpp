// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/reduction/majority_vote.hpp"
#include "laconic/reduction/step.hpp"

namespace laconic {

/// One call in place of the dense all-reduce: it replaces this rank's gradient by an estimate of all ranks' mean
/// gradient.
///
///     laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.01}}, comm, gradient);
///     for (;;) {
///         backward(model, gradient);
///         reduce(gradient);
///         adam.step(model, gradient);
///     }
///
/// Or several vectors, layers, each as soon as its gradient is ready; its message travels while the next is computed:
///
///     laconic::reducer reduce(how, comm, layers_of({784 * 128, 128, 128 * 10, 10}));
///     reduce.start(3, g3), reduce.start(2, g2), reduce.start(1, g1), reduce.start(0, g0);
///     reduce.finish();
///
/// Every rank makes one, with the same reduction, layers and options, and makes the same calls; layers may be started
/// in another order on each rank and in each step. A step is a transaction: where finish() throws, or propagates NaN,
/// all residuals and shifts are on every rank as they were before it, and so are the caller's numbers unless they
/// became NaN. A reducer works over a duplicate of its communicator, if that is Splitting. It can be moved, in
/// mid-step, too; one that was moved from is only destroyed or assigned to. docs/reducer.md has all of this, situation
/// by situation. Memory, beside the reduction's: 2 d numbers, with a shift and numbers of 16 bits or a loss scale 3 d,
/// the messages, of which 8 are in flight at once, and room for d / 4 terms of them. After the first step it allocates
/// only where a collective's lists grow.
template <class R, class C, Scalar T = float, class B = host>
class reducer : detail::can_be_reduced<R, C, T, B> {
  public:
    /// With the reduction `how`, an R, or how(layer) for each layer, as layers differ. Takes a communicator by
    /// reference, and a hierarchy as a copy. For layers of numbers of T, whose index is their position in this list.
    /// Throws argument_error where the reduction does not suit a layer, or two layers have one name; theory_error where
    /// no theorem covers the reduction and no unproved{...} is around it; agreement_error on every rank where ranks
    /// disagree on the reduction, the layers, T, the seed or the options.
    template <detail::MakesReduction<R> How = R>
    [[gnu::cold]] reducer(How const& how, detail::comm_argument<C> comm, std::vector<layer> const& layers,
                          reducer_options options = {}, B on = {})
        : step_(new step_type(
              comm, [&](layer const& of) { return detail::reduction_for<R>(how, of); }, layers, options,
              std::move(on))) {}
    template <detail::MakesReduction<R> How = R>
    reducer(How const& how, detail::comm_argument<C> comm, detail::layer_sizes const& sizes,
            reducer_options options = {}, B on = {})
        : reducer(how, comm, layers_of(sizes), std::move(options), std::move(on)) {}
    /// For one vector: of x numbers, or with the length and the number type of x, which is not kept. Or for what
    /// becomes a list of layers or sizes.
    template <detail::MakesReduction<R> How = R, class X>
    [[gnu::cold]] reducer(How const& how, detail::comm_argument<C> comm, X const& x, reducer_options options = {},
                          B on = {})
        : reducer(how, comm, detail::layers_from<T>(x), std::move(options), std::move(on)) {}

    /// x <- the estimate of the mean of all ranks' x, for a reducer of one layer: start() and finish().
    template <class X>
    void operator()(X&& x, step_options const& options = {}) {
        if (layers().size() != 1)
            throw argument_error({"this reducer has ", layers().size(),
                                  " layers: call start(layer, x) for each of them, and then finish()"});
        start(0, std::forward<X>(x), options);
        finish();
    }

    /// Starts this layer: its message is made, and x, which finish() replaces by the estimate, must stay until then.
    /// Messages travel in the order in which rank 0 started the layers of the first step that all ranks started in
    /// full, each as soon as the layers before it are started; in finish() all that are behind a layer which is not,
    /// and those of that first step; where a collective in the foreground adds them up, one at a time, when the next is
    /// ready or in finish(). finish() throws all errors, on all ranks; start() itself throws argument_error for a layer
    /// that does not exist, and one more where all messages are sent; that step goes on. Cost: a pass over x, h and e,
    /// the compressor's, the messages' terms, and one more over x; or three over the mean, where these terms are more
    /// than d / 4, or for a shift, a loss scale, a probe, a comparison or numbers of 16 bits, which take two more.
    template <class X>
    void start(std::size_t l, X&& x, step_options const& options = {}) {
        if constexpr (detail::takes<T, X>()) step().start(l, detail::caller_vector(detail::view(x)), options);
    }

    /// Binds x, whose numbers must stay for as long as the reducer is used, to this layer on this rank, as steps with
    /// on_missing_layer::zero that do not start it here need: finish() sets x to the estimate. Throws argument_error
    /// for a layer that does not exist, shape_error for a vector of another length. Sends nothing.
    template <class X>
    void bind(std::size_t l, X&& x) {
        if constexpr (detail::takes<T, X>()) step().bind(l, detail::caller_vector(detail::view(x)));
    }

    /// Replaces every started layer's numbers by the estimate, and with on_missing_layer::zero those that are bound to
    /// the others. `options` are those of a step in which this rank starts no layer. Throws, the same on every rank,
    /// non_finite_error, also where the estimate times the loss scale is beyond the caller's numbers, compression_error
    /// where a rank's message cannot be made (a vector of another length, an option out of range, a layer that is
    /// started twice or not at all, a compressor that throws), agreement_error where ranks have another step, step
    /// size, loss scale or largest number, or one has called reorder() alone, wire_error for damaged bytes; and
    /// comm_error. Where a collective breaks off, other ranks may have its sum: then every later call throws comm_error
    /// until a saved state is restored. Throws argument_error for other options than the layers'; the step goes on.
    void finish(step_options const& options = {}) { step().finish(options); }

    /// Drops a step: nothing changes. Every rank must drop it. Where one alone does, the others' finish() throws
    /// compression_error, which names it, if that rank has started some layers, or none with
    /// reducer_options::steps_vary; if it has started all, the next step throws agreement_error on all ranks.
    void drop() { step().drop(); }

    /// The next step, or where one is in progress the one after it, learns the order in which messages travel anew,
    /// from rank 0's starts, as for a loop whose order changes once. All ranks call it between the same two finish();
    /// where one alone does, finish() throws agreement_error on all ranks until all do. Where a collective adds up all
    /// layers, the ranks then wait for each other: comm_error, by the engine's deadline. It sends nothing; that step
    /// compares 24 bytes from each rank. Over nodes, where all messages travel in finish(), it does nothing.
    void reorder() { step().reorder(); }

    /// x <- rank root's x on all ranks, whatever its length: for a model's first weights. It goes over the reducer's
    /// own communicator and touches no state. Throws on all ranks agreement_error where ranks have vectors of other
    /// lengths or types of numbers, or another root, argument_error for a root that is no rank; then no vector has
    /// changed. Throws argument_error while a step is in progress on this rank, and comm_error. A collective call; 16
    /// bytes from each rank, and x from the root.
    template <class X>
    void broadcast(X&& x, int root = 0) {
        if constexpr (detail::takes<T, X>()) step().broadcast(detail::caller_vector(detail::view(x)), root);
    }

    /// This rank's state, on which the next steps depend, for restore(). Throws argument_error while a step goes on.
    std::vector<std::byte> save() const { return step().save(); }
    /// Restores a reducer from the saved state of one with the same reduction, options, rank and number of ranks, and
    /// the same layers, in any order; its next steps are the same, bit for bit. The seed becomes that of the state,
    /// which must be the options' where they give one. All ranks restore, before their first step or all together
    /// later; else the next finish() throws agreement_error on all of them (where a collective adds up all layers, only
    /// in the first step, or in the next one that is compared). Throws shape_error for the state of another reducer,
    /// wire_error for damaged bytes, argument_error while a step is in progress; then nothing has changed. Where
    /// layers, options or parameters have changed, see resume.hpp.
    void restore(std::span<std::byte const> saved) { step().restore(saved); }
    /// The same from the states of all ranks of the saved reducer, in their order, on every rank: where their number
    /// differs from the present one, each rank gets the mean of their residuals and of their shifts, so that both means
    /// are kept, and a collective's own state starts anew. Throws agreement_error where they are not of one step.
    void restore(std::span<std::vector<std::byte> const> saved) { step().restore(saved); }
    /// Goes on over other ranks, such as those that are left after a comm_error; each of them calls it. It drops a step
    /// in progress. Residuals and shifts stay, and the mean shift becomes that of these ranks, whose shifts are sent in
    /// full; a common momentum becomes that of the first rank that has the most steps. One rank may have completed a
    /// last step that the others have not: make sure that all have the same model. Throws agreement_error where the
    /// ranks disagree.
    void rebind(detail::comm_argument<C> comm) { step().rebind(comm); }

    /// The number of steps that have succeeded.
    std::uint64_t steps() const { return step().steps(); }
    /// The seed of all ranks: that of the options, or of a restored state, or drawn.
    std::uint64_t seed() const { return step().seed().value(); }
    /// The layers: name, size, reduction, and h_i and e_i in units of the gradient without a loss scale.
    auto const& layers() const { return step().layers(); }
    /// The residual e_i of a layer on this rank, until its next step; over nodes, that of its share. Throws
    /// argument_error where there is no such layer, or it has no residual.
    std::span<T const> residual(std::size_t l) const { return step().residual(l); }
    /// Replaces it by x, between steps: the next step sends part of it. It counts as made at the step size of the last
    /// step. Throws shape_error for another length, argument_error as residual() does and while a step is in progress.
    void set_residual(std::size_t l, Contiguous auto const& x) {
        step().set_residual(l, std::span<T const>(detail::view(x)));
    }
    /// What it has done so far. Costs nothing except in steps that are probed (reducer_options). Between start() and
    /// finish() it waits for a collective that runs in the background.
    reducer_statistics statistics() const { return step().statistics(); }

  private:
    friend struct detail::resumption;
    template <class, class, class, Scalar, class>
    friend class outer_reducer;
    using step_type = detail::reduction_step<R, C, T, B>;
    step_type& step() const { return *step_; }
    std::unique_ptr<step_type> step_;
};

template <class How, class C, class X, class B = host>
reducer(How const&, C&&, X const&, reducer_options const& = {}, B = {})
    -> reducer<detail::reduction_from<How, C, X>, detail::comm_from<How, C, X>, detail::number_from<How, C, X>, B>;
template <class How, class C, class B = host>
reducer(How const&, C&&, std::vector<layer> const&, reducer_options const& = {}, B = {})
    -> reducer<detail::reduction_from<How, C>, detail::comm_from<How, C>, detail::number_from<How, C>, B>;
template <class How, class C, class B = host>
reducer(How const&, C&&, detail::layer_sizes const&, reducer_options const& = {}, B = {})
    -> reducer<detail::reduction_from<How, C>, detail::comm_from<How, C>, detail::number_from<How, C>, B>;
template <class How, class C>
reducer(How const&, C&&) -> reducer<detail::refused_arguments<How, C, void>, void>;
// With other options: worse for every C than the guides above, and as good for none.
template <class How, class C, class X>
reducer(How const&, C const volatile&, X const&, ...) -> reducer<detail::refused_arguments<How, C&, X>, void>;
template <class How, class C, class X>
reducer(How const&, C const&&, X const&, ...) -> reducer<detail::refused_arguments<How, C, X>, void>;

/// What no reducer can be made of: the compiler's first error says what to change.
template <class How, class C, class X>
class reducer<detail::refused_arguments<How, C, X>, void> {
    static_assert(detail::explain<How, C, X>());

  public:
    template <class... Any>
    reducer(How const&, Any&&...) {}
    reducer(How const&, std::remove_reference_t<C> const&, X const&, ...) {}
    void operator()(auto&&...) {}
    void start(auto&&...) {}
    void finish() {}
};

/// For layers of numbers of T, other than float.
template <Scalar T, class R, class C>
reducer<R, std::remove_cvref_t<C>, T> reducer_of(R how, C&& comm, std::vector<layer> const& layers,
                                                 reducer_options options = {}) {
    return {std::move(how), std::forward<C>(comm), layers, std::move(options)};
}

}  // namespace laconic
