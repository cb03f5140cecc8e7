// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "laconic/reduction/joint_message.hpp"
#include "laconic/reduction/step_layers.hpp"
#include "laconic/reduction/step_state.hpp"

namespace laconic::detail {

/// What controls the steps of a reducer, on one rank: messages are made as layers are started, each is sent once those
/// before it in the order of layers are, and all state changes at the end, when every message of every rank is there.
/// It is compiled once, for all reductions, numbers, backends and communicators.
class step_control : public step_layers, step_state {
  public:
    /// The number of steps that have succeeded.
    std::uint64_t steps() const { return round_; }
    using step_state::failed, step_state::require_no_step;

    void bind(std::size_t l, caller_vector x) { at(l).bind(x); }
    /// Opens a step, which start(), prepare() and refuse() do where it is not done. Where the steps vary, the ranks
    /// compare their steps and weights.
    [[gnu::cold]] void open(step_options const& options = {}, begins how = begins::with_options) {
        now_.is_open = true;
        now_.given = options;
        timed const time(statistics_.seconds_waiting);
        attempt([&] {
            if (may_differ_ && order_.is_known() && uses_collective_ && !compares_later())
                require_agreement(comm(), progress(round_)), may_differ_ = false;  // its messages have no tags
            if (!options_.steps_vary) return;
            now_.share = agree_on_step(comm(), round_, options, how);
            now_.is_dense = options.dense;
        });
        if (options_.steps_vary || failed_) return;
        if (options.weight != 1 || options.dense) own_error_ = failure::no_message(weight_needs_steps_vary);
    }
    [[gnu::cold]] void start(std::size_t l, caller_vector x, step_options const& options = {}) {
        if (!now_.is_open) require_consistent();
        auto& vector = at(l).vector();
        if (!now_.is_open)
            open(options, have_one_option() || order_.is_due(l) ? begins::with_options : begins::with_others);
        else if (auto const* const why = trouble_between(now_.given, options, options_))
            return fail(failure::no_message(why));
        if (!order_.start(l)) return fail(failure::no_message(concat({list_[l]->title(), " is started twice"})));
        vector.start(x);
        if (failed_ || own_error_) return;
        {
            timed const time(statistics_.seconds_compressing);
            list_[l]->make_message(round_, now_.share, options, is_dense());
        }
        while (!failed_ && !own_error_ && order_.is_next_started()) advance();
    }
    /// The next step, or where one is under way the one after it, learns the order of layers anew.
    void reorder() {
        reorders_ = now_.is_open;
        if (!reorders_) set_order(order_.fresh());
    }
    [[gnu::cold]] void finish(step_options const& options = {}) {
        require_given(options);
        prepare(options);
        failed_ ? fail_step() : commit();
    }
    /// The first half of finish(): all messages are there, and no state has changed. If it throws, the step has ended;
    /// else failed() is the reason why it cannot be completed, or null, and commit() or abandon() ends it.
    [[gnu::cold]] void prepare(step_options const& options = {}) try {
        receive_alone();
        if (!failed_) require_consistent();
        if (!now_.is_open) open(options);
        if (!order_.is_known() && !failed_) attempt([&] { agree_on_order(); });
        while (!ended_ && !order_.is_over()) {
            if (auto const l = order_.due(); !own_error_ && !order_.is_started(l)) make_absent(*list_[l]);
            advance();
        }
        receive_all();
        if (!failed_) watch();
    } catch (...) {
        abandon();
        throw;
    }
    [[gnu::cold]] void commit() {
        ending<step_control> const however_it_ends{this};
        timed const time(statistics_.seconds_committing);
        broken_.rank_moves();
        for (auto* const l : list_) l->commit(round_);
        if (is_every(options_.probe_every)) compare_exact();
        ++round_, ++statistics_.steps;
        for (auto* const l : list_) statistics_.bytes_in_full += l->bytes_in_full();
        broken_.recover();
        for (auto* const l : list_) l->write_back();
    }
    [[gnu::cold]] void abandon() {
        if (now_.is_open) ++ended_steps_;
        order_.end_step();
        for (auto* const l : list_) l->end_step();
        step_state::clear();
        if (std::exchange(reorders_, false)) set_order(order_.fresh());
    }
    /// Marks that this rank cannot take the step: it fails on all ranks with this reason.
    [[gnu::cold]] void refuse(failure why, step_options const& options = {}) {
        if (!now_.is_open) open(options, begins::with_others);
        fail(std::move(why));
    }
    [[gnu::cold]] void drop() {
        receive_alone(), require_consistent();
        ending<step_control> const however_it_ends{this};
        if (options_.steps_vary && !now_.is_open) open({}, begins::to_drop);
        if (!now_.is_open) return;
        if (failed_ || (order_.is_known() && order_.is_over())) {
            receive_all();
            if (!failed_) watch();  // as the others do, if they take the step
            return;
        }
        fail(failure::no_message("the step was dropped there"));
        if (!order_.is_known()) attempt([&] { agree_on_order(); });
        while (!ended_ && order_.is_known() && !order_.is_over()) advance();
        receive_all();
    }
    /// Waits for the message beside which nothing else may be in flight, if there is one.
    void receive_alone() {
        if (now_.travels_alone) receive_all();
    }
    [[gnu::cold]] void recover() {
        may_differ_ = true;
        for (auto* const l : list_) l->recover();
        broken_.recover();
        abandon();
        if (!compares_later()) set_order(order_.fresh());  // other ranks may have no order yet
    }
    void require_consistent() const {
        step_layers::require_consistent();
        broken_.require_consistent(comm().rank(), round_);
    }
    /// The order of layers is always that of their numbers.
    void start_as_listed() { set_order(layer_order(size(), true)); }

