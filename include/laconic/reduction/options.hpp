// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/core/view.hpp"
#include "laconic/reduction/layer.hpp"
#include "laconic/transport/rank_messages.hpp"

namespace laconic {

/// What a step does where a rank's gradient holds NaN or infinity, or overflows when it is compensated, or where the
/// estimate, times the loss scale, is beyond the caller's numbers. A step that fails so has not counted.
enum class on_non_finite {
    raise,     ///< non_finite_error on every rank
    propagate  ///< every rank's numbers become NaN, which a loss scaler looks for
};
/// What finish() does with a layer that was not started on this rank.
enum class on_missing_layer {
    raise,  ///< it is an error: compression_error on every rank
    zero,   ///< its gradient counts as zeros: part of the residual may be sent, and the vector of reducer::bind() gets
            ///< the estimate, as on the ranks that have started it. All layers of a step have the same options then
    skip    ///< it is not sent, which is an error unless all ranks skip it: its residual, its shift and its vector stay
            ///< as they are
};

/// The options of a reducer, beside the reduction and the layers; the same on all ranks.
struct reducer_options {
    /// The seed from which compressors draw. Where none is given, rank 0 draws one for all: reducer.seed() names it,
    /// and saved states have it. Give one for a run that can be repeated bit for bit.
    std::optional<std::uint64_t> seed{};
    on_non_finite non_finite = on_non_finite::raise;
    on_missing_layer missing_layer = on_missing_layer::raise;
    /// A layer whose numbers are zeros on all ranks in a step, as are those that a rank does not read, is skipped in
    /// it: its estimate is 0, and its residual, shift and momentum stay as they are. Where a loop has no use for the
    /// estimate of such a layer, a residual that is sent would be lost. Its message is sent all the same, with a bit
    /// more for each layer. It does not go with a collective, which adds messages up on their way. Cost: it reads the
    /// vector up to its first number that is not 0.
    bool skip_zero_layers = false;
    /// Layers of fewer numbers than this are dense: sent uncompressed, without a state. So are layers whose names match
    /// one of these patterns, in which * stands for any text, such as "*.bias". A pattern that matches none is an
    /// error.
    std::size_t dense_below = 0;
    std::vector<std::string> in_full{};
    std::uint64_t dense_rounds = 0;  ///< the number of first steps in which every layer is dense
    /// Layers of fewer numbers than this, next to each other in the order of layers, share one message of up to 16
    /// times as many numbers. Each is compressed separately. 0: each layer has a message of its own, as layers always
    /// have where layers may be skipped or a collective adds them up.
    std::size_t share_below = 4096;
    /// Steps may have weights and be dense (step_options): all ranks compare both, and the step's number and options,
    /// before each step's first message, 16 bytes from each.
    bool steps_vary = false;
    /// Every so many steps all ranks' uncompressed gradients are gathered, and the estimate is compared with their
    /// mean: see statistics(). 0: never, at no cost. Memory: 2 d numbers.
    std::uint64_t probe_every = 0;
    /// Every so many steps the ranks compare the numbers of their steps and digests of their estimates and shifts, 8
    /// bytes from each and 8 a layer. finish() throws agreement_error where the first differ, comm_error, which names a
    /// layer and a rank, where the others do. 0: never. Cost: a pass at about a byte a cycle.
    std::uint64_t verify_every = 0;
    /// Whether ranks round at random by thresholds that are spread evenly over them, so that their errors cancel in the
    /// mean where they round like numbers to a common grid (correlated quantization; Suresh, Sun, Ro, Yu, ICML 2022).
    /// Each message is as unbiased as without, and has the same variance; that of the mean is at most 4/3 of the one
    /// without. Ranks then rotate by the same signs; what else is drawn remains each rank's own. Theorems that count on
    /// independent ranks do not cover it.
    bool correlated = false;
    position_code positions = position_code::smallest;
};

/// The options of one step, or of one layer in it. A layer that is not started has those of the first that is, or those
/// of finish() where none is.
struct step_options {
    /// The factor by which the caller has multiplied the gradient, above 0, where the reducer's numbers hold it and its
    /// reciprocal (for float from 2^-126 to 2^126); the estimate is multiplied by the same. The residual and the shift
    /// are held without it, so that it may change from step to step. The same on all ranks.
    double loss_scale = 1;
    /// The learning rate that the caller applies to the estimate, above 0: where it changes, the residual is multiplied
    /// by the previous one over this one (Karimireddy et al., ICML 2019), so that each part of it is applied at the
    /// rate of its own step. Where none is given the residual stays as it is. A rate of 0 is refused: what the step
    /// sends would be lost, so drop() a step at that rate. The same on all ranks.
    std::optional<double> step_size{};
    /// The weight of this rank's gradient in the mean, such as its number of samples, at least 0 and the same for all
    /// layers: the estimate is of sum w_i g_i / sum w_i. A rank with weight 0 has no data, and its numbers are not
    /// read. Weights other than 1 need reducer_options::steps_vary, and a reduction without a shift.
    double weight = 1;
    /// Sends all layers uncompressed in this step, on all ranks. Needs reducer_options::steps_vary.
    bool dense = false;

