// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "laconic/collective/agreement.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/core/text.hpp"
#include "laconic/reduction/joint_message.hpp"
#include "laconic/reduction/layer_order.hpp"
#include "laconic/reduction/options.hpp"
#include "laconic/reduction/own_communicator.hpp"
#include "laconic/reduction/reduced_layers.hpp"
#include "laconic/reduction/statistics.hpp"
#include "laconic/reduction/step_agreement.hpp"
#include "laconic/reduction/step_failure.hpp"

namespace laconic::detail {

/// The steps of a reducer: messages are made and sent as layers are started, in the order of the first step, and all
/// state changes at the end, when every message of every rank is there.
template <class R, Communicator C, Scalar T, class B>
class reduction_step : step_failure {
  public:
    using layer_type = reduced_layer<R, T, B>;
    using layers_type = reduced_layers<R, T, B>;

    [[gnu::cold]] reduction_step(C& comm, reducer_options options, B on, layers_type layers)
        : options_(std::move(options)),
          on_(std::move(on)),
          layers_(std::move(layers)),
          order_(layers_.size()),
          own_(own_communicator<C>::of(comm)),
          comm_(own_->comm()),
          watching_(own_->comm()) {
        layers_.agree(comm_);
        set_order(order_.fresh());
    }
    reduction_step(reduction_step const&) = delete;
    reduction_step& operator=(reduction_step const&) = delete;
    [[gnu::noinline]] ~reduction_step() { layers_.make_whole(); }  // ends what uses the communicators on another thread

    void bind(std::size_t l, caller_vector<T> x) { layers_.at(l).vector().bind(x, layers_[l].size()); }
    void start(std::size_t l, caller_vector<T> x, step_options const& options) {
        if (!begun_) require_whole();
        auto& vector = layers_.at(l).vector();
        if (!begun_)
            begin(options);
        else if (auto const* const why = trouble_between(given_, options, options_))
            return fail(why);
        if (order_.is_started(l)) return fail(concat({layers_[l].title(), " is started twice"}));
        if (order_.is_known() && order_.is_over() && !failed_) return fail_as_out_of_order(l);  // throws, and x stays
        order_.start(l);
        vector.start(x);
        if (failed_) return;
        if (order_.is_known()) pass_over(l);
        if (failed_ || mistake_) return;
        {
            timed const time(statistics_.seconds_compressing);
            layers_[l].make_message(on_, comm_, round_, share_, options, is_dense());
        }
        if (order_.is_known()) advance();
    }
    void finish(step_options const& options = {}) {
        if (begun_ && options != step_options{} && options != given_)
            throw argument_error("finish() has other options than the layers that were started: give it none");
        prepare(options);
        failed_ ? fail_step() : complete();
    }
    /// The first half of finish(): all messages are there, and no state has changed. If it throws, the step has ended;
    /// else failed() is the reason why it cannot be completed, or null, and complete() or abandon() ends it.
    void prepare(step_options const& options = {}) try {
        receive_alone();
        if (!failed_) require_whole();
        if (!begun_) begin(options);
        if (!order_.is_known() && !failed_) step_failure::attempt([&] { agree_on_order(); });
        while (!ended_ && !order_.is_over()) {
            if (auto const l = order_.due(); !mistake_ && !order_.is_started(l)) make_absent(layers_[l]);
            advance();
        }
        receive_all();
        if (!failed_) watch();
    } catch (...) {
        abandon();
        throw;
    }
    std::exception_ptr failed() const { return failed_; }
    void complete() {
        ending const however_it_ends{this};
        broken_.rank_moves();
        layers_.for_each([&](auto& l) { l.commit(on_, comm_, round_); });
        if (is_every(options_.probe_every)) statistics_.last_probe = compare_exact(on_, layers_, round_ + 1);
        ++round_, ++statistics_.steps;
        layers_.for_each([&](auto& l) { statistics_.bytes_in_full += l.bytes_in_full(); });
        broken_.make_whole();
        layers_.for_each([&](auto& l) { l.write_back(on_); });
    }
    void abandon() {
        order_.end_step();
        layers_.for_each([](auto& l) { l.end_step(); });
        made_ = sent_ = received_ = 0;
        step_failure::clear();
        begun_ = dense_ = false, share_ = 1;
    }
    /// Marks that this rank cannot take the step: finish() throws compression_error on all ranks, with this reason.
    void refuse(std::string why, step_options const& options = {}) {
        if (!begun_) begin(options, begins::with_error);
        fail(std::move(why));
    }
    void drop() {
        receive_alone(), require_whole();
        ending const however_it_ends{this};
        if (options_.steps_vary && !begun_) begin({}, begins::to_drop);
        if (!begun_ || failed_ || (order_.is_known() && order_.is_over())) return receive_all();
        fail("the step was dropped there");
        if (!order_.is_known()) step_failure::attempt([&] { agree_on_order(); });
        while (!ended_ && order_.is_known() && !order_.is_over()) advance();
        receive_all();
    }
    /// Waits for the message beside which nothing else may be in flight, if there is one.
    void receive_alone() {
        if (alone_) receive_all();
    }
    template <class Archive>
    void state(Archive& archive) {
        archive(round_), layers_.state(archive);
    }
    std::string identity(int rank, int ranks, std::uint64_t seed) const { return layers_.identity(rank, ranks, seed); }
    /// Throws argument_error where a step is under way.
    void require_no_step(char const* call) const {
        if (begun_) throw argument_error(concat({"a step is under way: finish() or drop() comes before ", call}));
    }
    void break_off() { broken_.rank_moves(); }
    /// Goes on over other ranks. A collective call of these.
    [[gnu::cold, gnu::noinline]] void rebind(C& comm) {
        statistics_ = statistics(), own_ = own_communicator<C>::of(comm);
        comm_ = watching_ = metered<C>(own_->comm());
        layers_.for_each([&](auto& l) { l.forget_ranks(); });
        layers_.agree(comm_);
        round_ = latest_round(comm_, round_);
        layers_.for_each([&](auto& l) { l.renew_mean_shift(on_, watching_, round_); });
        make_whole(), may_differ_ = false;
    }
    void make_whole() {
        may_differ_ = true;
        layers_.make_whole();
        broken_.make_whole();
        abandon();
        set_order(order_.fresh());  // other ranks may have no order yet
    }
    [[gnu::cold, gnu::noinline]] void set_order(layer_order order) {
        order_ = std::move(order);
        messages_.clear();
        if (order_.is_known()) messages_ = joined(layers_, order_.all(), options_);
    }
    void require_whole() const {
        layers_.require_whole();
        broken_.require_whole(comm_.rank(), round_);
    }
    B& on() { return on_; }
    C& comm() const { return comm_.inner(); }
    layers_type& layers() { return layers_; }
    layers_type const& layers() const { return layers_; }
    std::uint64_t round() const { return round_; }
    reducer_statistics statistics() const {
        layers_.wait();  // a collective in the background counts its bytes on another thread
        auto all = with_traffic(statistics_, comm_, watching_);
        all.bytes_of_state = layers_.bytes_of_state();
        return all;
    }

