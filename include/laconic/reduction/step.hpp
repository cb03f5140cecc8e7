// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/view.hpp"
#include "laconic/reduction/caller_vector.hpp"
#include "laconic/reduction/options.hpp"
#include "laconic/reduction/reduced_layers.hpp"
#include "laconic/reduction/restore.hpp"
#include "laconic/reduction/statistics.hpp"
#include "laconic/reduction/step_control.hpp"

namespace laconic {

/// The steps of a reducer in their parts, for who does something between them, as a method with two reductions does:
///
///     step.start(l, x, options)    for each layer: its message is made, and begins to travel
///     step.prepare()               all messages are there, and no state has changed
///     step.failed()                why the step cannot be completed, the same on all ranks, or null
///     step.commit()                changes the state, and replaces the vectors by the estimate; or else
///     step.abandon()               ends the step without a change
///
/// reducer.hpp says what each does and throws; finish() is prepare(), and commit() unless it has failed.
template <class R, Communicator C, Scalar T = float, class B = host>
class reduction_step {
  public:
    using layers_type = detail::reduced_layers<R, C, T, B>;
    using layer_type = typename layers_type::layer_type;

    /// With the reduction rule(layer) for each layer. A collective call.
    template <class Rule>
    reduction_step(C& comm, Rule const& rule, std::vector<layer> const& layers, reducer_options const& options,
                   B on = {})
        : reduction_step(std::move(on), rule, layers, options) {
        connect(comm);
    }
    /// For layers that are this rank's shares of `wholes`, before they are connected. Sends nothing.
    template <class Rule>
    [[gnu::cold]] reduction_step(B on, Rule const& rule, std::vector<layer> const& layers,
                                 reducer_options const& options, std::vector<layer> const* wholes = nullptr)
        : layers_(std::move(on), rule, layers, options, wholes), control_(layers_, options) {}
    reduction_step(reduction_step const&) = delete;
    reduction_step& operator=(reduction_step const&) = delete;
    /// To be called on all ranks before the first step, once.
    void connect(C& comm) { layers_.connect(comm); }

    /// Opens a step, which is done by the first of the calls below where it is not.
    void open(step_options const& options = {}) { control_.open(options); }
    void bind(std::size_t l, detail::caller_vector x) { control_.bind(l, x); }
    void start(std::size_t l, detail::caller_vector x, step_options const& options = {}) {
        control_.start(l, x, options);
    }
    template <Contiguous X>
    void start(std::size_t l, X&& x, step_options const& options = {}) {
        start(l, detail::caller_vector(view(x)), options);
    }
    /// Marks that this rank cannot take the step: it fails with compression_error on all ranks, with this reason.
    void refuse(std::string why, step_options const& options = {}) {
        refuse(failure::no_message(std::move(why)), options);
    }
    /// The same, where it is known as a failure.
    void refuse(failure why, step_options const& options = {}) { control_.refuse(std::move(why), options); }
    /// Waits for the message beside which nothing else may be in flight, if there is one.
    void receive_alone() { control_.receive_alone(); }
    /// If it throws, the step has ended.
    void prepare(step_options const& options = {}) { control_.prepare(options); }
    std::exception_ptr failed() const { return control_.failed(); }
    void commit() { control_.commit(); }
    void abandon() { control_.abandon(); }
    void finish(step_options const& options = {}) { control_.finish(options); }
    void drop() { control_.drop(); }

    std::vector<std::byte> save() const {
        auto& same = const_cast<reduction_step&>(*this);  // which is only read
        return detail::saved(same.control_, same.layers_);
    }
    void restore(std::span<std::byte const> saved) { detail::restore_own(control_, layers_, saved); }
    void restore(std::span<std::vector<std::byte> const> saved) { detail::restore_any(control_, layers_, saved); }
    void rebind(C& comm) {
        auto const so_far = statistics();
        control_.rebind(layers_.reconnect(comm, control_.round()), so_far);
    }
    /// For a state of which these steps are a part.
    template <class Archive>
    void state(Archive& archive) {
        detail::pass_state(control_, layers_, archive);
    }
    void require_consistent() const { control_.require_consistent(); }
    void recover() { control_.recover(); }
    /// The order of layers is always that of their numbers.
    void start_as_listed() { control_.set_order(detail::layer_order(layers_.size(), true)); }

    std::uint64_t steps() const { return control_.round(); }
    layers_type& layers() { return layers_; }
    layers_type const& layers() const { return layers_; }
    reducer_statistics statistics() const { return layers_.with_traffic(control_.statistics()); }

  private:
    layers_type layers_;
    detail::step_control control_;  // ends first, and disconnects them
};

}  // namespace laconic
