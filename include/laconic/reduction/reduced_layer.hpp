// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "laconic/compress/compress_sum.hpp"
#include "laconic/message/term_list.hpp"
#include "laconic/reduction/layer_memory.hpp"
#include "laconic/reduction/step_communicator.hpp"
#include "laconic/reduction/step_layer.hpp"
#include "laconic/transport/message_arrays.hpp"

namespace laconic::detail {

/// One layer of a reducer, on one rank: its state, and its part in the step. Lists of terms become the estimate in the
/// caller's numbers themselves, if they have no more than d / 4 terms together; all else by way of their mean. Memory,
/// beside the feedback's: 2 d numbers, or 3 d (writable_estimate), the messages', and d / 4 terms of lists.
template <class R, class C, Scalar T, class B>
class reduced_layer final : public step_layer {
    static_assert(!HasServer<decltype(R::over)>, "a reducer has no server: .over is gather_all{} or a collective");

  public:
    using message_type = message_of<decltype(R::compressor), T, B>;
    using feedback_type = decltype(std::declval<R const&>().template feedback<T, B>(std::size_t{}));
    using resources = step_resources<C, B>;

    /// `with` outlives it. Throws argument_error where the reduction does not suit so many numbers, theory_error where
    /// it has no theorem.
    [[gnu::cold]] reduced_layer(resources& with, R how, layer is, reducer_options const& options)
        : step_layer(std::move(is), options, sizeof(T)),
          with_(&with),
          how_(std::move(how)),
          gathers_(is_gathered(how_.over) && !CarriesMessages<metered<C>, message_type, B>),
          skips_zeros_(options.skip_zero_layers),
          weights_differ_(options.steps_vary || options.missing_layer == on_missing_layer::zero),
          memory_(in_full_ ? full_feedback() : checked_feedback(), in_full_ && !has_memory ? 0 : is_.size),
          means_(how_.over, is_.size, options.positions),
          full_means_({}, is_.size, options.positions),
          positions_(options.positions),
          delta_(is_.size),
          mean_(is_.size) {
        messages::check_dimension(is_.size);
        check_rows(is_);
        if constexpr (requires { how_.over.server().has_value(); })  // one that is chosen at run time
            if (how_.over.server()) throw argument_error({"a reducer has no server: ", to_string(how_.over)});
        if (skips_zeros_ && !(full_is_payload && (in_full_ || gathers_)))
            throw argument_error(
                "skip_zero_layers goes with messages that are gathered on the host, not with a collective");
        described_ = concat({is_.size, " numbers, ", (in_full_ ? described_in_full(how_) : to_string(how_))});
        if (in_full_) return;
        how_.check_proof(is_.size);
        means_.require_beside(feedback(), to_string(how_));
        uses_collective_ = means_.uses_collective(), adds_up_ = is_gathered(how_.over);
    }

    /// To be called on all ranks before the first step over them.
    void start() {
        if (!in_full_) means_.start(comm());
    }
    R const& reduction() const { return how_; }
    feedback_type const& feedback() const { return memory_.feedback(); }
    message_type const& message() const { return message_; }  // the last that was not in full
    layer_memory<feedback_type, T, B> const& memory() const { return memory_; }

    void make_message(std::uint64_t round, double share, step_options const& options, bool in_full) override {
        begin(in_full, options), lists_ = false;
        own_ = failure::of_making(comm().rank(), round, [&] {
            x_.require(is_.size);
            memory_.check_share(share, !goes_in_full_ && means_.is_robust());
            check<T>(options);
            bool const reads = x_.is_started() && share != 0;
            auto const x = reads ? x_.held().as_numbers(mean()) : std::span<T const>(mean_);
            is_zero_ = skips_zeros_ && (!reads || (!x_.held().is_part_of_numbers() && are_zeros(on(), x)));
            scale_ = reads ? static_cast<T>(share / options.loss_scale) : T(0);
            if (!reads) fill(on(), mean(), T(0));
            return make_from(round, x, static_cast<T>(reads ? share : 0));
        });
        if (own_ && !name().empty()) own_.vector = title();
    }