    bool operator==(step_options const&) const = default;
};

namespace detail {

/// Whether a name matches a pattern in which each * stands for any text.
inline bool matches(std::string_view pattern, std::string_view name) {
    auto next = pattern.find('*');
    if (next == pattern.npos) return pattern == name;
    if (!name.starts_with(pattern.substr(0, next))) return false;
    for (std::size_t at = 0;;) {  // what stands between two * matches where it is found first
        name.remove_prefix(at + next), pattern.remove_prefix(next + 1);
        next = pattern.find('*');
        if (next == pattern.npos) return name.ends_with(pattern);
        at = name.find(pattern.substr(0, next));
        if (at == name.npos) return false;
    }
}

/// Whether this layer is always dense.
inline bool is_in_full(layer const& l, reducer_options const& options) {
    return l.in_full || l.size < options.dense_below ||
           std::any_of(options.in_full.begin(), options.in_full.end(),
                       [&](auto const& p) { return matches(p, l.name); });
}

/// Throws argument_error where a pattern of in_full matches the name of no layer.
[[gnu::cold, gnu::noinline]] inline void require_matches(std::vector<layer> const& layers,
                                                         reducer_options const& options) {
    std::size_t const most = 8;  // names in the text
    for (auto const& p : options.in_full) {
        if (std::any_of(layers.begin(), layers.end(), [&](auto const& l) { return matches(p, l.name); })) continue;
        std::string names;
        for (std::size_t l = 0; l < std::min(most, layers.size()); ++l)
            names += concat({(l > 0 ? ", " : ""), "\"", layers[l].name, "\""});
        if (layers.size() > most) names += concat({" and ", layers.size() - most, " more"});
        throw argument_error({"in_full: the pattern \"", p, "\" matches no layer; their names are ", names});
    }
}

/// Throws argument_error for a loss scale or a step size outside its range, for gradients that are computed in T.
template <Scalar T>
[[gnu::noinline]] void check(step_options const& o) {
    if (!(o.loss_scale > 0 && std::isfinite(o.loss_scale)))
        throw argument_error({"a loss scale of ", o.loss_scale, ", which must be finite and above 0"});
    double const least = double(std::numeric_limits<T>::min()), most = 1 / least;  // both have a reciprocal in T
    if (o.loss_scale < least || o.loss_scale > most)
        throw argument_error({"a loss scale of ", o.loss_scale, ", which numbers of ", sizeof(T),
                              " bytes do not hold with its reciprocal: it must be from ", least, " to ", most});
    if (o.step_size && !(*o.step_size > 0 && std::isfinite(*o.step_size)))
        throw argument_error({"a step size of ", *o.step_size, ", which must be finite and above 0: what a step ",
                              "at rate 0 sends would be lost, so drop() it"});
}

/// A digest of what ranks must have alike in a step, which is never 0: its options, and the largest number that the
/// vector holds.
inline std::uint64_t step_digest(step_options const& o, double largest = 0) {
    auto const bits = [](double v) { return std::bit_cast<std::uint64_t>(v); };
    return fingerprint({bits(o.loss_scale), bits(o.step_size.value_or(0)), bits(largest)}) | 1;
}

/// The options as items on which ranks must agree, except the seed (collective/seed.hpp).
[[gnu::cold, gnu::noinline]] inline agreed_items described(reducer_options const& o) {
    std::string patterns;
    for (auto const& p : o.in_full) patterns += concat({escaped(p, ","), ", "});
    char const* const missing[] = {"raises", "is zero", "is skipped"};
    return {{"what is not finite", o.non_finite == on_non_finite::raise ? "raises" : "propagates"},
            {"what is not started", missing[static_cast<int>(o.missing_layer)]},
            {"layers of zeros", o.skip_zero_layers ? "are skipped" : "are sent"},
            {"layers in full", concat({patterns, "those of fewer numbers than ", o.dense_below})},
            {"steps in full", o.dense_rounds},
            {"layers that share a message", concat({"those of fewer numbers than ", o.share_below})},
            {"steps with weights", o.steps_vary ? "yes" : "no"},
            {"steps between probes", o.probe_every},
            {"steps between comparisons", o.verify_every},
            {"rounding", o.correlated ? "correlated" : "of each rank alone"}};
}

}  // namespace detail

/// What a reducer has done since it was made, on this rank; restore() does not reset it.
struct reducer_statistics {
    std::uint64_t steps = 0;           ///< steps that succeeded
    std::uint64_t bytes_sent = 0;      ///< of messages; a message to all ranks counts once
    std::uint64_t bytes_received = 0;  ///< of other ranks' messages
    /// Over this rank's link in its busier direction: received, or sent with a message to all ranks counted once for
    /// each of them. By this figure gathers and collectives compare.
    std::uint64_t bytes_on_link = 0;
    std::uint64_t bytes_in_full = 0;   ///< of the caller's numbers in all successful steps
    std::uint64_t bytes_watching = 0;  ///< sent for probes, comparisons and broadcast(), not part of the above
    std::uint64_t bytes_inside = 0;    ///< sent uncompressed within a node, in a hierarchy
    double seconds_compressing = 0;    ///< time to make and write messages
    double seconds_waiting = 0;        ///< time to wait for other ranks; of a collective all of its time
    double seconds_adding = 0;         ///< time to read gathered messages and add them up
    double seconds_committing = 0;     ///< time to update residuals and shifts, and to write the estimates
    double seconds_inside = 0;         ///< time for the sums within a node, in a hierarchy
    std::size_t bytes_of_state = 0;    ///< of residuals and shifts

