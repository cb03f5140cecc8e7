// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/objective/objective.hpp"

namespace laconic {

/// The loop of a method, on one rank, as `descent` is one. All ranks call the same members in the same order:
///     look()      an observation of the iterate before the next round: its `round`, its `x`, and its value(), of which
///                 the mean over the ranks is the function to minimise;
///     round()     one round;
///     rounds()    how many have been made;
///     x()         this rank's iterate;
///     save(), restore(bytes)    the state of this rank, with which the rounds after it are the same, bit for bit.
template <class L>
concept Loop = requires(L& loop, L const& saved, std::span<std::byte const> bytes) {
    { loop.look().round } -> std::convertible_to<std::uint64_t>;
    { loop.look().value() } -> std::convertible_to<double>;
    loop.look().x;
    loop.round();
    { saved.rounds() } -> std::same_as<std::uint64_t>;
    saved.x();
    { saved.save() } -> std::same_as<std::vector<std::byte>>;
    loop.restore(bytes);
};

/// A loop whose ranks hold different iterates: L::own_iterates is true.
template <class L>
concept HoldsOwnIterates = L::own_iterates;

namespace detail {

/// A loop whose ranks evaluate the function together, where one rank's value() is not that of a common point:
/// value_at_mean(comm) is this rank's function at the mean of all ranks' iterates. A collective call, of d numbers
/// each.
template <class L, class C>
concept EvaluatesTogether = requires(L& loop, C& comm) {
    { loop.value_at_mean(comm) } -> std::convertible_to<double>;
};

}  // namespace detail

/// A method that makes its own loop, as it is no recursion: start(problem, objective, comm, x, seed) returns it. x is
/// moved in place; objective, comm and x outlive the loop.
template <class M, class F, class C, class T>
concept LoopMethod = Communicator<C> &&
    requires(M const& method, problem const& p, F const& objective, C& comm, std::span<T> x, std::uint64_t seed) {
    { method.start(p, objective, comm, x, seed) } -> Loop;
};

}  // namespace laconic