    bool is_payload() const override { return goes_in_full_ ? full_is_payload : gathers_; }
    bool travels_alone() override {
        return goes_in_full_ ? full_means_.travels_alone(comm()) : means_.travels_alone(comm());
    }
    void write(wire::bit_writer& sink) override {
        with_message([&](auto& by, auto const& m) { by.write(sink, on(), m); });
    }
    void expect(bool watched) override {
        if (skipped_) return;
        lists_ = may_list() && !watched;
        lists_ ? terms_.clear() : fill(on(), mean(), T(0));
    }
    bool add_in_parts(std::uint64_t round) override {
        without_tags messages(comm(), now(round));
        if (goes_in_full_) return full_means_.add_in_parts(on(), messages, full_blank(), mean());
        return means_.add_in_parts(on(), messages, blank(round), mean());
    }
    void read(std::uint64_t round, int rank, wire::bit_reader& source) override {
        T const share = T(1) / static_cast<T>(comm().size());
        bool const is_last = rank + 1 == comm().size();
        if (goes_in_full_) return full_means_.read_and_add(source, on(), rank, full_blank(), share, mean(), is_last);
        if constexpr (estimate_is_list)
            if (lists_) {
                auto const& theirs = means_.read(source, on(), rank, blank(round));
                if (append_terms(on(), terms_, theirs)) return;
                lists_ = false;  // too many terms, or no list
                fill(on(), mean(), T(0));
                add_terms(on(), mean(), share, terms_.terms());
                messages::add_unturned(on(), mean(), share, theirs);
                return is_last ? messages::turn_back(on(), mean(), theirs) : void();
            }
        means_.read_and_add(source, on(), rank, blank(round), share, mean(), is_last);
    }
    void send(std::uint64_t round, int lane) override {
        if constexpr (!full_is_payload)
            if (goes_in_full_) return full_means_.send(on(), comm(), now(round), full_message_, own_, lane);
        if constexpr (!part_is_payload) means_.send(on(), comm(), now(round), message_, own_, lane);
    }
    void receive(std::uint64_t round, int lane) override {
        [[maybe_unused]] auto const by = [&](auto& tr, auto const& m, auto blank, auto const& with) {
            tr.receive(on(), comm(), now(round), m, own_, blank, with, mean(), lane);
        };
        if constexpr (!full_is_payload)
            if (goes_in_full_) return by(full_means_, full_message_, full_blank(), nullptr);
        if constexpr (!part_is_payload) by(means_, message_, blank(round), feedback());
    }

    void gather_exact(std::uint64_t round) override {
        if (skipped_) return;
        if (!exact_) exact_.emplace(is_.size);
        exact_->gather(on(), with_->watching(), round, scale_, x_.held());
    }
    void compare_exact(deviation& apart) override {
        if (!skipped_) exact_->compare(on(), std::span<T const>(mean_), apart);
        apart.residual_squared += memory_.residual_squared(on());
    }
    std::uint64_t digest_of_estimate() const override {
        return skipped_ ? 0 : memory_.digest_with(on(), std::span<T const>(mean_));
    }
    std::size_t first_not_writable(std::uint64_t round) override {
        if (skipped_) return is_.size;
        return writable_.first_beyond(on(), how_, now(round), comm().size(), feedback(), mean_, goes_in_full_,
                                      static_cast<T>(options_.loss_scale), static_cast<T>(x_.held().largest()));
    }
    void commit(std::uint64_t round) override {
        if (skipped_) return;
        auto& feedback = memory_.feedback();
        with_message([&](auto& by, auto const& m) {
            if constexpr (has_memory)
                feedback.update(on(), std::move(delta_), m, goes_in_full_);
            else
                feedback.update(on(), std::move(delta_), m);
            by.give_back(on(), feedback);
        });
        if (!goes_in_full_) kernels::assign(on(), start_after<T, B>(compressor_in(how_, round), message_), start_);
        memory_.set_step_size(options_.step_size);
        if (lists_) return;  // write_back() makes the estimate
        with_message([&](auto& by, auto const&) { by.reconstruct(on(), comm(), now(round), feedback, mean()); });
        if constexpr (FinishesEstimate<R, message_type, T, B>)
            if (!goes_in_full_) how_.finish_estimate(on(), comm().size(), mean(), message_);
        show_estimate(feedback, on(), std::span<T const>(mean_));
    }
    void write_back() override {
        if (skipped_) {
            if (!x_.held().is_there()) return;
            fill(on(), mean(), T(0));
            return x_.held().assign(on(), std::span<T const>(mean_));
        }
        if constexpr (estimate_is_list)
            if (lists_) {
                auto const x = x_.held().template in_place<T>();
                return terms_.write_out(on(), x, T(1) / static_cast<T>(comm().size()));
            }
        if (options_.loss_scale != 1) multiply(on(), static_cast<T>(options_.loss_scale), mean());
        x_.held().assign(on(), std::span<T const>(mean_));
    }
    void write_nan() override {
        if (auto const& x = x_.held(); x.is_there() && x.size() == is_.size) x.assign_nan(on(), mean());
    }

    void wait() const override { means_.wait(); }
    void require_consistent() const override { means_.require_consistent(); }
    void recover() override { means_.recover(); }
    void add_state() { memory_.add_state(on()); }
    void take_mean_state(int ranks) { memory_.take_mean_state(on(), ranks), forget_ranks(); }
    /// What a collective remembers is of the ranks that it had: it starts anew, and so do messages.
    void forget_ranks() { means_ = {how_.over, is_.size, positions_}, start_.resize(0); }
    void renew_common(std::uint64_t k, int of) { memory_.renew_common(on(), with_->watching(), k, of, mean()); }
    /// The state: the name, whether it is in full, and the memory; and a collective's.
    void state(auto& archive) {
        auto saved = is_;
        saved.in_full = in_full_;
        archive.of_any_length(saved.name), archive(saved.in_full);
        archive.of_dimension(is_.size), memory_.state(archive);
    }
    void state_of_collective(auto& archive) {
        archive.of_dimension(is_.size), means_.state(archive);
        if constexpr (StartsWarm<decltype(R::compressor), T, B>) archive.of_any_length(start_);
    }
    void take(layer_memory<feedback_type, T, B> const* saved) { memory_.take(on(), saved), forget_ranks(); }

