// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/backend/host/kth_largest.hpp"
#include "laconic/backend/host/update.hpp"

/// The k numbers of largest magnitude, of a vector that there is, and of one as it is made.
namespace laconic::detail {

// The names of numbers: their places, which they are written by, 64 at a time.
struct own_places {
    coordinate operator()(std::size_t i) const { return static_cast<coordinate>(i); }
    template <class A>
    std::size_t write(std::uint64_t bits, std::size_t first, coordinate* out) const {
        return write_positions<A>(bits, first, out);
    }
};
// Or what stands there in a list, which 64 more may be read of.
struct listed_places {
    coordinate const* at;
    coordinate operator()(std::size_t i) const { return at[i]; }
    template <class A>
    std::size_t write(std::uint64_t bits, std::size_t first, coordinate* out) const {
        return write_chosen<A>(bits, at + first, out);
    }
};

// name(i) of the out.size() numbers x_i whose magnitudes are above the threshold, or equal to it and among the first
// so.
template <class A, Scalar T, class Name>
void take_from(std::span<T const> x, cutoff<T> t, Name name, std::span<coordinate> out) {
    std::size_t const k = out.size();
    std::size_t n = 0;
    if (std::isnan(t.value)) {  // NaNs are compared by their bits
        for (std::size_t i = 0; n < k; ++i) {
            auto const m = magnitude_bits(x[i]), least = magnitude_bits(t.value);
            bool const equal = m == least && t.equal > 0;
            t.equal -= equal;
            if (m > least || equal) out[n++] = name(i);
        }
    } else {
        T const below = next_below(t.value);
        for_each_word(x, [&](T const* p, std::uint64_t real, std::size_t first) {
            auto chosen = bits_above<A>(p, below) & real;
            if (chosen == 0) return true;
            if (auto equal = chosen & ~bits_above<A>(p, t.value); equal != 0) {
                auto const count = static_cast<std::size_t>(std::popcount(equal));
                for (std::size_t j = 0; j < std::min(t.equal, count); ++j) equal &= equal - 1;  // these stay
                chosen &= ~equal;
                t.equal -= std::min(t.equal, count);
            }
            n += static_cast<std::size_t>(std::popcount(chosen)) + list_margin <= k - n
                     ? name.template write<A>(chosen, first, out.data() + n)
                     : write_list_within(k - n, chosen, out.data() + n, [&](std::size_t j) { return name(first + j); });
            return n < k;
        });
    }
}

// The numbers above a bound, and their coordinates: the first `count` of both.
template <Scalar T>
struct candidates {
    std::span<T> values;
    std::span<coordinate> at;
    std::size_t count = 0;  // above a quarter of all: there may be more
};

// Writes p[j] and first + j for each |p_j| > bound of 64 where bit j of `real` is set, ascending, and returns how many
// these are. A NaN is above.
template <class A, Scalar T>
std::size_t write_above(T const* p, T bound, std::uint64_t real, std::size_t first, T* values, coordinate* at) {
    auto const above = bits_above<A>(p, bound) & real;
    write_list<4>(above, values, [p](std::size_t j) { return p[j]; });
    return write_list<4>(above, at, [first](std::size_t j) { return static_cast<coordinate>(first + j); });
}

// Collects the coordinates with |x_i| > bound, a NaN among them, in ascending order, of a vector of d numbers whose
// parts it is given one after another; in the first half of a room for d.
template <class A, Scalar T>
class collector {
  public:
    // `few` is whether few words of 64 numbers have more than four of them.
    collector(std::size_t d, T bound, bool few, std::span<T> room)
        : bound_(bound), few_(few), enough_(d / 4), found_{room.first(most()), {}} {
        // coordinates are not longer than numbers
        found_.at = {reinterpret_cast<coordinate*>(room.data() + most()), most()};
    }

    // Of 64 numbers from p on, of which `real` marks those that are there: x_first and the following ones. False where
    // there are too many candidates.
    bool take(T const* p, std::uint64_t real, std::size_t first) {
        if constexpr (instruction_set::has_avx512)
            if (!few_ && ~real == 0)
                return add(
                    [&](T* values, coordinate* at) { return write_many_above<A>(p, bound_, first, values, at); });
        return add([&](T* values, coordinate* at) { return write_above<A>(p, bound_, real, first, values, at); });
    }
    // Of those that `above` marks, which are known to be above the bound.
    void take_chosen(T const* p, std::uint64_t above, std::size_t first) {
        if (above != 0)
            add([&](T* values, coordinate* at) {
                write_chosen<A, 4>(above, p, values);
                return write_positions<A, 4>(above, first, at);
            });
    }
    T bound() const { return bound_; }
    candidates<T> const& found() const { return found_; }

