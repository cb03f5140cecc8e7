// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/backend/array.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/occasion.hpp"
#include "laconic/core/view.hpp"
#include "laconic/exchange/agreement.hpp"
#include "laconic/exchange/broken_round.hpp"
#include "laconic/exchange/error_frame.hpp"
#include "laconic/exchange/mean_of_messages.hpp"
#include "laconic/reduction.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/state.hpp"

namespace laconic {

/// What a step does where a rank's gradient holds NaN or infinity, or overflows as it is compensated.
enum class on_non_finite {
    raise,     ///< non_finite_error on every rank
    propagate  ///< every rank's numbers become NaN, which a loss scaler looks for
};

/// What a reducer is made with, beside the reduction; the same on all ranks.
struct reducer_options {
    std::uint64_t seed = 0;  ///< of what compressors draw
    on_non_finite non_finite = on_non_finite::raise;
    position_code positions = position_code::smallest;
};

/// Of one step.
struct step_options {
    /// What the caller has multiplied the gradient by, above 0; the estimate comes multiplied by the same. The residual
    /// and the shift are held without it, so it may change from step to step.
    double loss_scale = 1;
    /// The learning rate that the caller applies to the estimate, above 0: where it changes, the residual is multiplied
    /// by the previous one over this one (Karimireddy et al., ICML 2019), so that what waits is applied at the rate of
    /// its own step. 0 leaves the residual as it is.
    double step_size = 0;
};

/// One call in place of the dense all-reduce: a gradient in, the estimate of all ranks' mean gradient out, in place.
///
///     laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.01}}, comm, gradient);
///     for (;;) {
///         backward(model, gradient);
///         reduce(gradient);
///         adam.step(model, gradient);
///     }
///
/// Every rank makes one, with the same reduction, dimension and options, and makes the same calls. A step is a
/// transaction: where one throws, or propagates NaN, the residual and the shift are on every rank as they were before
/// it, and so are the caller's numbers unless they became NaN: the step can be tried again, or left out, and the next
/// ones are the same as without it. Memory, beside the reduction's: 2 d numbers. After the first step nothing is
/// allocated but where an exchange's lists grow.
template <class R, Communicator C, Scalar T = float, class B = host>
class reducer {
    static_assert(Reduction<R, T, B>,
                  "a reduction is one of plain{C}, error_feedback{C}, shifted{C} and ef21_shift{C} "
                  "(reduction.hpp), where C is a compressor, or a type with the same members");
    static_assert(R::is_proved,
                  "no theorem covers this reduction: plain{C} and shifted{C} need an unbiased compressor, "
                  "error_feedback{C} and ef21_shift{C} a contractive one; unproved{...} around it takes it as it is");

  public:
    using compressor_type = decltype(R::compressor);
    using message_type = message_of<compressor_type, T, B>;
    using feedback_type = decltype(std::declval<R const&>().template feedback<T, B>(std::size_t{}));

    /// For vectors of d numbers of T. Throws argument_error where the compressor or the exchange does not suit d, or
    /// the reduction has no theorem and no unproved{...} around it; shape_error on every rank where ranks disagree on
    /// the reduction, d, T, the seed or the options.
    reducer(R how, C& comm, std::size_t d, reducer_options const& options = {}, B on = {})
        : how_(std::move(how)),
          comm_(&comm),
          seed_{options.seed},
          non_finite_(options.non_finite),
          on_(std::move(on)),
          feedback_(how_.template feedback<T, B>(d)),
          means_(how_.over, d, options.positions),
          news_(d),
          mean_(d) {
        detail::check_dimension(d);
        how_.compressor.check(d);
        how_.check_proof(d);
        means_.require_beside(false, feedback_, to_string(feedback_));
        items_ = {{"the dimension", std::to_string(d)},
                  {"the bytes of a number", std::to_string(sizeof(T))},
                  {"the version of the wire format", std::to_string(wire_version)},
                  {"the reduction", to_string(how_)},
                  {"the memory", to_string(feedback_)},
                  {"the seed", std::to_string(options.seed)},
                  {"what is not finite", non_finite_ == on_non_finite::raise ? "raises" : "propagates"}};
        require_agreement(comm, items_);
        feedback_.start(d);
    }
    /// For vectors such as `like`: its count of its numbers. `like` is not kept.
    template <Contiguous X>
    reducer(R how, C& comm, X const& like, reducer_options const& options = {}, B on = {})
        : reducer(std::move(how), comm, static_cast<std::size_t>(like.size()), options, std::move(on)) {}

    /// x <- the estimate of the mean of all ranks' x: one all-gather of the messages, or what the exchange does.
    /// Throws, the same on every rank, non_finite_error, compression_error where a rank's message cannot be made (a
    /// vector of another length, an option out of range, a compressor that throws), wire_error for damaged bytes; and
    /// comm_error. Where an exchange breaks off, other ranks may have its sum: then every later call throws comm_error
    /// until a saved state is restored. Cost: the compensation reads d numbers, and d of each of h and e that there is,
    /// and writes d; then come the compressor's passes, the messages' terms, and three more passes over the mean.
    template <Contiguous X>
    requires std::same_as<element_of<X>, T>
    void operator()(X&& x, step_options const& options = {}) { step(std::span<T>(view(x)), options); }

