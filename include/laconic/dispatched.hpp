// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "laconic/backend/threaded.hpp"
#include "laconic/message/binned.hpp"
#include "laconic/message/block_floats.hpp"
#include "laconic/message/bucketed.hpp"
#include "laconic/message/plain.hpp"

/// The kernels that a `dispatched` backend takes from laconic::compiled, one after another: a name of its own, the
/// kernel's name, what it returns, its parameters behind the backend, and these as arguments. First those for numbers
/// of a type T. Kernels that are not listed are the host's.
// clang-format off
#define LACONIC_KERNELS_OF_NUMBERS(K) \
    K(sum_of_magnitudes, sum_of_magnitudes, double, (in<T> x), (x)) \
    K(sum_of_squares, sum_of_squares, double, (in<T> x), (x)) \
    K(sum_of_squares_about, sum_of_squares, double, (in<T> x, double scale, double centre), (x, scale, centre)) \
    K(sum_of_numbers, sum_of_numbers, double, (in<T> x, double scale, double centre), (x, scale, centre)) \
    K(largest_magnitude, largest_magnitude, T, (in<T> x), (x)) \
    K(first_non_finite, first_non_finite, std::size_t, (in<T> x), (x)) \
    K(rounding_variance, rounding_variance, double, (in<T> x, T step), (x, step)) \
    K(select_largest, select_largest, void, (in<T> x, std::size_t k, places at), (x, k, at)) \
    K(select_largest_of_each, select_largest_of_each, void, \
      (in<T> x, std::size_t n, std::size_t k, places at), (x, n, k, at)) \
    K(compensate_and_select_largest, compensate_and_select_largest, bool, \
      (T a, in<T> g, in<T> h, T b, in<T> e, out<T> y, std::size_t k, places at), (a, g, h, b, e, y, k, at)) \
    K(take_largest, select_largest, void, (in<T> x, std::size_t k, places at, out<T> v), (x, k, at, v)) \
    K(compensate_and_take_largest, compensate_and_select_largest, bool, \
      (T a, in<T> g, in<T> h, T b, in<T> e, out<T> y, std::size_t k, places at, out<T> v), \
      (a, g, h, b, e, y, k, at, v)) \
    K(select_about, select_about, void, (in<T> x, std::size_t least, std::size_t k, std::size_t most, places at), \
      (x, least, k, most, at)) \
    K(select_above, select_above, void, (in<T> x, T bound, places at), (x, bound, at)) \
    K(select_above_each, select_above, void, (in<T> x, in<T> bounds, places at), (x, bounds, at)) \
    K(select_nonzero_blocks, select_nonzero_blocks, void, (in<T> x, std::size_t n, places at), (x, n, at)) \
    K(select_largest_blocks, select_largest_blocks, void, (in<T> x, std::size_t n, std::size_t k, places at), \
      (x, n, k, at)) \
    K(sample_in_proportion, sample_in_proportion, void, (in<T> x, T bound, key from, places at), \
      (x, bound, from, at)) \
    K(count_by_magnitude, count_by_magnitude, void, (in<T> x, T most, out<std::uint32_t> counts), (x, most, counts)) \
    K(round_to_powers, round_to_powers, void, (in<T> x, key from, std::uint64_t first, out<std::uint16_t> codes), \
      (x, from, first, codes)) \
    K(round_to_short, round_to_short, void, (in<T> x, short_layout f, out<std::uint16_t> codes), (x, f, codes)) \
    K(round_to_short_at_random, round_to_short, void, \
      (in<T> x, short_layout f, key from, std::uint64_t first, out<std::uint16_t> codes), (x, f, from, first, codes)) \
    K(pack_signs, pack_signs, void, (in<T> x, out<std::uint64_t> words), (x, words)) \
    K(round_buckets_to_levels, round_buckets_to_levels, bool, \
      (in<T> x, std::size_t n, p_norm p, int levels, key from, out<T> steps, out<std::int8_t> codes, \
       std::uint64_t first), \
      (x, n, p, levels, from, steps, codes, first)) \
    K(round_buckets_to_more_levels, round_buckets_to_levels, bool, \
      (in<T> x, std::size_t n, p_norm p, int levels, key from, out<T> steps, out<std::int16_t> codes, \
       std::uint64_t first), \
      (x, n, p, levels, from, steps, codes, first)) \
    K(round_buckets_to_halvings, round_buckets_to_halvings, bool, \
      (in<T> x, std::size_t n, p_norm p, int levels, key from, out<T> norms, out<std::int16_t> codes, \
       std::uint64_t first), \
      (x, n, p, levels, from, norms, codes, first)) \
    K(round_buckets_to_range, round_buckets_to_range, bool, \
      (in<T> x, std::size_t n, rounding how, int most, key from, out<T> least, out<T> steps, \
       out<std::uint8_t> codes, std::uint64_t first), \
      (x, n, how, most, from, least, steps, codes, first)) \
    K(round_blocks_to_short, round_blocks_to_short, bool, \
      (in<T> x, block_layout f, rounding how, T shared, key from, out<T> scales, out<std::uint16_t> codes, \
       std::uint64_t first), \
      (x, f, how, shared, from, scales, codes, first)) \
    K(stream_powers, round_to_powers, void, \
      (in<T> x, key from, std::uint64_t first, code_stream<std::uint16_t> to), (x, from, first, to)) \
    K(stream_short, round_to_short, void, (in<T> x, short_layout f, code_stream<std::uint16_t> to), (x, f, to)) \
    K(stream_short_at_random, round_to_short, void, \
      (in<T> x, short_layout f, key from, std::uint64_t first, code_stream<std::uint16_t> to), \
      (x, f, from, first, to)) \
    K(stream_levels, round_buckets_to_levels, bool, \
      (in<T> x, std::size_t n, p_norm p, int levels, key from, out<T> steps, code_stream<std::int8_t> to), \
      (x, n, p, levels, from, steps, to)) \
    K(stream_more_levels, round_buckets_to_levels, bool, \
      (in<T> x, std::size_t n, p_norm p, int levels, key from, out<T> steps, code_stream<std::int16_t> to), \
      (x, n, p, levels, from, steps, to)) \
    K(stream_halvings, round_buckets_to_halvings, bool, \
      (in<T> x, std::size_t n, p_norm p, int levels, key from, out<T> norms, code_stream<std::int16_t> to), \
      (x, n, p, levels, from, norms, to)) \
    K(stream_range, round_buckets_to_range, bool, \
      (in<T> x, std::size_t n, rounding how, int most, key from, out<T> least, out<T> steps, \
       code_stream<std::uint8_t> to), (x, n, how, most, from, least, steps, to)) \
    K(pack_signs_and_means, pack_signs_and_means, bool, \
      (in<T> x, std::size_t n, out<T> means, out<std::uint64_t> words), (x, n, means, words)) \
    K(pack_signs_and_two_means, pack_signs_and_two_means, bool, \
      (in<T> x, std::size_t n, out<T> below, out<T> above, out<std::uint64_t> words), (x, n, below, above, words)) \
    K(damp_steps, damp_steps, void, (in<T> x, std::size_t n, out<T> steps), (x, n, steps)) \
    K(rotate_blocks, rotate_blocks, void, \
      (std::size_t n, matrix_is how, key from, std::uint64_t first, out<T> y), (n, how, from, first, y)) \
    K(multiply_matrix, multiply_matrix, void, \
      (in<T> x, matrix_is how, in<T> by, std::size_t columns, out<T> y), (x, how, by, columns, y)) \
    K(multiply_to_orthonormal, multiply_to_orthonormal, void, \
      (in<T> x, matrix_is how, in<T> by, std::size_t columns, out<T> y), (x, how, by, columns, y)) \
    K(add_scaled, add_scaled, void, (T a, in<T> x, out<T> y), (a, x, y)) \
    K(multiply, multiply, void, (T a, out<T> x), (a, x)) \
    K(compensate, compensate, bool, (T a, in<T> g, in<T> h, T b, in<T> e, out<T> y), (a, g, h, b, e, y)) \
    K(complete_and_remember, complete_and_remember, void, (out<T> m, T a, out<T> h), (m, a, h)) \
    K(raise_magnitudes, raise_magnitudes, void, (T least, T factor, out<T> y), (least, factor, y)) \
    K(add_signs, add_terms, void, (out<T> y, T w, terms_of<messages::signs<T, dispatched>> m), (y, w, m)) \
    K(add_means, add_terms, void, (out<T> y, T w, terms_of<messages::means<T, dispatched>> m), (y, w, m)) \
    K(add_stepped, add_terms, void, (out<T> y, T w, terms_of<messages::stepped<T, dispatched>> m), (y, w, m)) \
    K(add_binned, add_terms, void, (out<T> y, T w, terms_of<messages::binned<T, dispatched>> m), (y, w, m)) \
    K(add_blocks, add_terms, void, (out<T> y, T w, terms_of<messages::block_floats<T, dispatched>> m), (y, w, m)) \
    K(add_dithered, add_terms, void, (out<T> y, T w, terms_of<messages::dithered<T, dispatched>> m), (y, w, m)) \
    K(add_powers, add_terms, void, (out<T> y, T w, terms_of<messages::powers<T, dispatched>> m), (y, w, m)) \
    K(add_halves, add_terms, void, \
      (out<T> y, T w, terms_of<messages::short_floats<short_format::binary16, T, dispatched>> m), (y, w, m)) \
    K(add_bfloats, add_terms, void, \
      (out<T> y, T w, terms_of<messages::short_floats<short_format::bfloat, T, dispatched>> m), (y, w, m)) \
    K(add_e4m3, add_terms, void, \
      (out<T> y, T w, terms_of<messages::short_floats<short_format::e4m3, T, dispatched>> m), (y, w, m)) \
    K(add_e5m2, add_terms, void, \
      (out<T> y, T w, terms_of<messages::short_floats<short_format::e5m2, T, dispatched>> m), (y, w, m)) \
    K(add_levels, add_terms, void, (out<T> y, T w, terms_on_grid<T, std::int8_t> m), (y, w, m)) \
    K(add_more_levels, add_terms, void, (out<T> y, T w, terms_on_grid<T, std::int16_t> m), (y, w, m))
