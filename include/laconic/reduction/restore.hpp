// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/wire/state.hpp"

namespace laconic::detail {

/// Restores a reducer's step from this rank's saved state. Throws shape_error or wire_error, and then has changed
/// nothing.
template <class Step>
void restore_own(Step& step, std::span<std::byte const> saved) {
    step.require_no_step("restore()");
    auto const seed = step.layers().seed().for_state(saved);
    state_reader archive(saved, step.identity(step.comm().rank(), step.comm().size(), seed), {}, step.on());
    step.state(archive);
    archive.rewind();
    step.state(archive);
    step.layers().replace_seed(seed);
    step.make_whole();
}

/// Throws agreement_error unless these states of all ranks are of one step, and of this seed.
template <class Step>
void require_one_step(Step& step, std::span<std::vector<std::byte> const> saved, std::uint64_t seed) {
    std::uint64_t first = 0;
    for (std::size_t r = 0; r < saved.size(); ++r) {
        std::uint64_t round = 0;
        state_reader archive(saved[r], step.identity(static_cast<int>(r), static_cast<int>(saved.size()), seed), {},
                             step.on());
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
template <class Step>
void restore_means(Step& step, std::span<std::vector<std::byte> const> saved, std::uint64_t seed) {
    int const ranks = static_cast<int>(saved.size());
    auto const reader = [&](int r) {
        return state_reader(saved[static_cast<std::size_t>(r)], step.identity(r, ranks, seed), {}, step.on());
    };
    for (auto const& l : step.layers().all()) l.memory().require_add();
    for (int r = 0; r < ranks; ++r) {
        auto archive = reader(r);
        step.state(archive);
        archive.rewind();
    }
    step.break_off();
    for (int r = 0; r < ranks; ++r) {
        auto archive = reader(r);
        archive.skip_checks();
        step.state(archive);
        step.layers().for_each([&](auto& l) { l.add_state(step.on()); });
    }
    step.layers().for_each([&](auto& l) { l.take_mean_state(step.on(), ranks); });
    step.layers().replace_seed(seed);
    step.make_whole();
}

/// Restores from the states of as many ranks, or of another number.
template <class Step>
void restore_any(Step& step, std::span<std::vector<std::byte> const> saved) {
    if (saved.empty()) throw argument_error("no rank's state to restore");
    step.require_no_step("restore()");
    auto const seed = step.layers().seed().for_state(saved[0]);
    require_one_step(step, saved, seed);
    if (static_cast<int>(saved.size()) == step.comm().size())
        restore_own(step, std::span<std::byte const>(saved[static_cast<std::size_t>(step.comm().rank())]));
    else
        restore_means(step, saved, seed);
}

/// The state that restore_own() reads.
template <class Step>
std::vector<std::byte> saved(Step& step) {
    step.require_no_step("save()");
    step.require_whole();
    auto const seed = step.layers().seed().value();
    state_writer archive(step.identity(step.comm().rank(), step.comm().size(), seed), step.on());
    step.state(archive);
    return archive.finish();
}

}  // namespace laconic::detail
