// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/wire/state.hpp"

/// Saving and restoring the state of a reducer: of what controls its steps (step_control.hpp), and of its layers.
namespace laconic::detail {

template <class Control, class Layers, class Archive>
void pass_state(Control& control, Layers& layers, Archive& archive) {
    control.state(archive), layers.state(archive);
}

/// Restores a reducer from this rank's saved state. Throws shape_error or wire_error, and then has changed nothing.
template <class Control, class Layers>
void restore_own(Control& control, Layers& layers, std::span<std::byte const> saved) {
    control.require_no_step("restore()");
    auto const seed = layers.seed().for_state(saved);
    wire::state_reader archive(saved, layers.identity(layers.comm().rank(), layers.comm().size(), seed), {},
                               layers.on());
    pass_state(control, layers, archive);
    archive.rewind();
    pass_state(control, layers, archive);
    layers.replace_seed(seed);
    control.recover();
}

/// Throws agreement_error unless these states of all ranks are of one step, and of this seed.
template <class Layers>
void require_one_step(Layers& layers, std::span<std::vector<std::byte> const> saved, std::uint64_t seed) {
    std::uint64_t first = 0;
    for (std::size_t r = 0; r < saved.size(); ++r) {
        std::uint64_t round = 0;
        wire::state_reader archive(saved[r], layers.identity(static_cast<int>(r), static_cast<int>(saved.size()), seed),
                                   {}, layers.on());
        archive.skip_checks();
        archive(round);
        if (r == 0) first = round;
        if (round != first)
            throw agreement_error(static_cast<int>(r),
                                  concat({"rank ", r, "'s state is of step ", round, ", rank 0's of step ", first}));
    }
}

/// Restores from the states of another number of ranks, all of them on every rank: with the mean of their residuals and
/// of their shifts. Throws argument_error where the reduction's feedback cannot be added up.
template <class Control, class Layers>
void restore_means(Control& control, Layers& layers, std::span<std::vector<std::byte> const> saved,
                   std::uint64_t seed) {
    int const ranks = static_cast<int>(saved.size());
    auto const reader = [&](int r) {
        return wire::state_reader(saved[static_cast<std::size_t>(r)], layers.identity(r, ranks, seed), {}, layers.on());
    };
    layers.require_add();
    for (int r = 0; r < ranks; ++r) {
        auto archive = reader(r);
        pass_state(control, layers, archive);
        archive.rewind();
    }
    control.break_off();
    for (int r = 0; r < ranks; ++r) {
        auto archive = reader(r);
        archive.skip_checks();
        pass_state(control, layers, archive);
        layers.add_state();
    }
    layers.take_mean_state(ranks);
    layers.replace_seed(seed);
    control.recover();
}

/// Restores from the states of as many ranks, or of another number.
template <class Control, class Layers>
void restore_any(Control& control, Layers& layers, std::span<std::vector<std::byte> const> saved) {
    if (saved.empty()) throw argument_error("no rank's state to restore");
    control.require_no_step("restore()");
    auto const seed = layers.seed().for_state(saved[0]);
    require_one_step(layers, saved, seed);
    if (static_cast<int>(saved.size()) == layers.comm().size())
        restore_own(control, layers, std::span<std::byte const>(saved[static_cast<std::size_t>(layers.comm().rank())]));
    else
        restore_means(control, layers, saved, seed);
}

/// The state that restore_own() reads.
template <class Control, class Layers>
std::vector<std::byte> saved(Control& control, Layers& layers) {
    control.require_no_step("save()");
    control.require_consistent();
    auto const seed = layers.seed().value();
    wire::state_writer archive(layers.identity(layers.comm().rank(), layers.comm().size(), seed), layers.on());
    pass_state(control, layers, archive);
    return archive.finish();
}

}  // namespace laconic::detail