#define LACONIC_OTHER_KERNELS(K) \
    K(pack_bytes, pack_codes, bool, (in<std::uint8_t> codes, code_words words, out<std::byte> bytes), \
      (codes, words, bytes)) \
    K(pack_shorts, pack_codes, bool, (in<std::uint16_t> codes, code_words words, out<std::byte> bytes), \
      (codes, words, bytes)) \
    K(unpack_bytes, unpack_codes, bool, (in<std::byte> bytes, code_words words, out<std::uint8_t> codes), \
      (bytes, words, codes)) \
    K(unpack_shorts, unpack_codes, bool, (in<std::byte> bytes, code_words words, out<std::uint16_t> codes), \
      (bytes, words, codes)) \
    K(sum_of_squares_in_floats, sum_of_squares_in_floats, double, (in<float> x), (x)) \
    K(sample, sample, void, (key from, std::size_t d, std::size_t k, places at), (from, d, k, at)) \
    K(sample_each, sample_each, void, (key from, std::size_t d, double p, places at), (from, d, p, at))
// clang-format on
#define LACONIC_UNPACKED(...) __VA_ARGS__

/// The backend `dispatched`. What the library's source and the program's share is here, too: tables of functions.
namespace laconic::kernels::by_table {

template <class E>
using in = std::span<E const>;
template <class E>
using out = std::span<E>;
using places = std::vector<coordinate>&;
class dispatched;
template <class M>
using terms_of = typename M::terms_type;
template <class T, class Code>
using terms_on_grid = typename messages::quantized<T, dispatched>::template terms_by<Code const*>;

/// The place of each kernel in a table, behind the functions that make and destroy the backend that they take.
enum class place : std::size_t {
    make,
    destroy,
#define LACONIC_NAME(id, ...) id,
    LACONIC_KERNELS_OF_NUMBERS(LACONIC_NAME) LACONIC_OTHER_KERNELS(LACONIC_NAME)
#undef LACONIC_NAME
        count
};

/// A function whose type is forgotten.
using any_function = void (*)();
using table = any_function const*;

template <class Signature>
Signature* function_at(table all, place p) {
    return reinterpret_cast<Signature*>(all[static_cast<std::size_t>(p)]);
}

/// The kernels for one instruction set, for numbers of both types.
struct kernel_set {
    std::string_view name;
    table of_float, of_double;
};

/// What a parameter P travels as: a class or an enumeration as its bytes. Each set is compiled with a namespace of its
/// own in place of laconic, so that no linker takes an inline function of it for the program's; P is another type
/// there.
template <class P>
using travelling =
    typename std::conditional_t<std::is_arithmetic_v<P> || std::same_as<P, places>, std::type_identity<P>,
                                std::type_identity<std::array<std::byte, sizeof(P)>>>::type;
template <class To, class From>
To converted(From from) {
    if constexpr (std::same_as<To, From>)
        return static_cast<To>(from);
    else
        return std::bit_cast<To>(from);
}

/// A kernel with these parameters, as a function in a table, and its call.
template <class Signature>
struct entry;
template <class R, class... P>
struct entry<R(P...)> {
    using function = R(void* on, travelling<P>...);