  private:
    std::size_t most() const { return enough_ + 2 * word_bits; }
    [[gnu::always_inline]] bool add(auto write) {
        if (found_.count > enough_) return false;
        found_.count += write(found_.values.data() + found_.count, found_.at.data() + found_.count);
        return true;
    }

    T bound_;
    bool few_;
    std::size_t enough_;
    candidates<T> found_;
};
template <class A, Scalar T>
candidates<T> collect_above(std::span<T const> x, T bound, bool few, std::span<T> room) {
    collector<A, T> all(x.size(), bound, few, room);
    for_each_word(x, [&](T const* p, std::uint64_t real, std::size_t first) { return all.take(p, real, first); });
    return all.found();
}

// From how many numbers on a guess is worth a pass.
inline constexpr std::size_t worth_a_pass = std::size_t{1} << 15;

// Whether that many are to be looked for among those above a guess.
constexpr bool guess_is_worth_a_pass(std::size_t k, std::size_t d) { return d >= worth_a_pass && k <= d / 8; }

// use(values, name, t) with the k-th largest of x, as with_kth_largest calls it, from what is above the bound, in the
// first half of the room, and, where that is fewer, from what is equal to it: this is read from the front on, until it
// suffices. False where there are more above than were taken, or not k.
template <class A, Scalar T, class Use>
bool use_candidates(std::span<T const> x, T bound, candidates<T> const& above, std::size_t k, std::span<T> room,
                    Use use) {
    if (above.count > x.size() / 4) return false;
    auto const rest = room.subspan(room.size() / 2);
    if (k <= above.count) {
        std::span<T const> const values = above.values.first(above.count);
        use(values, listed_places{above.at.data()}, kth_largest<A>(values, k, rest));
        return true;
    }
    std::size_t const wanted = k - above.count;
    auto const values = rest.first(rest.size() / 2);
    auto* const at = reinterpret_cast<coordinate*>(rest.data() + values.size());
    std::size_t n = 0, passed = 0;  // how many are read, and how many of them are above the bound
    for_each_word(x, [&](T const* p, std::uint64_t real, std::size_t first) {
        n += write_above<A>(p, next_below(bound), real, first, values.data() + n, at + n);
        while (passed < above.count && above.at[passed] < first + word_bits) ++passed;
        return n - passed < wanted;
    });
    if (n - passed < wanted) return false;
    for (; passed < above.count; ++passed, ++n) {
        values[n] = above.values[passed];
        at[n] = above.at[passed];
    }
    use(std::span<T const>(values.first(n)), listed_places{at}, cutoff<T>{bound, wanted});
    return true;
}

// Whether few words of 64 of d numbers have more than four of the k largest.
constexpr bool are_few(std::size_t k, std::size_t d) { return k <= d / 32; }

// Calls use(values, name, t) with the k-th largest magnitude t of x. `values` holds all numbers that are above it, and
// at least the first t.equal of those that are equal to it, and name(i) is the coordinate of values[i], ascending.
// 1 <= k <= x.size().
template <class A, Scalar T, class Use>
void with_kth_largest(kernels::basic_host<A>& on, std::span<T const> x, std::size_t k, Use use) {
    auto const room = on.template scratch<T>(detail::scratch_for::numbers, room_for(x.size()));
    if (guess_is_worth_a_pass(k, x.size()))
        if (T const low = samples<A, T>(x, k, first_spread, room).low(); std::isfinite(low)) {
            auto const found = collect_above<A>(x, low, are_few(k, x.size()), room);
            if (use_candidates<A>(x, low, found, k, room, use)) return;
        }
    use(x, own_places{}, kth_largest<A>(x, k, room));
}

// Writes delta to out, past the caches where it is long, and shows it to the collector; true where all is finite.
template <class A, Scalar T>
bool write_and_collect(auto delta, std::span<T> out, collector<A, T>& above) {
    using pack = simd::pack<T, A>;
    finite_numbers<T, A> finite;
    alignas(64) std::array<T, word_bits> made{};
    auto const some = [&](std::size_t first, std::size_t n) {  // fewer than 64
        for (std::size_t j = 0; j < n; ++j) {
            auto const v = delta.template at<simd::single<T, A>>(first + j);
            made[j] = out[first + j] = v.value;
            finite.add(v, 0);
        }
        if (n > 0) above.take(made.data(), (std::uint64_t{1} << n) - 1, first);
    };
    bool const past_caches = out.size_bytes() >= bytes_past_caches;
    std::size_t i = std::min(bytes_before_line(out.data()) / sizeof(T), out.size());
    some(0, i);
    auto const bounds = pack::all(above.bound());
    for (; i + word_bits <= out.size(); i += word_bits) {
        delta.template fetch_ahead<word_bits>(i);
        T* const to = past_caches ? made.data() : out.data() + i;
        std::uint64_t at_most = 0;
        for (std::size_t j = 0; j < word_bits; j += pack::width) {
            auto const v = delta.template at<pack>(i + j);
            v.store(to + j);
            finite.add(v, j / pack::width % 2);
            at_most |= which_at_most(magnitude(v), bounds) << j;
        }
        if (past_caches) copy_lines_past_caches<A>(made.data(), out.data() + i, sizeof made);
        above.take_chosen(to, ~at_most, i);
    }
    some(i, out.size() - i);
    if (past_caches) order_past_caches<A>();
    return finite.all();
}

// The same of out <- a g - h + b e as it is made; false, perhaps without a call, where not all of it is finite.
template <class A, Scalar T, class Use>
bool with_kth_largest_of_sum(kernels::basic_host<A>& on, kernels::compensation<T> const& sum, std::size_t k, Use use) {
    std::size_t const d = sum.g.size();
    auto const of_all = [&] { return with_kth_largest(on, std::span<T const>(sum.out), k, use), true; };
    if (!guess_is_worth_a_pass(k, d)) return kernels::compensate(on, sum) && of_all();
    auto const room = on.template scratch<T>(scratch_for::numbers, room_for(d));
    auto const number = [&](std::size_t i) {  // about so: the sample is a guess
        return sum.a * sum.g[i] - (sum.h.empty() ? T(0) : sum.h[i]) + (sum.e.empty() ? T(0) : sum.b * sum.e[i]);
    };
    T const low = samples<A, T>(d, number, k, first_spread, room).low();
    if (!std::isfinite(low)) return kernels::compensate(on, sum) && of_all();
    collector<A, T> above(d, low, are_few(k, d), room);
    auto const collect = [&](auto delta) { return write_and_collect(delta, sum.out, above); };
    return with_delta(sum.a, sum.g, sum.h, sum.b, sum.e, collect) &&
           (use_candidates<A>(std::span<T const>(sum.out), low, above.found(), k, room, use) || of_all());
}

}  // namespace laconic::detail

