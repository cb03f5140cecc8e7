// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/view.hpp"
#include "laconic/exchange/agreement.hpp"
#include "laconic/exchange/broken_round.hpp"
#include "laconic/reduction/layer_order.hpp"
#include "laconic/reduction/options.hpp"
#include "laconic/reduction/reduced_layers.hpp"
#include "laconic/reduction/reduction.hpp"
#include "laconic/wire/state.hpp"

namespace laconic {

/// One call in place of the dense all-reduce: a gradient in, the estimate of all ranks' mean gradient out, in place.
///
///     laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.01}}, comm, gradient);
///     for (;;) {
///         backward(model, gradient);
///         reduce(gradient);
///         adam.step(model, gradient);
///     }
///
/// Or several vectors, layers, each as soon as there is its gradient; its message travels while the next is computed:
///
///     laconic::reducer reduce(how, comm, layers_of({784 * 128, 128, 128 * 10, 10}));
///     reduce.start(3, g3), reduce.start(2, g2), reduce.start(1, g1), reduce.start(0, g0);
///     reduce.finish();
///
/// Every rank makes one, with the same reduction, layers and options, and makes the same calls, layers in the order of
/// the first step. A step is a transaction: where finish() throws, or propagates NaN, all residuals and shifts are on
/// every rank as they were before it, and so are the caller's numbers unless they became NaN: the step can be tried
/// again, or left out, and the next ones are the same as without it. (Only what an exchange itself remembers from round
/// to round may differ.) Memory, beside the reduction's: 2 d numbers, and the messages. After the first step nothing is
/// allocated but where an exchange's lists grow.
template <class R, Communicator C, Scalar T = float, class B = host>
class reducer {
    static_assert(Reduction<R, T, B>,
                  "a reduction is one of plain{C}, error_feedback{C}, shifted{C} and ef21_shift{C} "
                  "(reduction/reduction.hpp), where C is a compressor, or a type with the same members");
    static_assert(R::is_proved,
                  "no theorem covers this reduction: plain{C} and shifted{C} need an unbiased compressor, "
                  "error_feedback{C} and ef21_shift{C} a contractive one; unproved{...} around it takes it as it is");

  public:
    using layer_type = detail::reduced_layer<R, T, B>;

    /// For layers of numbers of T, which take their places in this list. Throws argument_error where the reduction does
    /// not suit a layer, has no theorem and no unproved{...} around it, or two layers have one name; shape_error on
    /// every rank where ranks disagree on the reduction, the layers, T, the seed or the options.
    reducer(R how, C& comm, std::vector<layer> const& layers, reducer_options options = {}, B on = {})
        : how_(std::move(how)),
          comm_(&comm),
          options_(std::move(options)),
          on_(std::move(on)),
          layers_(how_, layers, options_),
          order_(layers.size()) {
        require_agreement(comm, layers_.items());
    }
    reducer(R how, C& comm, std::vector<std::size_t> const& sizes, reducer_options options = {}, B on = {})
        : reducer(std::move(how), comm, layers_of(sizes), std::move(options), std::move(on)) {}
    /// For one vector of d numbers.
    reducer(R how, C& comm, std::size_t d, reducer_options options = {}, B on = {})
        : reducer(std::move(how), comm, std::vector<layer>{{"", d}}, std::move(options), std::move(on)) {}
    /// For one vector such as `like`: its count of its numbers. `like` is not kept.
    template <Contiguous X>
    requires Scalar<element_of<X>> reducer(R how, C& comm, X const& like, reducer_options options = {}, B on = {})
        : reducer(std::move(how), comm, static_cast<std::size_t>(like.size()), std::move(options), std::move(on)) {}
    reducer(reducer const&) = delete;
    reducer& operator=(reducer const&) = delete;

    /// x <- the estimate of the mean of all ranks' x, for a reducer of one layer: start() and finish().
    template <Contiguous X>
    requires std::same_as<element_of<X>, T>
    void operator()(X&& x, step_options const& options = {}) {
        if (layers_.size() != 1)
            throw argument_error("a reducer of " + std::to_string(layers_.size()) +
                                 " layers: start(layer, x) each, and finish()");
        start(0, x, options);
        finish();
    }

