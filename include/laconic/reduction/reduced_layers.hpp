// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/text.hpp"
#include "laconic/reduction/options.hpp"
#include "laconic/reduction/reduced_layer.hpp"
#include "laconic/reduction/statistics.hpp"
#include "laconic/reduction/step_agreement.hpp"
#include "laconic/reduction/step_layers.hpp"
#include "laconic/reduction/step_resources.hpp"

namespace laconic::detail {

/// The layers of a reducer, on one rank, with what they compute and send with.
template <class R, Communicator C, Scalar T, class B>
class reduced_layers final : public step_layers {
  public:
    using layer_type = reduced_layer<R, C, T, B>;

    /// Makes a layer with the reduction rule(layer), an R, for each. Throws argument_error where there is none, two
    /// have one name, or the reduction or the options do not suit one, theory_error where no theorem covers it.
    /// `wholes`: layers of which these are this rank's shares, for that error.
    template <class Rule>
    [[gnu::cold]] reduced_layers(B on, Rule const& rule, std::vector<layer> const& layers,
                                 reducer_options const& options, std::vector<layer> const* wholes = nullptr)
        : step_layers(layers, options, sizeof(T)), with_{std::move(on)} {
        for (auto const& l : layers) {
            auto const* const whole = wholes ? &(*wholes)[all_.size()] : nullptr;
            try {
                check_dimension(l.size);  // before there is memory for it
                add(all_.emplace_back(with_, rule(l), l, options));
            } catch (argument_error const& e) {
                throw argument_error(named(l, e, whole));
            } catch (theory_error const& e) {
                throw theory_error(named(l, e, whole));
            }
        }
        check(layers, options);
    }

    std::deque<layer_type> const& all() const { return all_; }
    B& on() { return with_.on; }
    step_communicator& comm() override { return with_.over->messages; }
    step_communicator& watching() override { return with_.over->watching; }
    std::size_t at_once() const override { return OnHost<B> && Overlapping<C> ? most_in_flight : 1; }
    [[gnu::cold]] void disconnect() override { with_.over.reset(); }
    /// To be called before the first step over these ranks, which they duplicate: throws agreement_error on all of them
    /// where they disagree on the layers, the reductions, the options or the seed, argument_error where a transport
    /// does not suit the communicator.
    [[gnu::cold]] void connect(C& comm) {
        with_.connect(comm);
        agree();
        for (auto& l : all_) l.start();
    }
    /// Goes on over other ranks; returns the largest of their rounds. A collective call of these.
    [[gnu::cold, gnu::noinline]] std::uint64_t reconnect(C& comm, std::uint64_t round) {
        for (auto& l : all_) l.forget_ranks();
        connect(comm);
        round = latest_round(with_.over->messages, round);
        for (auto& l : all_) l.renew_mean_shift(round);
        return round;
    }
    /// These statistics with the bytes sent and received since connect(), and the present state. Waits for a collective
    /// in the background, which counts its bytes on another thread.
    reducer_statistics with_traffic(reducer_statistics all) const {
        wait();
        all = detail::with_traffic(all, with_.comm(), with_.watching());
        for (auto const& l : all_) all.bytes_of_state += l.memory().bytes();
        return all;
    }
    void require_add() const {
        for (auto const& l : all_) l.memory().require_add();
    }
    void add_state() {
        for (auto& l : all_) l.add_state();
    }
    void take_mean_state(int ranks) {
        for (auto& l : all_) l.take_mean_state(ranks);
    }
    template <class Archive>
    void state(Archive& archive) {
        for (auto const l : by_name()) all_[l].state(archive);
    }

  private:
    // What does not suit a layer, or this rank's share of a whole one, with its name.
    [[gnu::cold, gnu::noinline]] static std::string named(layer const& l, error const& e, layer const* whole) {
        return concat({(l.name.empty() ? "" : concat({"layer ", l.name, ": "})), e.what(),
                       (whole ? concat({", where this rank has ", l.size, " of its ", whole->size, " numbers"}) : "")});
    }

    step_resources<C, B> with_;
    std::deque<layer_type> all_;
};

}  // namespace laconic::detail