  protected:
    using step_layers::step_layers;
    ~step_control() = default;

    /// To be called once list_ has all layers, before the first step.
    [[gnu::cold]] void check(std::vector<layer> const& layers) {
        step_layers::check(layers);
        set_order(layer_order(size()));
    }
    /// Goes on over other ranks, to which the layers are connected now, in this round.
    [[gnu::cold, gnu::noinline]] void go_on(std::uint64_t round, reducer_statistics const& so_far) {
        statistics_ = so_far, round_ = round;
        recover(), may_differ_ = false;
        set_order(order_.fresh()), ended_steps_ = 0;
    }

    std::uint64_t round_ = 0;
    reducer_statistics statistics_;  // without the bytes that were sent and received
    using step_state::broken_;

  private:
    int lane(std::size_t message) const { return static_cast<int>(message % at_once()); }
    bool is_dense() const { return now_.is_dense || round_ < options_.dense_rounds; }
    [[gnu::cold, gnu::noinline]] void set_order(layer_order order) {
        order_ = std::move(order);
        messages_.clear();
        if (order_.is_known()) messages_ = joined(list_, order_.all(), options_, uses_collective_);
    }
    // Whether all layers of a step have the same options, whichever is started first.
    bool have_one_option() const { return size() == 1 || options_.missing_layer == on_missing_layer::zero; }
    [[gnu::cold]] void make_absent(step_layer& l) {
        auto const why = options_.missing_layer == on_missing_layer::raise ? failure::no_message : failure::left_out;
        if (options_.missing_layer != on_missing_layer::zero)
            return l.fail(own_failure(why(l.was_not_started())), is_dense());
        timed const time(statistics_.seconds_compressing);
        l.vector().hold_bound();
        l.make_message(round_, now_.share, now_.given, is_dense());
    }
    failure own_failure(failure f) const { return f.rank == no_rank ? std::move(f).by(comm().rank(), round_) : f; }
    [[gnu::cold, gnu::noinline]] void fail(failure why) {
        if (order_.is_known() && order_.is_over()) throw argument_error({why.why, " after all messages of the step"});
        if (!own_error_) own_error_ = std::move(why);
    }
    // Called when the layer that is due has its message, or this rank has made a mistake.
    [[gnu::cold]] void advance() {
        auto& last = *list_[order_.due()];
        if (own_error_) last.fail(own_failure(own_error_), is_dense());
        now_.made += 1;
        order_.advance();
        if (now_.made < messages_[now_.sent].layers().size()) return;
        now_.made = 0;
        auto& m = messages_[now_.sent];
        bool const alone = m.travels_alone();
        while (now_.sent - now_.received >= (alone || now_.travels_alone ? 1 : at_once())) receive_next();
        if (ended_) return;
        if (own_error_) last.fail(own_failure(own_error_), is_dense());  // receive_next() may have made it
        timed const time(statistics_.seconds_compressing);
        attempt([&] { m.send(comm(), round_, lane(now_.sent)); });
        ++now_.sent;
        now_.travels_alone = alone;
    }
    [[gnu::cold]] void receive_next() {
        auto const m = now_.received++;
        bool const watched = is_every(options_.probe_every) || is_every(options_.verify_every);
        attempt([&] { messages_[m].receive(comm(), round_, lane(m), watched, statistics_); });
    }
    [[gnu::cold]] void receive_all() {
        while (now_.received < now_.sent) receive_next();
        if_they_differ([&] { name_difference(comm(), *this, round_, now_.given, now_.sent, at_once()); });
    }
    [[gnu::cold, gnu::noinline]] void agree_on_order() {
        timed const time(statistics_.seconds_waiting);
        now_.sent = now_.received = 1;  // for ranks whose order is known this meets their first message
        tagged_texts texts(comm(), round_, tagged::order);
        if (options_.missing_layer == on_missing_layer::raise)
            for (auto l = list_.begin(); l != list_.end() && !own_error_; ++l)
                if (!order_.is_started(static_cast<std::size_t>(l - list_.begin())))
                    own_error_ = failure::no_message((*l)->was_not_started());
        if (own_error_) own_error_ = own_failure(own_error_);
        learn_order(texts, order_, progress(round_), own_error_);
        may_differ_ = false, now_.sent = now_.received = 0;
        if (order_.is_learned() || messages_.empty())
            messages_ = joined(list_, order_.all(), options_, uses_collective_);
    }
    // Before any state changes: whether the estimates can be written, probes, and comparisons between ranks.
    [[gnu::cold]] void watch() {
        attempt([&] {
            require_writable(round_);
            if (is_every(options_.probe_every))
                for (auto* const l : list_) l->gather_exact(round_);
            if (is_every(options_.verify_every)) verify_estimates(watching(), *this, round_);
        });
    }
    // Steps are counted that all ranks take together, whatever each has restored.
    bool is_every(std::uint64_t steps) const { return steps > 0 && (ended_steps_ + 1) % steps == 0; }
    [[gnu::cold, gnu::noinline]] void compare_exact() {
        deviation apart;
        for (auto* const l : list_) l->compare_exact(apart);
        statistics_.last_probe = apart.of_step(round_ + 1);
    }
    // Whether this rank, where it has restored its state, leaves it to verify_estimates() to compare the steps so far:
    // the others may have restored none, and be in the collective already.
    bool compares_later() const {
        return options_.verify_every > 0 && ended_steps_ > 0 && uses_collective_ && order_.is_learned();
    }
    [[gnu::cold, gnu::noinline]] void fail_step() {
        ending<step_control> const however_it_ends{this};
        try {
            std::rethrow_exception(failed_);
        } catch (non_finite_error const&) {
            if (options_.non_finite == on_non_finite::raise) throw;
            for (auto* const l : list_) {
                if (options_.missing_layer == on_missing_layer::zero) l->vector().hold_bound();
                l->write_nan();
            }
        }
    }
    layer_order order_{0};
    std::vector<joint_message> messages_;  // once the order is known
    std::uint64_t ended_steps_ = 0;        // with success or without, over these ranks
    bool reorders_ = false;                // the step after this one
    bool may_differ_ = true;               // some ranks may have been restored, and others not
};

}  // namespace laconic::detail
