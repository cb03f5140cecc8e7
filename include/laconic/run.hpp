// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "laconic/collective/agreed_problem.hpp"
#include "laconic/collective/seed.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/descent.hpp"
#include "laconic/loop.hpp"
#include "laconic/run_settings.hpp"

namespace laconic {

namespace detail {

/// Combines this rank's values for a trace_point with the others'. A collective call.
[[gnu::cold, gnu::noinline]] trace_point share_progress(Communicator auto& comm, std::uint64_t round, double value,
                                                        double up, double down, double seconds) {
    struct progress {
        double value, up, down, seconds;
    };
    trace_point m;
    m.round = round;
    from_all(comm, progress{value, up, down, seconds}, "its progress", [&](int r, progress const& theirs) {
        if (r == 0) m.seconds = theirs.seconds;
        m.value += theirs.value;
        m.bits_up += theirs.up;
        m.bits_down += theirs.down;
    });
    double const share = 1.0 / comm.size();
    m.value *= share;
    m.bits_up *= share;
    m.bits_down *= share;
    return m;
}

// Whether descend() takes these types; where not, the compiler prints what to change and compiles no further.
template <class M, class F, class X, class C>
consteval bool can_descend() {
    static_assert(!kernels::OutOfReach<X>,
                  "descend() runs on the host; for x on a device call descent<R, F, C, T, device> by itself");
    static_assert(kernels::OutOfReach<X> || Contiguous<X>,
                  "x, the starting point, is a vector, array, span or Eigen vector of float or double");
    static_assert(Communicator<C>,
                  "the fourth argument is no communicator: threads::run gives one to each worker, and mpi is one; what "
                  "your own needs stands in comm/communicator.hpp");
    if constexpr (Contiguous<X> && !kernels::OutOfReach<X> && Communicator<C>) {
        using T = element_of<X>;
        using number = std::remove_reference_t<decltype(*std::declval<X&>().data())>;
        static_assert(Scalar<T>, "x holds neither float nor double");
        static_assert(!std::is_const_v<number>, "x is const: descend() moves it");
        if constexpr (LoopMethod<M, F, metered<C>, number>) {
            return true;
        } else if constexpr (Scalar<number>) {
            constexpr bool is_method = Recursion<M> || Method<M, T>;
            static_assert(is_method,
                          "the first argument is no method, such as ef21{top_k{0.01}}, and no recursion: it needs "
                          "compose<T, B>(problem)");
            require_objective<F, T>();
            if constexpr (requires(M m) { m.compressor; }) {
                using compressor = decltype(M::compressor);
                require_compressor<compressor, T, host>();
                return is_method && Objective<F, T> && Compressor<compressor, T>;
            }
            return is_method && Objective<F, T>;
        }
    }
    return false;
}

// What to change about arguments that no descend() takes, X and C being those of forwarding references.
template <class X, class C>
consteval bool explain_descend() {
    constexpr bool moves_nothing = std::same_as<X, std::remove_reference_t<X>>;
    constexpr bool is_temporary = std::same_as<C, std::remove_reference_t<C>>;
    static_assert(!moves_nothing, "x is a temporary, and descend() moves it: give it a name");
    static_assert(!is_temporary, "the communicator is a temporary: give it a name");
    static_assert(moves_nothing || is_temporary,
                  "what follows the communicator makes no run_settings (run_settings.hpp), nor a watch after them: a "
                  "member is misspelled, or not of its type");
    return true;
}
template <class X, class C>
struct refused_run : run_result {
    static_assert(explain_descend<X, C>());
};

// The watch of a run that nobody watches.
struct no_watch {
    void operator()(auto const&) const {}
};

// f, as run's trace has it: the mean over the ranks of what each calls its value.
template <class L, class At, class C>
double value_for_trace(L& run, At const& now, C& comm) {
    if constexpr (EvaluatesTogether<L, C>)
        return run.value_at_mean(comm);
    else
        return static_cast<double>(now.value());
}

// Runs the loop that start(metered communicator, seed) returns.
template <class Start, class C, class Watch>
run_result run_loop(Start start, C& comm, run_settings how, Watch watch) {
    if (how.check_every == 0) throw argument_error("check_every = 0: a run cannot be checked every 0 rounds");
    auto const begin = std::chrono::steady_clock::now();
    metered<C> counted(comm);
    auto&& innermost_comm = innermost(comm);
    shared_seed seed(how.seed);
    agreed_items of_seed;
    if (!how.resume_from.empty() && !seed.is_given()) {
        seed.replace(seed.for_state(how.resume_from));
        of_seed.add({"the seed of the saved state", seed.value()});
    }
    seed.agree(innermost_comm, of_seed);
    auto run = start(counted, seed.value());
    static_assert(Loop<decltype(run)>);
    if (!how.resume_from.empty()) run.restore(how.resume_from);
    // Ranks with other settings would wait for each other in different collective calls.
    agreed_items items{{"the round to start from", run.rounds()}, {"the rounds", how.rounds},
                       {"the limit of bits", how.bits},           {"the target", how.target},
                       {"the limit of seconds", how.seconds},     {"the rounds between checks", how.check_every},
                       {"the trace", how.trace ? "kept" : "none"}};
    bool own_iterates = HoldsOwnIterates<decltype(run)>;
    if constexpr (requires { run.evaluates_together(); }) own_iterates = run.evaluates_together();
    if (!own_iterates) items.add({"the iterate to start from", detail::digest(std::as_bytes(run.x()))});
    require_agreement(innermost_comm, items);
    bool const limited = how.trace != nullptr || how.bits < std::numeric_limits<double>::infinity() ||
                         how.target > -std::numeric_limits<double>::infinity() ||
                         how.seconds < std::numeric_limits<double>::infinity();
    auto const seen = [&](auto const& now) {
        if constexpr (std::invocable<Watch&, decltype(now), decltype(run) const&>)
            return watch(now, std::as_const(run));
        else
            return watch(now);
    };
    auto const ended = [&](stop_reason why) { return run_result{run.rounds(), why, seed.value()}; };
    for (;;) {
        auto const now = run.look();
        if constexpr (std::convertible_to<decltype(seen(now)), bool>) {
            if (!seen(now)) return ended(stop_reason::watch);
        } else {
            seen(now);
        }
        bool const last = run.rounds() >= how.rounds;
        if (limited && (last || run.rounds() % how.check_every == 0)) {
            std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - begin;
            auto const m = detail::share_progress(
                innermost_comm, run.rounds(), value_for_trace(run, now, innermost_comm),
                8.0 * static_cast<double>(counted.bytes_sent()),
                8.0 * static_cast<double>(counted.bytes_received() + counted.bytes_broadcast()), passed.count());
            if (how.trace) how.trace->push_back(m);
            if (m.value <= how.target) return ended(stop_reason::target);
            if (m.bits_up >= how.bits) return ended(stop_reason::bits);
            if (m.seconds >= how.seconds) return ended(stop_reason::time);
        }
        if (last) return ended(stop_reason::rounds);
        run.round();
    }
}

template <class R, class F, class C, class X, class Watch>
run_result run_recursion(R method, F const& objective, X& x, C& comm, run_settings const& how, Watch watch) {
    auto const start = [&](metered<C>& counted, std::uint64_t seed) {
        return descent<R, F, metered<C>, element_of<X>>(std::move(method), objective, counted, view(x), seed, {},
                                                        how.positions);
    };
    return run_loop(start, comm, how, std::move(watch));
}

}  // namespace detail

/// Runs a named method, with its parameters from the constants p of the problem; where p lacks this rank's own
/// smoothness, the objective's is used. It moves x in place; every rank calls it with the same arguments but its own
/// objective. A method that is no recursion has its own loop (loop.hpp), which may give each rank an x of its own. It
/// calls `watch(observation)` before each round, and once after the last; where that returns a bool, false stops the
/// run, and all ranks must return the same. `watch(observation, loop)` also has access to the loop, such as to save it.
/// What is minimised is the mean over the ranks; where ranks have different numbers of samples, by_samples(comm,
/// objective) makes it the mean over all samples.
/// Throws what the loop throws; argument_error for a check_every of 0.
template <class M, class F, class X, class C, class Watch = detail::no_watch>
run_result descend(M const& method, problem p, F const& objective, X& x, C& comm, run_settings how = {},
                   Watch watch = {}) {
    if constexpr (!detail::can_descend<M, F, X, C>()) {
        return {};
    } else {
        if constexpr (detail::has_constants<F>())
            if (p.own_smoothness == 0) p.own_smoothness = objective.smoothness();
        if constexpr (LoopMethod<M, F, metered<C>, detail::element_of<X>>) {
            auto const start = [&](metered<C>& counted, std::uint64_t seed) {
                return method.start(p, objective, counted, detail::view(x), seed);
            };
            bool has_loop = true;
            if constexpr (requires { method.has_loop(); }) has_loop = method.has_loop();  // it is chosen at run time
            if (has_loop) return detail::run_loop(start, comm, how, std::move(watch));
        }
        if constexpr (Method<M, detail::element_of<X>>)
            return detail::run_recursion(method.template compose<detail::element_of<X>, host>(p), objective, x, comm,
                                         how, std::move(watch));
        else
            return {};
    }
}

/// The same with the constants of the ranks' objectives: L is bounded by the mean of the L_i. A method whose step is
/// given may need none of them. Or runs a recursion, which has its parameters.
template <class M, class F, class X, class C, class Watch = detail::no_watch>
run_result descend(M method, F const& objective, X& x, C& comm, run_settings how = {}, Watch watch = {}) {
    if constexpr (!detail::can_descend<M, F, X, C>())
        return {};
    else if constexpr (Recursion<M>)
        return detail::run_recursion(std::move(method), objective, x, comm, how, std::move(watch));
    else
        return descend(method, agree_on_problem(comm, objective), objective, x, comm, how, std::move(watch));
}

/// What cannot be run: the compiler's first error says what to change. (g++'s is of the braces, where a member in them
/// is misspelled.)
template <class M, class F, class X, class C>
requires(!std::same_as<F, problem>) detail::refused_run<X, C> descend(M const&, F const&, X&&, C&&, ...);

}  // namespace laconic