    static R call(table all, place p, void* on, P... given) {
        return function_at<function>(all, p)(on, converted<travelling<P>, P>(given)...);
    }
    template <class Kernel>
    static any_function made_of(Kernel) {
        function* const f = [](void* on, travelling<P>... given) -> R {
            return Kernel{}(*static_cast<host*>(on), converted<P, travelling<P>>(given)...);
        };
        return reinterpret_cast<any_function>(f);
    }
};

/// The host on one thread with the kernels of a table.
class tabled : public host {
  public:
    /// Throws argument_error, with the names that there are, where it is none of sets().
    explicit tabled(std::string_view kernels);

    std::string_view kernels() const { return set_->name; }
    /// The names of those that this processor can run, the smallest instruction set first.
    static std::vector<std::string_view> sets();

    /// Calls one of them.
    template <Scalar T, class Signature, class... Arguments>
    decltype(auto) call(place kernel, Arguments&&... given) {
        auto const all = std::same_as<T, float> ? set_->of_float : set_->of_double;
        return entry<Signature>::call(all, kernel, own_.get(), given...);
    }

  private:
    kernel_set const* set_;
    std::unique_ptr<void, void (*)(void*)> own_;  // the set's own host, with its scratch memory
};

/// The host, with the kernels above compiled in the library laconic::compiled: for what its project is compiled for
/// ("baseline"), AVX2 with FMA ("avx2"), AVX-512 ("avx512") and a Zen 4 ("zen4"). Which of them run is decided when the
/// object is made; results are the same bits. For programs that shall run on every x86-64: one that is compiled for its
/// own processor has these forms by `host`. Elsewhere there is "baseline" alone. A kernel costs the call of a function
/// more. On several threads as backend/threaded.hpp has it, except that those add and subtract no whole messages.
class dispatched : public threaded<tabled> {
  public:
    /// The kernels that the environment variable LACONIC_KERNELS names, or else those for the largest instruction set
    /// that this processor has, on LACONIC_THREADS threads, or 1. Throws as the other does.
    dispatched();
    /// Those of this name. Throws argument_error, with the names that there are, where it is none of sets(), and for no
    /// thread.
    explicit dispatched(std::string_view kernels, int threads = 1) : threaded(threads, kernels) {}
};

#define LACONIC_OVERLOAD(T, id, kernel, Result, parameters, arguments)                                 \
    Result kernel(tabled& on, LACONIC_UNPACKED parameters) {                                           \
        return on.call<T, Result(LACONIC_UNPACKED parameters)>(place::id, LACONIC_UNPACKED arguments); \
    }
#define LACONIC_TEMPLATE(...) \
    template <Scalar T>       \
    LACONIC_OVERLOAD(T, __VA_ARGS__)
#define LACONIC_FUNCTION(...) inline LACONIC_OVERLOAD(float, __VA_ARGS__)
LACONIC_KERNELS_OF_NUMBERS(LACONIC_TEMPLATE)
LACONIC_OTHER_KERNELS(LACONIC_FUNCTION)
#undef LACONIC_OVERLOAD
#undef LACONIC_TEMPLATE
#undef LACONIC_FUNCTION

}  // namespace laconic::kernels::by_table

namespace laconic {

using kernels::by_table::dispatched;

}  // namespace laconic
