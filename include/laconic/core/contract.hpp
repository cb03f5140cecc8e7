// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>

/// Contracts between parts of one program. A broken one is a bug in the caller, so the program stops with its place;
/// what comes from outside (files, bytes, users' numbers) is never a contract but an error of core/error.hpp.
/// LACONIC_CONTRACTS is the level: 0 checks nothing, 1 what costs nothing beside the work (default), 2 everything.
#ifndef LACONIC_CONTRACTS
#    define LACONIC_CONTRACTS 1
#endif

namespace laconic {

inline constexpr int contract_level = LACONIC_CONTRACTS;

namespace detail {

[[noreturn]] inline void broken_contract(char const* condition, char const* file, int line) {
    std::fprintf(stderr, "%s:%d: broken contract: %s\n", file, line, condition);
    std::abort();
}

}  // namespace detail
}  // namespace laconic

/// Cheap: O(1) beside the work that follows.
#define LACONIC_EXPECTS(condition)                  \
    ((::laconic::contract_level < 1 || (condition)) \
         ? void()                                   \
         : ::laconic::detail::broken_contract(#condition, __FILE__, __LINE__))

/// Costly: as much as the work itself, or more.
#define LACONIC_EXPECTS_COSTLY(condition)           \
    ((::laconic::contract_level < 2 || (condition)) \
         ? void()                                   \
         : ::laconic::detail::broken_contract(#condition, __FILE__, __LINE__))
