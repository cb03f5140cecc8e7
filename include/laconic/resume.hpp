// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "laconic/hierarchy.hpp"

namespace laconic {

namespace detail {

/// Restores what can be kept of the states of other steps.
struct resumption {
    using bytes = std::span<std::byte const>;
    using texts = std::vector<std::string>;

    template <class Memory>
    struct saved_layer {
        layer is;
        Memory memory;
    };

    static auto& step_of(auto& reduce) { return reduce.step(); }

    template <class R, class C, class T, class B>
    static texts from(reduction_step<R, C, T, B>& step, bytes own) {
        return from_ranks(step, {own}, step.comm().rank(), step.comm().size(), false);
    }
    template <class R, class C, class T, class B>
    static texts from(reduction_step<R, C, T, B>& step, std::span<std::vector<std::byte> const> saved) {
        bool const any_lost = std::any_of(saved.begin(), saved.end(), [](auto const& s) { return s.empty(); });
        bool const as_many = static_cast<int>(saved.size()) == step.comm().size();
        // All states are looked at, also where this rank's alone is taken: so all ranks accept the same.
        auto not_restored = from_ranks(step, {saved.begin(), saved.end()}, 0, static_cast<int>(saved.size()), true,
                                       any_lost || !as_many);
        if (any_lost || !as_many) return not_restored;
        return from(step, bytes(saved[static_cast<std::size_t>(step.comm().rank())]));
    }
    template <class R, class Inside, class A, class T>
    static texts from(reduction_step<R, hierarchy<Inside, A>, T, host>& step, bytes own) {
        step.require_no_step("resume()");
        return from(*step.step_, own);
    }
    template <class R, class Inside, class A, class T>
    static texts from(reduction_step<R, hierarchy<Inside, A>, T, host>& step,
                      std::span<std::vector<std::byte> const> saved) {
        step.require_no_step("resume()");
        auto const mine = step.of_share(saved);
        return from(*step.step_, std::span(mine));
    }

