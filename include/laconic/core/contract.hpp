// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>

// Every header includes this one before it uses what is new in C++20.
#if __cplusplus < 202002L && !defined(_MSVC_LANG)
#    error "laconic needs C++20: compile with -std=c++20"
#    include <laconic-needs-c++20>  // no such file exists, so that the compiler stops here
#endif
#if !defined(__cpp_exceptions) && !defined(_CPPUNWIND)
#    error "laconic reports what fails by exceptions: compile without -fno-exceptions"
#    include <laconic-needs-exceptions>  // no such file, either
#endif
// Other headers' macros that break the standard library's own names where the headers here use them.
#if defined(min) || defined(max)
#    error "laconic: min and max are macros here: define NOMINMAX before windows.h is included"
#    include <laconic-needs-std-min-and-max>
#endif

// The checks, the messages and the agreement between ranks depend on whether a number is finite, on the order of sums
// and on the sign of zero. A compiler with the options below would disregard them without a warning.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0) || defined(_M_FP_FAST)
#    error \
        "laconic: compile without -ffast-math, -Ofast, -ffinite-math-only or /fp:fast (or add -fno-fast-math after it): they remove the checks for NaN and infinity, and ranks come to different numbers"
#elif defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#    error \
        "laconic: compile without -funsafe-math-optimizations, -fassociative-math, -freciprocal-math and -fno-signed-zeros: they change the bytes of messages, and ranks come to different numbers"
#elif defined(__FLT_EVAL_METHOD__) && (__FLT_EVAL_METHOD__ < 0 || __FLT_EVAL_METHOD__ == 1 || __FLT_EVAL_METHOD__ == 2)
#    error \
        "laconic: float and double must be computed in their own precision: on 32-bit x86 compile with -msse2 -mfpmath=sse, elsewhere without -fassociative-math and -fapprox-func"
#endif

/// Contracts between parts of one program. A broken contract is a bug in the caller, so the program stops and prints
/// the place; what comes from outside (files, bytes, users' numbers) is never a contract but an error of
/// core/error.hpp. LACONIC_CONTRACTS is the level: 0 checks nothing, 1 checks what is cheap beside the work (default),
/// 2 checks all.
#ifndef LACONIC_CONTRACTS
#    define LACONIC_CONTRACTS 1
#endif

namespace laconic::detail {

/// The level of contract checks that this translation unit is compiled with.
inline constexpr int contract_level = LACONIC_CONTRACTS;

[[noreturn]] inline void broken_contract(char const* condition, char const* file, int line) {
    std::fprintf(stderr, "%s:%d: broken contract: %s\n", file, line, condition);
    std::abort();
}

}  // namespace laconic::detail

/// A cheap check, O(1) beside the work that follows: made from level 1 on. Aborts with file and line where it fails.
#define LACONIC_EXPECTS(condition)                          \
    ((::laconic::detail::contract_level < 1 || (condition)) \
         ? void()                                           \
         : ::laconic::detail::broken_contract(#condition, __FILE__, __LINE__))

/// A costly check, as much work as the function itself: made at level 2. Aborts with file and line where it fails.
#define LACONIC_EXPECTS_COSTLY(condition)                   \
    ((::laconic::detail::contract_level < 2 || (condition)) \
         ? void()                                           \
         : ::laconic::detail::broken_contract(#condition, __FILE__, __LINE__))