    /// This layer's gradient is there: its message starts on its way, and x, which finish() makes the estimate, must
    /// stay until then. Whatever is wrong is thrown by finish(), on all ranks. Throws argument_error at once for a
    /// layer that does not exist, and for one more where all messages of the step are sent; that step goes on. In the
    /// first step messages are sent by finish(), once the ranks have compared their orders of layers. Cost: the
    /// compensation reads d numbers, and d of each of h and e that there is, and writes d; then come the compressor's
    /// passes, the messages' terms, and three more passes over the mean.
    template <Contiguous X>
    requires std::same_as<element_of<X>, T>
    void start(std::size_t l, X&& x, step_options const& options = {}) {
        require_whole();
        if (l >= layers_.size())
            throw argument_error("layer " + std::to_string(l) + " of " + std::to_string(layers_.size()));
        if (!order_.start(l)) return fail(layers_[l].title() + " is started twice");
        layers_[l].hold(view(x));
        if (failed_) return;
        if (order_.is_known()) pass_over(l);
        if (failed_ || mistake_) return;
        layers_[l].make_message(on_, *comm_, round_, view(x), options, is_dense());
        if (order_.is_known()) send_due();
    }

    /// Every started layer's numbers become the estimate. Throws, the same on every rank, non_finite_error,
    /// compression_error where a rank's message cannot be made (a vector of another length, an option out of range, a
    /// layer that is started twice, out of order or not at all, a compressor that throws), shape_error where the first
    /// step has another order of layers on another rank, wire_error for damaged bytes; and comm_error. Where an
    /// exchange breaks off, other ranks may have its sum: then every later call throws comm_error until a saved state
    /// is restored.
    void finish() {
        require_whole();
        ending const however_it_ends{this};
        if (!order_.is_known()) agree_on_order();
        while (!failed_ && !order_.is_over()) {
            if (!mistake_ && !order_.is_started(order_.due())) make_absent(layers_[order_.due()]);
            send_due();
        }
        receive_last();
        if (failed_) return fail_step();
        broken_.rank_moves();
        layers_.for_each([&](auto& l) { l.commit(on_, *comm_, round_); });
        ++round_;
        broken_.make_whole();
        layers_.for_each([&](auto& l) { l.write_back(on_); });
    }

    /// Ends a step without one: nothing changes. Every rank must drop it; where one alone does, before it has started
    /// all layers, the others' finish() throws compression_error, which names it.
    void drop() {
        require_whole();
        ending const however_it_ends{this};
        if (order_.is_known() && !order_.is_new() && !order_.is_over() && !failed_) {
            fail("the step was dropped there");
            send_due();
        }
        receive_last();
    }

    /// All that the next steps depend on, for restore(): on every rank its own. Call it between steps.
    std::vector<std::byte> save() const {
        require_whole();
        auto& self = const_cast<reducer&>(*this);  // a walk that only reads
        state_writer archive(layers_.identity(comm_->rank(), comm_->size()), self.on_);
        self.state(archive);
        return archive.finish();
    }
    /// Makes this the reducer that was saved, which had the same reduction, options, rank and number of ranks, and the
    /// same layers, in any order; its next steps are the same, bit for bit. Throws shape_error for the state of another
    /// one, wire_error for bytes that are damaged; nothing has changed then.
    void restore(std::span<std::byte const> saved) {
        state_reader archive(saved, layers_.identity(comm_->rank(), comm_->size()), {}, on_);
        state(archive);
        archive.rewind();
        state(archive);
        layers_.make_whole();
        broken_.make_whole();
        end_step();
        order_ = detail::layer_order(layers_.size());  // other ranks may have no order yet
    }

    /// Steps that have succeeded.
    std::uint64_t steps() const { return round_; }
    R const& reduction() const { return how_; }
    /// Its name, its size, and h_i and e_i in units of the gradient without a loss scale.
    std::vector<layer_type> const& layers() const { return layers_.all(); }

  private:
    bool is_dense() const { return round_ < options_.dense_rounds; }
    template <class Archive>
    void state(Archive& archive) {
        archive(round_);
        layers_.state(archive);
    }