  private:
    static constexpr std::size_t at_once =  // the most messages in flight
        OnHost<B> && Overlapping<C> ? most_in_flight : 1;
    static int lane(std::size_t message) { return static_cast<int>(message % at_once); }
    bool is_dense() const { return dense_ || round_ < options_.dense_rounds; }
    void begin(step_options const& options, begins how = begins::with_layers) {
        begun_ = true;
        given_ = options;
        step_failure::attempt([&] {
            if (may_differ_ && order_.is_known() && layers_.uses_collective())  // whose messages have no tags
                require_agreement(comm_, layers_.progress(round_)), may_differ_ = false;
            if (!options_.steps_vary) return;
            auto const all = agree_on_step(comm_, round_, options, how);
            if (all.wrong) std::rethrow_exception(all.wrong);
            share_ = all.share, dense_ = options.dense;
        });
        if (options_.steps_vary || failed_) return;
        if (options.weight != 1 || options.dense)
            mistake_ = "a weight other than 1, or .dense, which reducer_options::steps_vary must allow";
    }
    void pass_over(std::size_t l) {
        if (options_.not_started != absent::raise && order_.is_later(l))
            for (; !failed_ && !mistake_ && order_.due() != l; advance()) make_absent(layers_[order_.due()]);
        if (!failed_ && !mistake_ && (order_.is_over() || order_.due() != l)) fail_as_out_of_order(l);
    }
    [[gnu::cold, gnu::noinline]] void fail_as_out_of_order(std::size_t l) {
        auto const where =
            order_.is_over() ? "last" : concat({"where ", layers_[order_.due()].title(), " was in the first step"});
        fail(concat({layers_[l].title(), " is started ", where}));
    }
    void make_absent(layer_type& l) {
        if (options_.not_started == absent::raise) return l.make_no_message(l.was_not_started(), is_dense());
        if (options_.not_started == absent::skip) return l.skip(is_dense());
        timed const time(statistics_.seconds_compressing);
        l.vector().hold_bound();
        l.make_message(on_, comm_, round_, share_, given_, is_dense());
    }
    [[gnu::cold, gnu::noinline]] void fail(std::string why) {
        if (order_.is_known() && order_.is_over())
            throw argument_error(concat({why, " after all messages of the step"}));
        if (!mistake_) mistake_ = std::move(why);
    }
    // Called when the layer that is due has its message, or this rank has made a mistake.
    void advance() {
        auto& last = layers_[order_.due()];
        if (mistake_) last.make_no_message(*mistake_, is_dense());
        made_ += 1;
        order_.advance();
        if (made_ < messages_[sent_].layers().size()) return;
        made_ = 0;
        auto& m = messages_[sent_];
        bool const alone = m.travels_alone(comm_);
        while (sent_ - received_ >= (alone || alone_ ? 1 : at_once)) receive_next();
        if (ended_) return;
        if (mistake_) last.make_no_message(*mistake_, is_dense());  // receive_next() may have made it
        attempt(statistics_.seconds_compressing, [&] { m.send(on_, comm_, round_, lane(sent_)); });
        ++sent_;
        alone_ = alone;
    }
    void receive_next() {
        auto const m = received_++;
        attempt(statistics_.seconds_waiting, [&] { messages_[m].receive(on_, comm_, round_, lane(m)); });
    }
    template <class Do>
    void attempt(double& seconds, Do what) {
        timed const time(seconds);
        step_failure::attempt(what);
    }
    void receive_all() {
        while (received_ < sent_) receive_next();
        if_they_differ([&] { name_difference(comm_, layers_, round_, given_, sent_, at_once); });
    }
    [[gnu::cold, gnu::noinline]] void agree_on_order() {
        sent_ = received_ = 1;  // for ranks whose order is known this meets their first message
        tagged_texts texts(comm_, round_, tagged::order);
        options_.not_started == absent::raise ? require_order(texts, order_, layers_, round_, mistake_)
                                              : learn_if_complete(texts, order_, layers_.progress(round_));
        may_differ_ = false, sent_ = received_ = 0;
        if (order_.is_learned() || messages_.empty()) messages_ = joined(layers_, order_.all(), options_);
    }
    // Before any state changes: whether the estimates can be written, probes, and comparisons between ranks.
    void watch() {
        step_failure::attempt([&] {
            layers_.require_writable(on_, comm_, round_);
            if (is_every(options_.probe_every)) layers_.gather_exact(on_, watching_, round_);
            if (is_every(options_.verify_every)) verify_estimates(on_, watching_, layers_, round_);
        });
    }
    bool is_every(std::uint64_t steps) const { return steps > 0 && (round_ + 1) % steps == 0; }
    [[gnu::cold, gnu::noinline]] void fail_step() {
        ending const however_it_ends{this};
        try {
            std::rethrow_exception(failed_);
        } catch (non_finite_error const&) {
            if (options_.non_finite == on_non_finite::raise) throw;
            layers_.write_nan(on_, options_.not_started == absent::zero);
        }
    }
    struct ending {
        reduction_step* step;
        ~ending() { step->abandon(); }
    };
    reducer_options options_;
    B on_;
    layers_type layers_;
    layer_order order_;
    std::vector<joint_message<layer_type>> messages_;  // once the order is known
    std::uint64_t round_ = 0;
    bool may_differ_ = true;                    // some ranks may have been restored, and others not
    std::unique_ptr<own_communicator<C>> own_;  // ends before the messages, whose bytes it may be sending
    metered<C> comm_, watching_;
    reducer_statistics statistics_;
    // The state of the current step.
    bool begun_ = false, dense_ = false, alone_ = false;  // alone_: of the message that was sent last
    step_options given_;                                  // of the first layer that is started
    double share_ = 1;                     // of this rank's gradient: its weight relative to the mean weight
    std::size_t made_ = 0;                 // layers that are ready of the message that is sent next
    std::size_t sent_ = 0, received_ = 0;  // messages
};

}  // namespace laconic::detail
