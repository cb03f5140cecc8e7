// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "laconic/backend/host/impl/caches.hpp"
#include "laconic/backend/host/memory.hpp"
#include "laconic/backend/sum_order.hpp"

/// Numbers about a whole vector, each in one pass. Sums have the order of sum_order.hpp, and are in double but for one.
namespace laconic::detail {

// The partial sums of a stretch: of doubles, of floats as doubles, or of floats as such. All is inline, whatever the
// compiler thinks of its size (g++ does not go on for ever where much is inlined already), so that the sums stay in
// registers.
template <class A, Scalar T, Scalar Sum = double>
class stretch_sum {
  public:
    using pack = std::conditional_t<std::same_as<T, Sum>, simd::pack<T, A>, simd::widened_pack<A>>;

    static pack load(T const* p) {
        if constexpr (std::same_as<T, Sum>)
            return pack::load(p);
        else
            return pack::widened(p);
    }
    /// ahead: memory is asked for ahead, as of vectors that are longer than a stretch.
    explicit stretch_sum(bool ahead = false) : ahead_(ahead) { sums_.fill(pack::all(Sum(0))); }
    /// add_to(sum, x_i, ..) adds a summand, by vectors of Sums: settled where it is a rounded product, 0 where all
    /// x_i are, or its type has a member adds_for_zeros. All x have the same length; in all calls but the last it is a
    /// multiple of 32.
    template <class F, std::same_as<std::span<T const>>... X>
    [[gnu::always_inline]] void add(F add_to, X... x) {
        constexpr std::make_index_sequence<together> some;
        if constexpr (together == packs)
            add(add_to, 0, some, x...);
        else {
            constexpr std::size_t piece = 1024;  // is read again from the first cache
            std::size_t const n = std::min({x.size()...});
            for (std::size_t i = 0; i < n; i += piece)
                for (std::size_t p = 0; p < packs; p += together)
                    add(add_to, p, some, x.subspan(i, std::min(piece, n - i))...);
        }
    }
    /// In halves; last of all.
    [[gnu::always_inline]] Sum total() {
        std::array<Sum, pack::width> lanes;
        add_in_halves<A>(sums_).store(lanes.data());
        return add_in_halves<A>(lanes);
    }

  private:
    static constexpr std::size_t packs = partial_sums / pack::width;
    static constexpr std::size_t together = std::min<std::size_t>(packs, 8);  // that sixteen registers have room for

    // To the partial sums of some packs, by expansions, so that every compiler keeps them in registers.
    template <class F, std::size_t... P, class... X>
    [[gnu::always_inline]] void add(F add_to, std::size_t first, std::index_sequence<P...>, X... x) {
        std::size_t const n = std::min({x.size()...});
        std::array<pack, together> sums{sums_[first + P]...};
        std::size_t i = first * pack::width;
        for (; i + partial_sums <= n + first * pack::width; i += partial_sums) {
            if (ahead_ && first == 0) (fetch_ahead<partial_sums * sizeof(T)>(x.data() + i), ...);
            (add_at(i + P * pack::width, add_to, sums[P], x...), ...);
        }
        if (n % partial_sums != 0) (add_last(i + P * pack::width, n, add_to, sums[P], x...), ...);
        ((sums_[first + P] = sums[P]), ...);
    }
    template <class F, class... X>
    [[gnu::always_inline]] static void add_at(std::size_t i, F add_to, pack& sum, X... x) {
        add_to(sum, load(x.data() + i)...);
    }
    template <class F, class... X>
    [[gnu::always_inline]] static void add_last(std::size_t i, std::size_t n, F add_to, pack& sum, X... x) {
        if (i + pack::width <= n) {
            add_at(i, add_to, sum, x...);
        } else if constexpr (pack::width > 1) {
            if (i < n) add_padded(n - i, add_to, sum, padded_with_zeros(x.subspan(i))...);
        }
    }
    template <class F, class... X>
    static void add_padded(std::size_t count, F add_to, pack& sum, X const&... padded) {
        auto const before = sum;
        add_to(sum, load(padded.data())...);
        if constexpr (requires { F::adds_for_zeros; }) {  // not for those that fill a pack up
            std::array<Sum, pack::width> kept, added;
            before.store(kept.data());
            sum.store(added.data());
            std::copy_n(added.begin(), count, kept.begin());
            sum = pack::load(kept.data());
        }
    }
    static std::array<T, pack::width> padded_with_zeros(std::span<T const> x) {
        std::array<T, pack::width> padded{};
        std::copy(x.begin(), x.end(), padded.begin());
        return padded;
    }

    bool ahead_;
    std::array<pack, packs> sums_;
};

// The sum of what add_to(sum, x_i, ..) adds, see stretch_sum, over all elements of vectors of one length.
template <class A, Scalar Sum = double, Scalar T, class F, std::same_as<std::span<T const>>... X>
double ordered_sum(F add_to, std::span<T const> x, X... more) {
    return sum_in_order(0, x.size(), [add_to, x, more...](std::size_t first, std::size_t n) {
        stretch_sum<A, T, Sum> sum(x.size() > stretch);
        sum.add(add_to, x.subspan(first, n), more.subspan(first, n)...);
        return static_cast<double>(sum.total());
    });
}

// To a sum, a product of two Ts; that of two floats is exact.
template <Scalar T, class Pack>
void add_product(Pack& sum, Pack v, Pack w) {
    if constexpr (std::same_as<T, float>)
        sum = multiply_add(v, w, sum);
    else
        sum += settled(v * w);
}

// To a sum, x_i / scale - centre, or its square.
template <bool squared>
struct add_about {
    static constexpr bool adds_for_zeros = true;
    double scale, centre;
    template <class Pack>
    [[gnu::always_inline]] void operator()(Pack& sum, Pack v) const {
        auto const away = v / Pack::all(scale) - Pack::all(centre);
        sum += squared ? settled(away * away) : away;
    }
};

// What join(a, b) makes of all numbers of a vector, in a.
template <class T, class A, class Join>
T joined(simd::pack<T, A> v, Join join) {
    std::array<T, simd::pack<T, A>::width> lanes;
    v.store(lanes.data());
    return join_in_halves<A>(lanes, join);
}

}  // namespace laconic::detail