    // The layers that are due before l go without a gradient, where that is allowed.
    void pass_over(std::size_t l) {
        if (options_.not_started != absent::raise && order_.is_later(l))
            for (; !failed_ && !mistake_ && order_.due() != l; send_due()) make_absent(layers_[order_.due()]);
        if (failed_ || mistake_ || (!order_.is_over() && order_.due() == l)) return;
        fail(layers_[l].title() + " is started " +
             (order_.is_over() ? "last" : "where " + layers_[order_.due()].title() + " was in the first step"));
    }
    void make_absent(layer_type& l) {
        if (options_.not_started == absent::raise)
            l.make_no_message(l.was_not_started(), is_dense());
        else if (options_.not_started == absent::zero)
            l.make_message_of_zeros(on_, *comm_, round_, is_dense());
        else
            l.skip(is_dense());
    }
    // This rank cannot go on with the step: the others get the reason in place of the message that is due.
    void fail(std::string why) {
        if (order_.is_known() && order_.is_over()) throw argument_error(why + " after all messages of the step");
        if (!mistake_) mistake_ = std::move(why);
    }
    void send_due() {
        receive_last();
        if (failed_) return;
        auto& l = layers_[order_.due()];
        if (mistake_) l.make_no_message(*mistake_, is_dense());
        l.send(on_, *comm_);
        in_flight_ = &l;
        order_.advance();
    }
    void receive_last() {
        auto* const l = std::exchange(in_flight_, nullptr);
        if (l) try {
                l->receive(on_, *comm_, round_);
            } catch (error const&) {
                failed_ = std::current_exception();
            } catch (...) {  // such as no memory: the other ranks may go on with the step
                broken_.rank_moves();
                failed_ = std::current_exception();
            }
    }
    // Only after the first step's layers are known does anything travel.
    void agree_on_order() {
        std::string order = mistake_.value_or("");
        auto const add = [&](std::string const& what) { order += (order.empty() ? "" : ", ") + what; };
        for (auto const l : order_.first()) add(layers_[l].name());
        for (std::size_t l = 0; l < layers_.size(); ++l)
            if (!order_.is_started(l)) add("not started: " + layers_[l].name());
        require_agreement(*comm_, {{"the order of layers", order}});
        if (mistake_ || (order_.first().size() < layers_.size() && options_.not_started == absent::raise))
            throw argument_error("the first step has the layers " + order);
        order_.learn();
    }
    void fail_step() {
        try {
            std::rethrow_exception(failed_);
        } catch (non_finite_error const&) {
            if (options_.non_finite == on_non_finite::raise) throw;
            layers_.for_each([&](auto& l) { l.write_nan(on_); });
        }
    }
    void end_step() {
        order_.end_step();
        layers_.for_each([](auto& l) { l.end_step(); });
        in_flight_ = nullptr;
        failed_ = nullptr;
        mistake_.reset();
    }
    struct ending {
        reducer* step;
        ~ending() { step->end_step(); }
    };

    void require_whole() const {
        layers_.require_whole();
        broken_.require_whole(comm_->rank(), round_);
    }

    R how_;
    C* comm_;
    reducer_options options_;
    B on_;
    detail::reduced_layers<R, T, B> layers_;
    detail::layer_order order_;
    std::uint64_t round_ = 0;
    detail::broken_round broken_;
    // Of the step that is under way.
    layer_type* in_flight_ = nullptr;
    std::exception_ptr failed_;           // what all ranks know
    std::optional<std::string> mistake_;  // this rank's, which the others get in place of a message
};

template <class R, Communicator C>
reducer(R, C&, std::vector<layer> const&, reducer_options = {}) -> reducer<R, C>;
template <class R, Communicator C>
reducer(R, C&, std::vector<std::size_t> const&, reducer_options = {}) -> reducer<R, C>;
template <class R, Communicator C, std::integral D>
reducer(R, C&, D, reducer_options = {}) -> reducer<R, C>;
template <class R, Communicator C, Contiguous X>
requires Scalar<element_of<X>> reducer(R, C&, X const&, reducer_options = {})
->reducer<R, C, element_of<X>>;

/// For layers of numbers of T, other than float.
template <Scalar T, class R, Communicator C>
reducer<R, C, T> reducer_of(R how, C& comm, std::vector<layer> const& layers, reducer_options options = {}) {
    return {std::move(how), comm, layers, std::move(options)};
}

}  // namespace laconic