    std::span<T const> residual() const { return memory_.residual(is_.size, title(), described_); }
    void set_residual(std::span<T const> x) { memory_.set_residual(on(), x, is_.size, title(), described_); }

  private:
    using means_type = transport_for<decltype(R::over), message_type, T, B>;
    using full_type = messages::full_vector<T, B>;
    static constexpr bool full_is_payload = !CarriesMessages<metered<C>, full_type, B>;
    static constexpr bool part_is_payload =
        std::same_as<means_type, gathered<message_type, T, B>> && !CarriesMessages<metered<C>, message_type, B>;

    static constexpr bool has_memory = std::convertible_to<laconic::memory<T, B>, feedback_type>;
    // Whether the estimate may be no more than the terms of all ranks' messages.
    static constexpr bool estimate_is_list = OnHost<B> && has_memory && MayListTerms<message_type, T, B> &&
                                             requires(means_type & means, wire::bit_reader& from, B& on) {
        means.read(from, on, 0, nullptr);
    };

    B& on() const { return with_->on; }
    std::span<T> mean() { return mean_; }
    feedback_type full_feedback() const {
        if constexpr (has_memory) return memory_in_full<T, B>(how_);
        return {};
    }
    feedback_type checked_feedback() const {
        check_by_name(how_.compressor, is_.size);  // without which its theory means nothing
        return how_.template feedback<T, B>(is_.size);
    }
    // Whether the terms of all ranks' messages, written into the caller's numbers, are the estimate.
    bool may_list() const {
        if constexpr (estimate_is_list)
            return gathers_ && !goes_in_full_ && !is_in_full<T, B>(message_) &&
                   !finishes_estimate<message_type, T, B>(how_) && feedback().rate() == 0 &&
                   !feedback().follows_estimate() && options_.loss_scale == 1 && is_.size > 0 &&
                   x_.held().template in_place<T>().size() == is_.size;
        return false;
    }
    metered<C>& comm() const { return with_->comm(); }
    // Calls use(transport, message) with those of this step.
    void with_message(auto use) { goes_in_full_ ? use(full_means_, full_message_) : use(means_, message_); }
    [[gnu::noinline]] round_context now(std::uint64_t round) const {
        return round_context::of(seed_, round, comm().rank(), comm().size()).with_tag(message_tag(round, alike()));
    }
    auto blank(std::uint64_t round) const {
        return [this, round](auto& there, int rank, auto& m) -> decltype(auto) {
            decltype(auto) compressor = compressor_in(how_, round);
            compressor.blank(there, is_.size, key_of(round, rank, comm().size()), m);
            this->weigh(there, T(0), m);
            return compressor;
        };
    }
    // Makes a message of a reduction that has one count by its weight, if ranks may differ in it.
    template <class On, class M>
    void weigh(On& there, T weight, M& m) const {
        if constexpr (WeighsMessages<R, M, T, On>)
            if (weights_differ_) how_.weigh(there, weight, m);
    }
    auto full_blank() const {
        return [this](auto& on, int, auto& m) { return identity{}.blank(on, is_.size, key{}, m), identity{}; };
    }
    failure make_from(std::uint64_t round, std::span<T const> x, T weight) {
        auto const at = now(round);
        std::span<T> const delta(delta_);
        auto const make = [&](kernels::compensation<T> const& sum) {
            if (goes_in_full_) return kernels::compensate(on(), sum);
            return compress_sum<T>(on(), compressor_in(how_, round), sum, key_of(at, comm().rank()), start_, message_);
        };
        if (!memory_.with_delta(on(), at, scale_, x, options_.step_size, delta, make))
            return failure::not_finite(first_non_finite(on(), std::span<T const>(delta)));
        if (goes_in_full_) return identity{}(on(), std::span<T const>(delta), at.own, full_message_), failure();
        weigh(on(), weight, message_);
        return {};
    }

    resources* with_;
    R how_;
    bool gathers_;  // messages that are not in full, by way of the host
    bool skips_zeros_, weights_differ_;
    layer_memory<feedback_type, T, B> memory_;
    means_type means_;
    gathered<full_type, T, B> full_means_;
    position_code positions_;
    typename B::template array<T> delta_, mean_, start_;  // of the next message, where messages start warm
    term_list<T> terms_{estimate_is_list && gathers_ && !in_full_ ? is_.size / 4 : 0};
    message_type message_;
    full_type full_message_;
    std::optional<exact_mean<T, B>> exact_;
    writable_estimate<R, T, B> writable_;
    T scale_ = 1;         // of x_ in this step; 0 where its numbers are not read
    bool lists_ = false;  // whether terms_, and not mean_, has what the ranks have sent in it
};

}  // namespace laconic::detail