namespace laconic::kernels {

/// sum |x_i|; 0 for an empty vector.
template <class A, Scalar T>
double sum_of_magnitudes(basic_host<A>&, std::span<T const> x) {
    return detail::ordered_sum<A>([](auto& sum, auto v) { sum += magnitude(v); }, x);
}

/// sum x_i^2; infinite where that is above the largest double.
template <class A, Scalar T>
double sum_of_squares(basic_host<A>&, std::span<T const> x) {
    return detail::ordered_sum<A>([](auto& sum, auto v) { detail::add_product<T>(sum, v, v); }, x);
}

/// sum x_i^2, in floats: of no use where squares leave their range.
template <class A>
double sum_of_squares_in_floats(basic_host<A>&, std::span<float const> x) {
    return detail::ordered_sum<A, float>([](auto& sum, auto v) { sum += settled(v * v); }, x);
}

/// sum (x_i / scale - centre)^2, for vectors whose squares are out of a double's range, and for deviations. scale > 0.
template <class A, Scalar T>
double sum_of_squares(basic_host<A>&, std::span<T const> x, double scale, double centre = 0) {
    return detail::ordered_sum<A>(detail::add_about<true>{scale, centre}, x);
}

/// sum (x_i / scale - centre). scale > 0.
template <class A, Scalar T>
double sum_of_numbers(basic_host<A>&, std::span<T const> x, double scale, double centre) {
    return detail::ordered_sum<A>(detail::add_about<false>{scale, centre}, x);
}

/// The least and the largest number, zeros as +0; both NaN where a number is not finite. x has a number.
template <class A, Scalar T>
std::pair<T, T> least_and_largest(basic_host<A>&, std::span<T const> x) {
    LACONIC_EXPECTS(!x.empty());
    using pack = simd::pack<T, A>;
    constexpr std::size_t width = pack::width;
    auto const zero = pack::all(T(0));
    auto below = pack::all(x[0]), above = below;
    auto odd = zero, too = zero;  // v x 0 is 0, or NaN where v is not finite; two sums wait less than one
    std::size_t i = 0;
    for (; i + 2 * width <= x.size(); i += 2 * width) {
        detail::fetch_ahead<2 * width * sizeof(T)>(x.data() + i);
        // Settled: g++ would read a vector from memory for each time that it is used.
        auto const v = settled(pack::load(x.data() + i)), w = settled(pack::load(x.data() + i + width));
        below = smaller(below, smaller(v, w));
        above = larger(above, larger(v, w));
        odd = multiply_add(v, zero, odd);
        too = multiply_add(w, zero, too);
    }
    T least = detail::joined(below, [](T& a, T b) { a = std::min(a, b); });
    T largest = detail::joined(above, [](T& a, T b) { a = std::max(a, b); });
    T not_finite = detail::joined(odd + too, [](T& a, T b) { a += b; });
    for (; i < x.size(); ++i) {
        least = std::min(least, x[i]);
        largest = std::max(largest, x[i]);
        not_finite += x[i] * 0;
    }
    return {least + not_finite, largest + not_finite};  // -0 + 0 is +0
}

/// max |x_i|; 0 for an empty vector, NaN where a number of x is not finite.
template <class A, Scalar T>
T largest_magnitude(basic_host<A>& on, std::span<T const> x) {
    if (x.empty()) return 0;
    auto const [least, largest] = least_and_largest(on, x);
    return std::max(largest, -least);  // in this order: +0 where all are zeros
}

/// The first coordinate that is NaN or infinite, x.size() where there is none.
template <class A, Scalar T>
std::size_t first_non_finite(basic_host<A>&, std::span<T const> x) {
    using pack = simd::pack<T, A>;
    auto const limit = pack::all(std::numeric_limits<T>::max());
    std::size_t i = 0;
    while (i + pack::width <= x.size() && all_at_most(magnitude(pack::load(x.data() + i)), limit)) i += pack::width;
    while (i < x.size() && std::isfinite(x[i])) ++i;
    return i;
}

/// sum r_i (1 - r_i), where r_i is the fraction of |x_i| / step: the variance of what round_to_levels makes of x, in
/// squares of the step. step > 0, |x_i| / step <= 2^51. Added in the order of the other sums.
template <class A, Scalar T>
double rounding_variance(basic_host<A>&, std::span<T const> x, T step) {
    LACONIC_EXPECTS(step > 0);
    auto const add_variance = [step](auto& sum, auto v) {
        using pack = decltype(v);
        auto const whole = pack::all(0x1p52);  // what is added to it is rounded to whole numbers
        auto const on_grid = magnitude(v) / pack::all(static_cast<double>(step));
        // To the nearest: r (1 - r) is the same above and below the middle.
        auto const r = magnitude(on_grid - settled(settled(on_grid + whole) - whole));
        sum += settled(r * (pack::all(1.0) - r));
    };
    return detail::ordered_sum<A>(add_variance, x);
}

}  // namespace laconic::kernels