    /// The last step that was probed: the estimate compared with all ranks' mean gradient, without the loss scale.
    struct probe {
        std::uint64_t step = 0;     ///< its number, counted from 1; 0: there was none
        double cosine = 0;          ///< the cosine of the angle between the two; 0 where one of them is 0
        double relative_error = 0;  ///< |estimate - mean| / |mean|
        double gradient_norm = 0;   ///< |mean|
        double residual_norm = 0;   ///< |residual| of this rank after the step, 0 where there is none
    } last_probe{};
};

namespace detail {

/// The element types that a reducer which computes in T accepts: T itself, and where T is float also numbers of 16
/// bits.
template <class E, class T>
concept ReducedAs = std::same_as<E, T> ||(std::same_as<T, float>&& Number16<E>);

// Whether a step of a reducer that computes in T takes an argument of type X&&, into which finish() writes; where not,
// the compiler prints what to change and compiles no further.
template <Scalar T, class X>
consteval bool takes() {
    using held = std::remove_reference_t<X>;
    constexpr bool is_contiguous = Contiguous<held>;
    static_assert(is_contiguous,
                  "a reducer takes a vector whose numbers lie one after another in memory: a vector, array or span, an "
                  "Eigen vector or matrix, or your own type with data() and size(); an expression, such as 2 * x of "
                  "Eigen's, is first assigned to a vector");
    if constexpr (is_contiguous) {
        using E = element_of<held>;
        constexpr bool is_const = std::is_const_v<std::remove_reference_t<decltype(*std::declval<held&>().data())>>;
        constexpr bool is_of_double = std::same_as<E, double> && std::same_as<T, float>;
        constexpr bool ends_first = std::same_as<X, held> && owns_elements<held>();
        static_assert(!is_const, "x is const: a reducer replaces its numbers by the estimate");
        static_assert(!is_of_double,
                      "x holds double, and this reducer computes in float: make it with x in place of sizes or layers, "
                      "or by reducer_of<double>(how, comm, layers)");
        static_assert(is_of_double || ReducedAs<E, T>,
                      "x holds other numbers than those that this reducer computes in: a reducer of float takes float "
                      "and numbers of 16 bits, one of double takes double");
        static_assert(!ends_first,
                      "x is a temporary that owns its numbers, so that the estimate which finish() writes into it is "
                      "lost: give it a name, and keep it until finish() returns; a span may be a temporary");
        return !is_const && ReducedAs<E, T> && !ends_first;
    }
    return false;
}

// Whether the constructor of a reducer that computes in T takes a vector of X for its length.
template <Scalar T, class X>
consteval bool is_like() {
    constexpr bool is_of_its_type = ReducedAs<element_of<X>, T>;
    static_assert(is_of_its_type,
                  "the third argument holds numbers of another type than this reducer computes in, float, double or "
                  "numbers of 16 bits; the sizes of layers are of type size_t, and several vectors are layers: "
                  "layers_of({n, m})");
    return true;
}

}  // namespace detail

}  // namespace laconic
