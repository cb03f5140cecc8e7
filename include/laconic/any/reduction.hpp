// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "laconic/any/memory.hpp"
#include "laconic/any/transport.hpp"
#include "laconic/reducer.hpp"

namespace laconic {

namespace detail {

template <class T, class B>
struct reduction_face : face {
    virtual void check_proof(std::size_t d) const = 0;
    /// The same for a layer of this shape.
    virtual reduction_face* shaped(std::size_t d, std::size_t rows) const = 0;
    virtual any_memory_for<T, B> feedback(std::size_t d) const = 0;
    virtual void weigh(B& on, T weight, any_message<T, B>& m) const = 0;
    virtual bool finishes_estimate() const = 0;
    virtual void finish_estimate(B& on, int ranks, std::span<T> mean, any_message<T, B>& scratch) const = 0;
};
template <class R, class T, class B>
struct reduction_model final : model<reduction_face<T, B>, held_value<R>> {
    using message = message_of<decltype(R::compressor), T, B>;

    using model<reduction_face<T, B>, held_value<R>>::model;
    void check_proof(std::size_t d) const override {
        auto const name = this->name();
        if constexpr (!R::is_proved)
            throw theory_error({"no theorem covers ", name, ": unproved(", name, ") takes it as it is"});
        else
            this->inside->check_proof(d);
    }
    reduction_face<T, B>* shaped(std::size_t d, std::size_t rows) const override {
        return new reduction_model(shaped_as(*this->inside, d, rows));
    }
    any_memory_for<T, B> feedback(std::size_t d) const override { return this->inside->template feedback<T, B>(d); }
    void weigh(B& on, T weight, any_message<T, B>& m) const override {
        if constexpr (WeighsMessages<R, any_message<T, B>, T, B>)
            this->inside->weigh(on, weight, m);
        else if constexpr (WeighsMessages<R, message, T, B>)
            this->inside->weigh(on, weight, m.template as<message>());
    }
    bool finishes_estimate() const override {
        return detail::finishes_estimate<any_message<T, B>, T, B>(*this->inside) ||
               detail::finishes_estimate<message, T, B>(*this->inside);
    }
    void finish_estimate(B& on, int ranks, std::span<T> mean, any_message<T, B>& scratch) const override {
        if constexpr (FinishesEstimate<R, any_message<T, B>, T, B>)
            this->inside->finish_estimate(on, ranks, mean, scratch);
        else if constexpr (FinishesEstimate<R, message, T, B>)
            this->inside->finish_estimate(on, ranks, mean, scratch.template as<message>());
    }
};

}  // namespace detail

/// A reduction of vectors of T that is chosen at run time: its compressor and its collective are behind one type. A
/// reducer refuses one that has no theorem and no unproved{...} around it. It costs some virtual calls a message; the
/// bytes are those of the reduction inside. Two are equal iff their texts are.
template <Scalar T = float, class B = host>
class any_reduction {
  public:
    static constexpr bool is_proved = true;  // check_proof() decides

    any_compressor<T, B> compressor;
    any_collective<T, B> over;
    double momentum = 0;
    bool common = false;

    any_reduction() : any_reduction(plain<>{}) {}
    template <class R>
    requires(std::same_as<R, unproved<any_reduction>> || detail::FollowsSteps<R> ||
             (!std::derived_from<R, any_reduction> && Reduction<R, T, B>))
        any_reduction(R how)  // NOLINT: implicit, like that of std::function
        : compressor(how.compressor),
          over(how.over),
          momentum(detail::momentum_of(how)),
          common(detail::has_common_momentum(how)),
          inside_(new detail::reduction_model<R, T, B>(std::move(how))) {
        static_assert(!detail::FollowsSteps<R>,
                      "an any_reduction has one compressor for all steps: put it into the schedule, as in "
                      "scheduled{any_reduction<>(how), name, level}, and not the schedule into it");
    }

    void check_proof(std::size_t d) const { inside_->check_proof(d); }
    void shape(std::size_t d, std::size_t rows) {
        compressor.shape(d, rows);
        over.shape(d, rows);
        inside_ = inside_->shaped(d, rows);
    }
    template <Scalar S, class On>
    requires(std::same_as<S, T>&& std::same_as<On, B>) detail::any_memory_for<T, B> feedback(std::size_t d)
    const { return inside_->feedback(d); }
    void weigh(B& on, T weight, any_message<T, B>& m) const { inside_->weigh(on, weight, m); }
    bool finishes_estimate() const { return inside_->finishes_estimate(); }
    void finish_estimate(B& on, int ranks, std::span<T> mean, any_message<T, B>& scratch) const {
        inside_->finish_estimate(on, ranks, mean, scratch);
    }

    template <std::same_as<any_reduction> Self>
    friend bool operator==(Self const& a, Self const& b) {
        return a.inside_->name() == b.inside_->name();
    }
    template <std::same_as<any_reduction> Self>
    friend std::string to_string(Self const& r) {
        return r.inside_->name();
    }

  private:
    detail::shared<detail::reduction_face<T, B>> inside_;
};

/// A reducer whose type depends neither on its reduction nor on its communicator, for a member of a class: it is made
/// with an any_reduction, such as that of parse_reduction(), and an any_communicator, of which it keeps a copy.
template <Scalar T = float, class B = host>
using any_reducer = reducer<any_reduction<T, B>, any_communicator, T, B>;

}  // namespace laconic
