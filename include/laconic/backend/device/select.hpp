// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "laconic/backend/device/kth_largest.hpp"
#include "laconic/backend/device/memory.hpp"
#include "laconic/backend/device/passes.hpp"
#include "laconic/backend/device/reduce.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

/// Which coordinates of a vector travel. All write ascending coordinates; those whose number is not known before wait
/// for it. Contracts stand at the host's form.
namespace laconic::detail::on_device {

template <Scalar T>
struct is_above {
    T const* x;
    T bound;
    LACONIC_HOST_DEVICE bool operator()(coordinate i) const { return !(std::abs(x[i]) <= bound); }
};
template <Scalar T>
struct is_above_its_bound {
    T const *x, *bounds;
    LACONIC_HOST_DEVICE bool operator()(coordinate i) const { return !(std::abs(x[i]) <= bounds[i]); }
};
struct write_index {
    coordinate* to;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const { to[i] = static_cast<coordinate>(i); }
};

// Word w has a bit for each of 32 coordinates: those that are chosen, and those of which the first are chosen, the
// ties. before_w is how many there are in the words before, of the ties in its upper half.
struct choice {
    std::uint32_t *chosen, *ties;
    std::uint64_t* before;
};
// A byte of both: eight coordinates, so that neighbouring threads read neighbouring numbers.
template <Scalar T>
struct mark_choice {
    T const* x;
    std::size_t n;
    cutoff<T> const* t;
    choice marks;
    LACONIC_HOST_DEVICE void operator()(std::size_t byte) const {
        auto const known = *t;
        std::uint32_t chosen = 0, ties = 0;
        for (std::uint32_t j = 0; j < 8 && 8 * byte + j < n; ++j) {
            auto const bits = magnitude_bits(x[8 * byte + j]);
            chosen |= std::uint32_t{known.chooses(bits)} << j;
            ties |= std::uint32_t{known.is_tie(bits)} << j;
        }
        std::size_t const place = place_of_byte<std::uint32_t>(byte);
        reinterpret_cast<std::uint8_t*>(marks.chosen)[place] = static_cast<std::uint8_t>(chosen);
        reinterpret_cast<std::uint8_t*>(marks.ties)[place] = static_cast<std::uint8_t>(ties);
    }
};
struct count_choice {
    choice marks;
    LACONIC_HOST_DEVICE std::uint64_t operator()(std::size_t w) const {
        return std::uint64_t{ones_in(marks.ties[w])} << 32 | ones_in(marks.chosen[w]);
    }
};
// Writes the chosen ones of word w.
template <Scalar T>
struct write_choice {
    cutoff<T> const* t;
    choice marks;
    coordinate* out;
    LACONIC_HOST_DEVICE void operator()(std::size_t w) const {
        std::uint32_t const chosen = marks.chosen[w], ties = marks.ties[w], wanted = t->missing;
        auto const ties_before = static_cast<std::uint32_t>(marks.before[w] >> 32);
        std::uint32_t left = ties_before < wanted ? wanted - ties_before : 0;
        auto* to = out + static_cast<std::uint32_t>(marks.before[w]) + (wanted - left);
        if ((chosen | ties) == 0) return;
        for (std::uint32_t j = 0; j < 32; ++j) {
            std::uint32_t const tie = left > 0 ? ties >> j & 1 : 0;
            left -= tie;
            if ((chosen >> j & 1) != 0 || tie != 0) *to++ = static_cast<coordinate>(32 * w + j);
        }
    }
};

/// Writes what `t` chooses of x to `out`, ascending: x is read once.
template <Scalar T>
void list_choice(device& on, std::span<T const> x, cutoff<T> const* t, coordinate* out) {
    std::size_t const words = (x.size() + 31) / 32;
    auto* const before = on.scratch<std::uint64_t>(scratch_for::marks, 2 * words).data();
    auto* const bits = reinterpret_cast<std::uint32_t*>(before + words);
    choice const marks{bits, bits + words, before};
    for_each_index(on, 4 * words, mark_choice<T>{x.data(), x.size(), t, marks});
    sum_before(on, words, count_choice{marks}, before);
    for_each_index(on, words, write_choice<T>{t, marks, out});
}

// The thresholds of select_about(): magnitudes with so many lowest bits set.
template <Scalar T>
inline constexpr int thresholds = sizeof(T) == 4 ? 3 : 6;
template <Scalar T>
LACONIC_HOST_DEVICE constexpr bits_of<T> free_bits(int threshold) {
    int const free = std::numeric_limits<bits_of<T>>::digits - 12 - 11 * threshold;
    return free > 0 ? static_cast<bits_of<T>>((bits_of<T>{1} << free) - 1) : 0;
}
template <Scalar T>
struct is_above_threshold {
    T const* x;
    cutoff<T> const* t;
    bits_of<T> free;
    LACONIC_HOST_DEVICE bool operator()(coordinate i) const { return magnitude_bits(x[i]) > (t->magnitude | free); }
};
template <Scalar T>
struct counts_above {
    std::uint32_t of[thresholds<T>] = {};
};
template <Scalar T>
struct count_above_thresholds {
    using piece = counts_above<T>;
    T const* x;
    cutoff<T> const* t;
    counts_above<T>* counts;
    LACONIC_HOST_DEVICE void take(piece& found, std::size_t i) const {
        auto const bits = magnitude_bits(x[i]), least = t->magnitude;
        for (int j = 0; j < thresholds<T>; ++j) found.of[j] += bits > (least | free_bits<T>(j));
    }
    LACONIC_HOST_DEVICE void hand_over(piece const& found, std::size_t) const {
        for (int j = 0; j < thresholds<T>; ++j)
            if (found.of[j] != 0) add_together(counts->of[j], found.of[j]);
    }
};

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

/// The k coordinates with the largest |x_i|, of equal ones the lower coordinate first. k <= x.size() < 2^32. A NaN is
/// larger than infinity. Reads x in three passes, whatever is in it; scratch memory has as many bytes as x
/// (kth_largest.hpp). Does not wait.
template <Scalar T>
void select_largest(device& on, std::span<T const> x, std::size_t k, device_array<coordinate>& out) {
    LACONIC_EXPECTS(k <= x.size() && x.size() <= detail::largest_dimension);
    using namespace detail::on_device;
    out.resize_to_overwrite(0);
    out.reserve(k);
    out.resize_to_overwrite(k);
    if (k > 0) list_choice(on, x, find_cutoff(on, x, k), out.data());
}

/// The coordinates with |x_i| > bound; a NaN is always above.
template <Scalar T>
void select_above(device& on, std::span<T const> x, T bound, device_array<coordinate>& out) {
    LACONIC_EXPECTS(x.size() <= detail::largest_dimension);
    detail::on_device::list_indices(on, x.size(), detail::on_device::is_above<T>{x.data(), bound}, out);
}

/// The coordinates with |x_i| > bounds_i; bounds is as long as x.
template <Scalar T>
void select_above(device& on, std::span<T const> x, std::span<T const> bounds, device_array<coordinate>& out) {
    LACONIC_EXPECTS(bounds.size() == x.size() && x.size() <= detail::largest_dimension);
    using chosen = detail::on_device::is_above_its_bound<T>;
    detail::on_device::list_indices(on, x.size(), chosen{x.data(), bounds.data()}, out);
}

/// The n coordinates with the largest |x_i| for an n between least and most, found as the host's form documents. Reads
/// x in four passes; where no threshold leaves enough, in six at most. Waits once, for n.
template <Scalar T>
void select_about(device& on, std::span<T const> x, std::size_t least, std::size_t k, std::size_t most,
                  device_array<coordinate>& out) {
    LACONIC_EXPECTS(least <= k && k <= most && most <= x.size() && x.size() <= detail::largest_dimension);
    using namespace detail::on_device;
    out.resize_to_overwrite(0);
    out.reserve(most);  // once: a later support may be larger
    out.resize_to_overwrite(most);
    if (most == x.size()) return for_each_index(on, most, write_index{out.data()});
    // The lowest threshold that leaves no more than `most` is the grid's next one above the magnitude after these.
    auto const* const t = find_cutoff(on, x, most + 1, true);
    auto* const counts = on.scratch<counts_above<T>>(scratch_for::counts, 1).data();
    auto* const count = on.scratch<coordinate>(scratch_for::sums, 1).data();
    clear_bytes(on, counts, sizeof *counts);
    for_each_bucket(on, x.size(), x.size(), count_above_thresholds<T>{x.data(), t, counts});
    auto const above = fetched(on, counts);
    int const first = static_cast<int>(
        std::find_if(above.of, above.of + thresholds<T>, [&](auto n) { return n >= least; }) - above.of);
    if (first == thresholds<T>) return select_largest(on, x, k, out);
    out.resize_to_overwrite(above.of[first]);
    list_indices(on, x.size(), is_above_threshold<T>{x.data(), t, free_bits<T>(first)}, out.data(), count);
}

}  // namespace laconic::kernels
