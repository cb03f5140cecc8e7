// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/backend/device/system.hpp"  // first: it refuses compilers that Thrust would not

#include <thrust/sort.h>

#include <cstddef>
#include <span>

#include "laconic/backend/device/memory.hpp"
#include "laconic/backend/device/passes.hpp"
#include "laconic/backend/listed_terms.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

/// Lists of terms. Of two lists each term finds its place by itself, by bisection.
namespace laconic::detail::on_device {

/// How many of n ascending coordinates are below `at`.
LACONIC_HOST_DEVICE inline std::size_t place_of(coordinate at, coordinate const* list, std::size_t n) {
    std::size_t first = 0;
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
LACONIC_HOST_DEVICE inline bool is_at(coordinate at, coordinate const* list, std::size_t n, std::size_t place) {
    return place < n && list[place] == at;
}

template <Scalar T, class Terms>
struct write_term {
    Terms terms;
    coordinate* at;
    T* values;
    LACONIC_HOST_DEVICE void operator()(std::size_t j) const {
        auto const t = terms[j];
        at[j] = static_cast<coordinate>(t.at);
        values[j] = static_cast<T>(t.value);
    }
};

// Term i of a, or i - n of b, to its place among both; of equal coordinates a's comes first.
template <Scalar T>
struct interleave {
    coordinate const* a;
    T const* a_values;
    std::size_t n;
    coordinate const* b;
    T const* b_values;
    std::size_t m;
    coordinate* at;
    T* values;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const {
        if (i < n) {
            std::size_t const place = i + place_of(a[i], b, m);
            at[place] = a[i];
            values[place] = a_values[i];
        } else {
            std::size_t const j = i - n, before = place_of(b[j], a, n), place = j + before + is_at(b[j], a, n, before);
            at[place] = b[j];
            values[place] = b_values[j];
        }
    }
};
struct is_first_of_its_kind {
    coordinate const* at;
    LACONIC_HOST_DEVICE bool operator()(coordinate i) const { return i == 0 || at[i] != at[i - 1]; }
};
// Adds up the terms of a coordinate, in their order.
template <Scalar T>
struct add_equals {
    coordinate const *first, *at;
    T const* values;
    std::size_t n;
    coordinate* sum_at;
    T* sums;
    LACONIC_HOST_DEVICE void operator()(std::size_t j) const {
        std::size_t const i = first[j];
        sum_at[j] = at[i];
        T sum = values[i];
        for (std::size_t next = i + 1; next < n && at[next] == at[i]; ++next) sum += values[next];
        sums[j] = sum;
    }
};

template <Scalar T>
void sort_by_coordinates(device& on, std::span<coordinate> at, std::span<T> values) {
    on.call_thrust(
        [&](auto const& how) { thrust::stable_sort_by_key(how, at.data(), at.data() + at.size(), values.data()); });
}

template <Scalar T>
struct part_from_others {
    coordinate const* at;
    T const* values;
    coordinate const* chosen;
    std::size_t k;
    coordinate *kept_at, *left_at;
    T *kept, *left;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const {
        auto const place = place_of(static_cast<coordinate>(i), chosen, k);
        if (is_at(static_cast<coordinate>(i), chosen, k, place)) {
            kept_at[place] = at[i];
            kept[place] = values[i];
        } else {
            left_at[i - place] = at[i];
            left[i - place] = values[i];
        }
    }
};

struct is_not_in {
    coordinate const *at, *other;
    std::size_t n;
    LACONIC_HOST_DEVICE bool operator()(coordinate i) const {
        return !is_at(at[i], other, n, place_of(at[i], other, n));
    }
};
template <Scalar T>
struct take_listed {
    coordinate const *list, *at;
    T const* values;
    coordinate* taken_at;
    T* taken;
    LACONIC_HOST_DEVICE void operator()(std::size_t j) const {
        taken_at[j] = at[list[j]];
        taken[j] = values[list[j]];
    }
};

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

/// at_j, values_j <- term j of a message; both are as long as it is.
template <Scalar T, class Terms>
void list_terms(device& on, Terms terms, std::span<coordinate> at, std::span<T> values) {
    LACONIC_EXPECTS(at.size() == terms.size() && values.size() == terms.size());
    detail::on_device::for_each_index(on, terms.size(),
                                      detail::on_device::write_term<T, Terms>{terms, at.data(), values.data()});
}

}  // namespace laconic::kernels

namespace laconic::detail::on_device {

// Terms by ascending coordinates, of which some are equal: the sum of each goes to the results. Waits for their number.
template <Scalar T>
void add_equal(device& on, std::span<coordinate const> sorted, T const* numbers, kernels::device_array<coordinate>& at,
               kernels::device_array<T>& values) {
    auto* const first = on.scratch<coordinate>(scratch_for::counts, sorted.size()).data();
    auto* const count = on.scratch<coordinate>(scratch_for::result, 1).data();
    list_indices(on, sorted.size(), is_first_of_its_kind{sorted.data()}, first, count);
    std::size_t const different = sorted.empty() ? 0 : fetched(on, count);
    at.resize_to_overwrite(different);
    values.resize_to_overwrite(different);
    for_each_index(on, different,
                   add_equals<T>{first, sorted.data(), numbers, sorted.size(), at.data(), values.data()});
}

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

/// The sum of two; where both have a coordinate, b's value is added to a's. Waits for its length.
template <Scalar T>
void add_lists(device& on, listed_terms<T> a, listed_terms<T> b, device_array<coordinate>& at,
               device_array<T>& values) {
    using namespace detail::on_device;
    std::size_t const n = a.at.size(), m = b.at.size();
    auto const places = on.scratch<coordinate>(scratch_for::marks, n + m);
    auto* const both = on.scratch<T>(scratch_for::numbers, n + m).data();
    for_each_index(
        on, n + m,
        interleave<T>{a.at.data(), a.values.data(), n, b.at.data(), b.values.data(), m, places.data(), both});
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

/// Terms in any order by ascending coordinates; of equal ones the first comes first. Does not wait.
template <Scalar T>
void sort_list(device& on, std::span<coordinate const> at, std::span<T const> values, std::size_t,
               std::span<coordinate> sorted_at, std::span<T> sorted_values) {
    LACONIC_EXPECTS(values.size() == at.size() && sorted_at.size() == at.size() && sorted_values.size() == at.size());
    copy(on, at, sorted_at);
    copy(on, values, sorted_values);
    detail::on_device::sort_by_coordinates(on, sorted_at, sorted_values);
}

/// Those terms whose numbers are listed, ascending, go to `kept`, the others to `left`.
template <Scalar T>
void part_list(device& on, listed_terms<T> v, std::span<coordinate const> chosen, device_array<coordinate>& kept_at,
               device_array<T>& kept, device_array<coordinate>& left_at, device_array<T>& left) {
    LACONIC_EXPECTS(chosen.size() <= v.at.size());
    std::size_t const n = v.at.size(), k = chosen.size();
    kept_at.resize_to_overwrite(k);
    kept.resize_to_overwrite(k);
    left_at.resize_to_overwrite(n - k);
    left.resize_to_overwrite(n - k);
    using pass = detail::on_device::part_from_others<T>;
    detail::on_device::for_each_index(
        on, n,
        pass{v.at.data(), v.values.data(), chosen.data(), k, kept_at.data(), left_at.data(), kept.data(), left.data()});
}

/// Those terms of v whose numbers j are listed, ascending. Does not wait.
template <Scalar T>
void take_list(device& on, listed_terms<T> v, std::span<coordinate const> chosen, device_array<coordinate>& at,
               device_array<T>& values) {
    using detail::on_device::take_listed;
    at.resize_to_overwrite(chosen.size());
    values.resize_to_overwrite(chosen.size());
    detail::on_device::for_each_index(
        on, chosen.size(), take_listed<T>{chosen.data(), v.at.data(), v.values.data(), at.data(), values.data()});
}

/// The terms of v whose coordinates `other` does not have. Waits for their number.
template <Scalar T>
void list_without(device& on, listed_terms<T> v, std::span<coordinate const> other, device_array<coordinate>& at,
                  device_array<T>& values) {
    using namespace detail::on_device;
    std::size_t const n = v.at.size();
    auto* const list = on.scratch<coordinate>(scratch_for::marks, n).data();
    auto* const count = on.scratch<coordinate>(scratch_for::result, 1).data();
    list_indices(on, n, is_not_in{v.at.data(), other.data(), other.size()}, list, count);
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
    list_indices(on, n, is_first_of_its_kind{places.data()}, first,
                 on.scratch<coordinate>(scratch_for::result, 1).data());
}
template <Scalar T>
void reserve_to_sum(device& on, std::size_t, std::size_t terms) {
    reserve_for_lists<T>(on, terms / 2 + 1);
}
template <Scalar T>
void reserve_to_sort(device&, std::size_t, std::size_t) {}

}  // namespace laconic::kernels
