// SPDX-License-Identifier: Apache-2.0
#pragma once

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
namespace laconic {

namespace detail::on_device {

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
template <Scalar T>
struct has_more_bits {
    T const* x;
    bits_of<T> bound;
    LACONIC_HOST_DEVICE bool operator()(coordinate i) const { return magnitude_bits(x[i]) > bound; }
};
struct write_index {
    coordinate* to;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const { to[i] = static_cast<coordinate>(i); }
};

}  // namespace detail::on_device

/// The k coordinates with the largest |x_i|, of equal ones the lower coordinate first. k <= x.size() < 2^32. A NaN is
/// larger than infinity. Does not wait.
template <Scalar T>
void select_largest(device& on, std::span<T const> x, std::size_t k, device_array<coordinate>& out) {
    LACONIC_EXPECTS(k <= x.size() && x.size() <= largest_dimension);
    using namespace detail::on_device;
    out.resize_to_overwrite(0);
    out.reserve(k);
    out.resize_to_overwrite(k);
    if (k == 0) return;
    is_chosen<T> const chosen{x.data(), find_cutoff(on, x, k)};
    list_indices(on, x.size(), chosen, out.data(), on.scratch<coordinate>(scratch_for::sums, 1).data());
}

/// The coordinates with |x_i| > bound; a NaN is always above.
template <Scalar T>
void select_above(device& on, std::span<T const> x, T bound, device_array<coordinate>& out) {
    LACONIC_EXPECTS(x.size() <= largest_dimension);
    detail::on_device::list_indices(on, x.size(), detail::on_device::is_above<T>{x.data(), bound}, out);
}

/// The coordinates with |x_i| > bounds_i; bounds is as long as x.
template <Scalar T>
void select_above(device& on, std::span<T const> x, std::span<T const> bounds, device_array<coordinate>& out) {
    LACONIC_EXPECTS(bounds.size() == x.size() && x.size() <= largest_dimension);
    using chosen = detail::on_device::is_above_its_bound<T>;
    detail::on_device::list_indices(on, x.size(), chosen{x.data(), bounds.data()}, out);
}

/// The n coordinates with the largest |x_i| for an n between least and most, found as the host's form says. Waits.
template <Scalar T>
void select_about(device& on, std::span<T const> x, std::size_t least, std::size_t k, std::size_t most,
                  device_array<coordinate>& out) {
    LACONIC_EXPECTS(least <= k && k <= most && most <= x.size() && x.size() <= largest_dimension);
    using namespace detail::on_device;
    if (most == x.size()) {
        out.resize_to_overwrite(most);
        return for_each_index(on, most, write_index{out.data()});
    }
    // The lowest threshold that leaves no more than `most` is the grid's next one above the magnitude after these.
    auto const excluded = fetched(on, &find_cutoff(on, x, most + 1, true)->magnitude);
    for (int shift = std::numeric_limits<bits_of<T>>::digits - 12;; shift = shift < 11 ? 0 : shift - 11) {
        auto const last_below = static_cast<bits_of<T>>(excluded | ((bits_of<T>{1} << shift) - 1));
        auto const n = found_in<std::uint32_t>(on, x, [&](std::uint32_t* count) {
            return count_larger<T>{x.data(), last_below, count};
        });
        if (n >= least) return list_indices(on, x.size(), has_more_bits<T>{x.data(), last_below}, out);
        if (shift == 0) return select_largest(on, x, k, out);
    }
}

}  // namespace laconic