  private:
    // From the states of ranks in a row, of so many in all; empty ones are lost. Where `applies`, each layer takes its
    // state, or with `mean` the mean of the states.
    template <class Step>
    static texts from_ranks(Step& step, std::vector<bytes> const& saved, int first, int ranks, bool mean,
                            bool applies = true) {
        step.require_no_step("resume()");
        auto const there = std::find_if(saved.begin(), saved.end(), [](bytes s) { return !s.empty(); });
        if (there == saved.end()) throw argument_error("no rank's state to restore");
        auto const seed = step.seed().for_state(*there);
        std::optional<std::uint64_t> round;
        texts lost, changed;
        auto const each = [&](auto use) {
            for (std::size_t i = 0; i < saved.size(); ++i)
                if (!saved[i].empty()) use(first + static_cast<int>(i), saved[i]);
        };
        for (std::size_t i = 0; i < saved.size(); ++i)
            if (saved[i].empty()) lost.push_back(concat({"rank ", i, " has no state, which counts as zeros"}));
        each([&](int rank, bytes state) {
            std::uint64_t of_state = 0;
            auto const layers = read(step, state, rank, ranks, seed, of_state);
            if (of_state != round.value_or(of_state))
                throw agreement_error(rank,
                                      {"rank ", rank, "'s state is of step ", of_state, ", others' of step ", *round});
            round = of_state;
            changed = take(step, layers, false);
        });
        lost.insert(lost.end(), changed.begin(), changed.end());
        if (!applies) return lost;
        step.broken_.rank_moves();
        each([&](int rank, bytes state) {
            take(step, read(step, state, rank, ranks, seed, step.round_), true);
            if (mean)
                for (auto& l : step.all_) l.add_state();
        });
        if (mean)
            for (auto& l : step.all_) l.take_mean_state(ranks);
        step.replace_seed(seed), step.recover();
        return lost;
    }
    // The layers of a state. Throws wire_error and shape_error.
    template <class Step>
    static auto read(Step& step, bytes state, int rank, int ranks, std::uint64_t seed, std::uint64_t& round) {
        using memory_type = std::remove_cvref_t<decltype(step.all_[0].memory())>;
        using feedback_type = typename Step::layer_type::feedback_type;
        auto const fixed = step.fixed_identity(rank, ranks, seed);
        auto owner = wire::state_reader(state).owner();
        if (!owner.starts_with(fixed)) owner = fixed;  // is refused
        wire::state_reader archive(state, owner, {}, step.with_.on);
        archive.skip_checks();
        std::uint64_t count = 0;
        archive(round, count);
        std::vector<saved_layer<memory_type>> layers;
        for (std::uint64_t l = 0; l < count; ++l) {
            auto& next = layers.emplace_back(saved_layer<memory_type>{{}, {feedback_type{}, 0}});
            archive.of_any_length(next.is.name), archive(next.is.in_full), next.memory.any_state(archive);
        }
        return layers;
    }
    // Gives each layer its state where `applies`. Returns what is not restored. Throws shape_error where a layer
    // remembers something else, and then nothing has changed.
    static texts take(auto& step, auto const& saved, bool applies) {
        texts not_restored;
        for (auto& l : step.all_) {
            auto const of =
                std::find_if(saved.begin(), saved.end(), [&](auto const& s) { return s.is.name == l.name(); });
            auto const* const from = of == saved.end() ? nullptr : &*of;
            char const* why = from ? nullptr : "it is new";
            if (from && l.in_full() != from->is.in_full) why = l.in_full() ? "it is in full" : "it was in full";
            if (from && !why) {
                auto const &here = l.feedback(), &there = from->memory.feedback();
                if (here.shift().empty() != there.shift().empty() ||
                    here.residual().empty() != there.residual().empty())
                    throw shape_error(
                        {l.title(), " remembers something else here than where it was saved: ", l.described()});
                if (!here.momentum().empty() && !there.momentum().empty() &&
                    here.common_momentum().empty() != there.common_momentum().empty())
                    throw shape_error({l.title(),
                                       ": its momentum is common to all ranks here and was each rank's own "
                                       "where it was saved, or the other way round: ",
                                       l.described()});
                bool const as_long = here.shift().size() == there.shift().size() &&
                                     here.residual().size() == there.residual().size() &&
                                     (there.mean_shift().empty() || there.mean_shift().size() == here.shift().size()) &&
                                     (here.momentum().empty() || there.momentum().empty() ||
                                      here.momentum().size() == there.momentum().size());
                if (!as_long) why = "it had another length";
                if (as_long && here.momentum().size() != there.momentum().size())
                    not_restored.push_back(concat({l.title(), ": the momentum is not restored, as only one has it"}));
            }
            if (why) not_restored.push_back(concat({l.title(), " is not restored: ", why}));
            if (applies) l.take(why ? nullptr : &from->memory);
        }
        for (auto const& s : saved)
            if (std::none_of(step.all_.begin(), step.all_.end(), [&](auto const& l) { return l.name() == s.is.name; }))
                not_restored.push_back(concat({title_of(s.is), " is not restored: it is gone"}));
        return not_restored;
    }
};

}  // namespace detail

/// Restores what can be kept of a state, where restore() would refuse it because layers, options, the compressor, the
/// collective or parameters of the reduction have changed: each layer gets the state of the layer of that name if it
/// has its length and remembers the same, a residual or a shift. `saved` is this rank's state, or those of all ranks,
/// in their order: of these some may be lost, and are empty. Then, or where the number of ranks is another, each rank
/// gets the mean of the states, lost ones as zeros. The state of a collective begins anew. Returns what is not
/// restored, a sentence each, where over nodes ranks are counted among those with the same share. All ranks resume, as
/// with restore().
///
/// Throws shape_error for numbers of another type, another rank, a layer that had a residual and has none or a shift,
/// or the other way round, a momentum that was a rank's own and is common to all, or the other way round, or a residual
/// that is stored compressed; all else as restore(). Then nothing has changed. For reductions whose feedback is a
/// memory, as all of this library's are but loco.
template <class R, class C, Scalar T, class B>
[[nodiscard]] std::vector<std::string> resume(reducer<R, C, T, B>& reduce, std::span<std::byte const> saved) {
    return detail::resumption::from(detail::resumption::step_of(reduce), saved);
}
template <class R, class C, Scalar T, class B>
[[nodiscard]] std::vector<std::string> resume(reducer<R, C, T, B>& reduce,
                                              std::span<std::vector<std::byte> const> saved) {
    return detail::resumption::from(detail::resumption::step_of(reduce), saved);
}

}  // namespace laconic
