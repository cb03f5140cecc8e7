// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/backend/device/passes.hpp"  // first: it refuses compilers that Thrust would not

#include <thrust/sort.h>

#include <cstddef>
#include <span>

#include "laconic/backend/array.hpp"

/// Lists of terms. Of two lists each term finds its place by itself, by bisection. Contracts stand at the host's forms.
namespace laconic::detail::on_device {

/// How many of a list of ascending coordinates are below `at`.
LACONIC_HOST_DEVICE inline std::size_t place_of(coordinate at, std::span<coordinate const> list) {
    std::size_t first = 0, n = list.size();
    while (n > 0) {
        std::size_t const middle = n / 2;
        if (list[first + middle] < at) {
            first += middle + 1;
            n -= middle + 1;
        } else {
            n = middle;
        }
    }
    return first;
}
LACONIC_HOST_DEVICE inline bool is_at(coordinate at, std::span<coordinate const> list, std::size_t place) {
    return place < list.size() && list[place] == at;
}

struct is_first_of_its_kind {
    coordinate const* at;
    LACONIC_HOST_DEVICE bool operator()(coordinate i) const { return i == 0 || at[i] != at[i - 1]; }
};
template <Scalar T>
void sort_by_coordinates(device& on, std::span<coordinate> at, std::span<T> values) {
    on.call_thrust(
        [&](auto const& how) { thrust::stable_sort_by_key(how, at.data(), at.data() + at.size(), values.data()); });
}

// Terms by ascending coordinates, of which some are equal: the sum of each goes to the results. Waits for their number.
template <Scalar T>
void add_equal(device& on, std::span<coordinate const> sorted, T const* numbers, kernels::device_array<coordinate>& at,
               kernels::device_array<T>& values) {
    auto* const first = on.scratch<coordinate>(scratch_for::counts, sorted.size()).data();
    auto* const count = list_indices(on, sorted.size(), is_first_of_its_kind{sorted.data()}, first);
    std::size_t const different = sorted.empty() ? 0 : fetched(on, count);
    detail::resize_both(at, values, different);
    for_each_index(on, different, [=, sum_at = at.data(), sums = values.data()] LACONIC_DEVICE(std::size_t j) {
        std::size_t const i = first[j];
        sum_at[j] = sorted[i];
        T sum = numbers[i];
        for (std::size_t next = i + 1; next < sorted.size() && sorted[next] == sorted[i]; ++next) sum += numbers[next];
        sums[j] = sum;
    });
}

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

template <Scalar T, class Terms>
void list_terms(device& on, Terms terms, std::span<coordinate> at, std::span<T> values) {
    LACONIC_EXPECTS(at.size() == terms.size() && values.size() == terms.size());
    detail::on_device::for_each_index(on, terms.size(), [=] LACONIC_DEVICE(std::size_t j) {
        auto const t = terms[j];
        at[j] = static_cast<coordinate>(t.at);
        values[j] = static_cast<T>(t.value);
    });
}

/// Waits for the length of the sum.
template <Scalar T>
void add_lists(device& on, listed_terms<T> a, listed_terms<T> b, device_array<coordinate>& at,
               device_array<T>& values) {
    using namespace detail::on_device;
    std::size_t const n = a.at.size(), m = b.at.size();
    auto const places = on.scratch<coordinate>(scratch_for::marks, n + m);
    auto* const both = on.scratch<T>(scratch_for::numbers, n + m).data();
    // Term i of a, or i - n of b, to its place among both; of equal coordinates a's comes first.
    for_each_index(on, n + m, [=] LACONIC_DEVICE(std::size_t i) {
        std::size_t const j = i - n, before = i < n ? place_of(a.at[i], b.at) : place_of(b.at[j], a.at);
        std::size_t const place = i < n ? i + before : j + before + is_at(b.at[j], a.at, before);
        places[place] = i < n ? a.at[i] : b.at[j];
        both[place] = i < n ? a.values[i] : b.values[j];
    });
    add_equal(on, std::span<coordinate const>(places), both, at, values);
}

/// The sum of many, added in their order: all of their terms are sorted together. Waits for its length.
template <Scalar T>
void sum_lists(device& on, std::span<listed_terms<T> const> lists, device_array<coordinate>& at,
               device_array<T>& values, device_array<coordinate>&, device_array<T>&) {
    using namespace detail::on_device;
    std::size_t all = 0;
    for (auto const& l : lists) all += l.at.size();
    auto const places = on.scratch<coordinate>(scratch_for::marks, all);
    auto const numbers = on.scratch<T>(scratch_for::numbers, all);
    std::size_t n = 0;
    for (auto const& l : lists) {
        copy(on, l.at, places.subspan(n, l.at.size()));
        copy(on, l.values, numbers.subspan(n, l.at.size()));
        n += l.at.size();
    }
    sort_by_coordinates(on, places, numbers);
    add_equal(on, std::span<coordinate const>(places), numbers.data(), at, values);
}

template <Scalar T>
void sort_list(device& on, std::span<coordinate const> at, std::span<T const> values, std::size_t,
               std::span<coordinate> sorted_at, std::span<T> sorted_values) {
    LACONIC_EXPECTS(values.size() == at.size() && sorted_at.size() == at.size() && sorted_values.size() == at.size());
    copy(on, at, sorted_at);
    copy(on, values, sorted_values);
    detail::on_device::sort_by_coordinates(on, sorted_at, sorted_values);
}

template <Scalar T>
void part_list(device& on, listed_terms<T> v, std::span<coordinate const> chosen, device_array<coordinate>& kept_at,
               device_array<T>& kept, device_array<coordinate>& left_at, device_array<T>& left) {
    LACONIC_EXPECTS(chosen.size() <= v.at.size());
    using namespace detail::on_device;
    std::size_t const n = v.at.size(), k = chosen.size();
    detail::resize_both(kept_at, kept, k);
    detail::resize_both(left_at, left, n - k);
    for_each_index(on, n,
                   [=, to_at = kept_at.data(), to = kept.data(), rest_at = left_at.data(),
                    rest = left.data()] LACONIC_DEVICE(std::size_t i) {
                       auto const place = place_of(static_cast<coordinate>(i), chosen);
                       bool const is_kept = is_at(static_cast<coordinate>(i), chosen, place);
                       (is_kept ? to_at + place : rest_at + (i - place))[0] = v.at[i];
                       (is_kept ? to + place : rest + (i - place))[0] = v.values[i];
                   });
}

template <Scalar T>
void take_list(device& on, listed_terms<T> v, std::span<coordinate const> chosen, device_array<coordinate>& at,
               device_array<T>& values) {
    detail::resize_both(at, values, chosen.size());
    detail::on_device::for_each_index(on, chosen.size(),
                                      [=, to_at = at.data(), to = values.data()] LACONIC_DEVICE(std::size_t j) {
                                          to_at[j] = v.at[chosen[j]];
                                          to[j] = v.values[chosen[j]];
                                      });
}

/// Waits for the number of terms.
template <Scalar T>
void list_without(device& on, listed_terms<T> v, std::span<coordinate const> other, device_array<coordinate>& at,
                  device_array<T>& values) {
    using namespace detail::on_device;
    std::size_t const n = v.at.size();
    auto* const list = on.scratch<coordinate>(scratch_for::marks, n).data();
    auto* const count = list_indices(
        on, n, [=] LACONIC_DEVICE(coordinate i) { return !is_at(v.at[i], other, place_of(v.at[i], other)); }, list);
    std::size_t const different = n == 0 ? 0 : fetched(on, count);
    take_list(on, v, std::span<coordinate const>(list, different), at, values);
}

/// Makes room for the kernels above but sum_lists, of lists of as many as n terms each. CUB's own room is found by a
/// list of as many indices.
template <Scalar T>
void reserve_for_lists(device& on, std::size_t each) {
    using namespace detail::on_device;
    std::size_t const n = 2 * each;
    auto const places = on.scratch<coordinate>(scratch_for::marks, n);
    auto* const first = on.scratch<coordinate>(scratch_for::counts, n).data();
    on.scratch<T>(scratch_for::numbers, n);
    clear_bytes(on, places.data(), places.size_bytes());
    list_indices(on, n, is_first_of_its_kind{places.data()}, first);
}
template <Scalar T>
void reserve_to_sum(device& on, std::size_t, std::size_t terms) {
    reserve_for_lists<T>(on, terms / 2 + 1);
}
template <Scalar T>
void reserve_to_sort(device&, std::size_t, std::size_t) {}

}  // namespace laconic::kernels
