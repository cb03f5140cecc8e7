// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "laconic/collective/agreement.hpp"
#include "laconic/wire/state.hpp"

namespace laconic::detail {

/// A seed from the system's source of random numbers, so that no two runs draw the same.
[[gnu::cold]] inline std::uint64_t drawn_seed() {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
}

/// The seed that is named in a saved state, if it names one. Throws wire_error where the bytes are no state or are
/// damaged.
[[gnu::cold]] inline std::optional<std::uint64_t> saved_seed(std::span<std::byte const> saved) {
    std::string const owner = "\n" + wire::state_reader(saved).owner();
    std::string_view const name = "\nthe seed: ";
    std::uint64_t seed = 0;
    auto const at = owner.find(name);
    if (at == owner.npos) return {};
    auto const* const first = owner.data() + at + name.size();
    if (std::from_chars(first, owner.data() + owner.size(), seed).ec != std::errc()) return {};
    return seed;
}

/// The seed that ranks share: the one that all of them are given or, where none is, one that rank 0 draws. In place of
/// a drawn one the ranks may take that of a saved state.
class shared_seed {
  public:
    explicit shared_seed(std::optional<std::uint64_t> given) : is_given_(given.has_value()), value_(given) {}

    bool is_given() const { return is_given_; }
    /// After agree().
    std::uint64_t value() const { return *value_; }
    /// The seed with which this state can be restored here: its own, unless another is given.
    std::uint64_t for_state(std::span<std::byte const> saved) const {
        return is_given_ ? *value_ : saved_seed(saved).value_or(value_.value_or(0));
    }
    /// Replaces one that was not given.
    void replace(std::uint64_t seed) {
        if (!is_given_) value_ = seed;
    }
    /// Adds what ranks must have alike of it.
    void describe(agreed_items& items) const { items.add({"the seed", is_given_ ? text_piece(*value_) : "not given"}); }
    /// This rank's note in an agreement (require_agreement), of which that of rank 0 replaces the others'.
    std::uint64_t note(int rank) {
        if (rank == 0 && !value_) value_ = drawn_seed();
        return value_.value_or(0);
    }
    /// The same as require_agreement(comm, items), for the seed, too, which is rank 0's from then on where none is
    /// given. Throws agreement_error on every rank where some are given a seed and others none or another.
    void agree(Communicator auto& comm, agreed_items items) {
        describe(items);
        replace(require_agreement(comm, items, note(comm.rank())));
    }

  private:
    bool is_given_;
    std::optional<std::uint64_t> value_;
};

}  // namespace laconic::detail