namespace laconic::kernels {

/// The k coordinates with the largest |x_i|, of equal ones the lower coordinate first. k <= x.size() < 2^32.
/// Where k is at most an eighth of a long x: one pass that takes what is above a guess, and a selection among these
/// few. Else, and where many are equal: one pass that finds the k-th largest, and one that takes what is not below it.
/// A NaN is larger than infinity.
template <class A, Scalar T>
void select_largest(basic_host<A>& on, std::span<T const> x, std::size_t k, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(k <= x.size() && x.size() <= detail::largest_dimension);
    out.resize(k);
    if (k == 0) return;
    detail::with_kth_largest(on, x, k, [&](std::span<T const> values, auto name, detail::cutoff<T> t) {
        detail::take_from<A>(values, t, name, std::span(out));
    });
}

/// Of each chunk of `chunk` consecutive coordinates (the last may be shorter) the k that select_largest() selects; of a
/// last chunk of fewer all. chunk >= 1, k <= chunk. Two passes over each chunk.
template <class A, Scalar T>
void select_largest_of_each(basic_host<A>& on, std::span<T const> x, std::size_t chunk, std::size_t k,
                            std::vector<coordinate>& out) {
    LACONIC_EXPECTS(chunk >= 1 && k <= chunk && x.size() <= detail::largest_dimension);
    out.resize(detail::numbers_of_each(x.size(), chunk, k));
    if (k == 0) return;
    detail::each_bucket(x, chunk, [&](std::size_t b, std::size_t first, std::span<T const> part) {
        auto const found = std::span(out).subspan(b * k, std::min(k, part.size()));
        detail::with_kth_largest(on, part, found.size(), [&](auto values, auto name, detail::cutoff<T> t) {
            detail::take_from<A>(values, t, name, found);
        });
        for (coordinate& i : found) i += static_cast<coordinate>(first);
    });
}

/// out <- a g - h + b e, as by compensate(), and what select_largest() selects of it; false where not all is finite:
/// then the coordinates are arbitrary. For k up to an eighth of a long vector: one pass, which writes past the caches
/// (1 + 1, and 1 for each of h and e that is there), and a selection among a few. out is no other argument's memory.
template <class A, Scalar T>
bool compensate_and_select_largest(basic_host<A>& on, T a, std::span<T const> g, std::span<T const> h, T b,
                                   std::span<T const> e, std::span<T> out, std::size_t k, std::vector<coordinate>& at) {
    LACONIC_EXPECTS(out.size() == g.size() && k <= g.size() && g.size() <= detail::largest_dimension);
    at.resize(k);
    if (k == 0) return compensate(on, a, g, h, b, e, out);
    auto const take = [&](std::span<T const> values, auto name, detail::cutoff<T> t) {
        detail::take_from<A>(values, t, name, std::span(at));
    };
    return detail::with_kth_largest_of_sum(on, kernels::compensation<T>{a, g, h, b, e, out}, k, take);
}

}  // namespace laconic::kernels