    /// All that the next steps depend on, for restore(): on every rank its own.
    std::vector<std::byte> save() const {
        require_whole();
        auto& self = const_cast<reducer&>(*this);  // a walk that only reads
        state_writer archive(identity(), self.on_);
        self.state(archive);
        return archive.finish();
    }
    /// Makes this the reducer that was saved, which had the same reduction, dimension, options, rank and number of
    /// ranks; its next steps are the same, bit for bit. Throws shape_error for the state of another one, wire_error for
    /// bytes that are damaged; nothing has changed then.
    void restore(std::span<std::byte const> saved) {
        state_reader archive(saved, identity(), mean_.size(), on_);
        state(archive);
        archive.rewind();
        state(archive);
        means_.make_whole();
        broken_.make_whole();
    }

    /// Steps that have succeeded.
    std::uint64_t steps() const { return round_; }
    std::size_t dimension() const { return mean_.size(); }
    R const& reduction() const { return how_; }
    /// h_i and e_i, in units of the gradient without a loss scale.
    feedback_type const& feedback() const { return feedback_; }

  private:
    void step(std::span<T> x, step_options const& options) {
        require_whole();
        auto const at = occasion::of(seed_, round_, comm_->rank(), comm_->size());
        auto const blank = [&](auto& on, int rank, auto& m) {
            how_.compressor.blank(on, mean_.size(), occasion::of(seed_, round_, rank, comm_->size()).own, m);
        };
        make_message(at, x, options);
        means_.send(on_, *comm_, message_, frame_);
        std::span<T> const mean(mean_);
        try {
            means_.receive(on_, *comm_, message_, frame_, round_, blank, mean);
        } catch (non_finite_error const&) {
            if (non_finite_ == on_non_finite::raise) throw;
            return fill(on_, x, std::numeric_limits<T>::quiet_NaN());
        }
        broken_.rank_moves();
        feedback_.after(on_, std::move(news_), message_);
        means_.give_back(on_, feedback_);
        feedback_.estimate(on_, at, mean);
        if (options.step_size > 0) step_size_ = options.step_size;
        ++round_;
        broken_.make_whole();
        if (options.loss_scale != 1) multiply(on_, static_cast<T>(options.loss_scale), mean);
        copy(on_, std::span<T const>(mean), x);
    }
    // This rank's message, or its error frame.
    void make_message(occasion const& at, std::span<T> x, step_options const& options) {
        frame_.clear();
        try {
            if (x.size() != mean_.size())
                throw shape_error("a vector of " + std::to_string(x.size()) + " numbers, the reducer is for " +
                                  std::to_string(mean_.size()));
            if (!(options.loss_scale > 0 && std::isfinite(options.loss_scale)))
                throw argument_error("a loss scale of " + shortest(options.loss_scale) + ": it is above 0");
            if (!(options.step_size >= 0 && std::isfinite(options.step_size)))
                throw argument_error("a step size of " + shortest(options.step_size) + ": it is above 0");
            double const waited = options.step_size > 0 && step_size_ > 0 ? step_size_ / options.step_size : 1;
            std::span<T> const news(news_);
            if (!feedback_.compensate(on_, static_cast<T>(1 / options.loss_scale), std::span<T const>(x),
                                      static_cast<T>(waited), news))
                return frame_.not_finite(first_non_finite(on_, std::span<T const>(news)));
            how_.compressor(on_, std::span<T const>(news), at.own, message_);
        } catch (std::exception const& e) {
            frame_.because(e.what());
        }
    }

    void require_whole() const {
        means_.require_whole();
        broken_.require_whole(comm_->rank(), round_);
    }
    template <class Archive>
    void state(Archive& archive) {
        archive(round_, step_size_, feedback_);
        means_.state(archive);
    }
    std::string identity() const {
        std::string text;
        for (auto const& [name, value] : items_) text += name + ": " + value + "\n";
        return text + "rank " + std::to_string(comm_->rank()) + " of " + std::to_string(comm_->size()) + "\n";
    }

    R how_;
    C* comm_;
    key seed_;
    on_non_finite non_finite_;
    B on_;
    feedback_type feedback_;
    mean_of_messages<decltype(R::over), message_type, T, B> means_;
    typename B::template array<T> news_, mean_;
    message_type message_;
    std::vector<agreed_item> items_;
    std::uint64_t round_ = 0;
    double step_size_ = 0;  // of the last step that gave one
    error_frame frame_;     // outlives send(): an engine may hand over its bytes later
    detail::broken_round broken_;
};

template <class R, Communicator C>
reducer(R, C&, std::size_t, reducer_options const& = {}) -> reducer<R, C>;
template <class R, Communicator C, std::integral D>
reducer(R, C&, D, reducer_options const& = {}) -> reducer<R, C>;
template <class R, Communicator C, Contiguous X>
reducer(R, C&, X const&, reducer_options const& = {}) -> reducer<R, C, element_of<X>>;

}  // namespace laconic
