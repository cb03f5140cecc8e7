// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/backend/array.hpp"
#include "laconic/backend/host.hpp"
#include "support/closed_pages.hpp"

/// A backend whose memory the host cannot touch, as a device's, on any machine: its arrays lie in pages that are closed
/// except for the time that a kernel runs, and whatever else reads or writes an element of one crashes. Kernels are the
/// host's. For one thread.
namespace laconic_test {

/// What backend/array.hpp asks of an array, and no more.
template <class T>
class closed_array {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    closed_array() = default;
    explicit closed_array(std::size_t n) { resize(n); }
    closed_array(closed_array const& other) { *this = other; }
    closed_array(closed_array&& other) noexcept { swap(other); }
    closed_array& operator=(closed_array const& other) {
        opened const pages;
        resize(other.size_);
        std::copy_n(other.data_, size_, data_);
        return *this;
    }
    closed_array& operator=(closed_array&& other) noexcept {
        swap(other);
        return *this;
    }
    ~closed_array() { closed_pages::all().give_back(data_); }

    void swap(closed_array& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }
    friend void swap(closed_array& a, closed_array& b) noexcept { a.swap(b); }

    std::size_t capacity() const { return capacity_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return data_; }
    T const* data() const { return data_; }
    T* begin() { return data_; }
    T const* begin() const { return data_; }
    T* end() { return data_ + size_; }
    T const* end() const { return data_ + size_; }

    void reserve(std::size_t n) {
        if (n <= capacity_) return;
        opened const pages;
        auto* const wider = static_cast<T*>(closed_pages::all().get(n * sizeof(T)));
        std::copy_n(data_, size_, wider);
        closed_pages::all().give_back(data_);
        data_ = wider;
        capacity_ = n;
    }
    void resize(std::size_t n) {
        opened const pages;
        reserve(n);
        if (n > size_) std::fill(data_ + size_, data_ + n, T{});
        size_ = n;
    }
    void assign(std::size_t n, T value) {
        opened const pages;
        resize(n);
        std::fill_n(data_, n, value);
    }
    friend bool operator==(closed_array const& a, closed_array const& b) {
        opened const pages;
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

struct apart {
    template <class T>
    using array = closed_array<T>;

    laconic::host inside;
    std::vector<std::byte> read_by_host;
};

// What a kernel of the host takes in place of an argument: an array that it makes is a vector, copied when it is there.
template <class T>
struct lent {
    T const& as_it_is;
    T const& get() const { return as_it_is; }
};
template <class E>
struct lent<closed_array<E>> {
    closed_array<E>& made;
    std::vector<E> vector{};
    std::vector<E>& get() { return vector; }
    ~lent() {
        made.resize(vector.size());
        std::copy(vector.begin(), vector.end(), made.begin());
    }
};

#define LACONIC_TEST_FORWARD(kernel)                                             \
    template <class... Arguments>                                                \
    auto kernel(apart& on, Arguments&&... given) {                               \
        opened const pages;                                                      \
        return kernel(on.inside, lent<std::decay_t<Arguments>>{given}.get()...); \
    }

LACONIC_TEST_FORWARD(copy)
LACONIC_TEST_FORWARD(fill)
LACONIC_TEST_FORWARD(copy_to_host)
LACONIC_TEST_FORWARD(copy_from_host)
LACONIC_TEST_FORWARD(sum_of_magnitudes)
LACONIC_TEST_FORWARD(sum_of_squares)
LACONIC_TEST_FORWARD(sum_of_squares_in_floats)
LACONIC_TEST_FORWARD(sum_of_numbers)
LACONIC_TEST_FORWARD(largest_magnitude)
LACONIC_TEST_FORWARD(first_non_finite)
LACONIC_TEST_FORWARD(select_largest)
LACONIC_TEST_FORWARD(select_largest_of_each)
LACONIC_TEST_FORWARD(compensate_and_select_largest)
LACONIC_TEST_FORWARD(select_above)
LACONIC_TEST_FORWARD(sample)
LACONIC_TEST_FORWARD(sample_each)
LACONIC_TEST_FORWARD(select_about)
LACONIC_TEST_FORWARD(select_nonzero_blocks)
LACONIC_TEST_FORWARD(select_largest_blocks)
LACONIC_TEST_FORWARD(gather)
LACONIC_TEST_FORWARD(scatter)
LACONIC_TEST_FORWARD(sort_magnitudes)
LACONIC_TEST_FORWARD(count_by_magnitude)
LACONIC_TEST_FORWARD(sample_in_proportion)
LACONIC_TEST_FORWARD(rounding_variance)
LACONIC_TEST_FORWARD(round_to_powers)
LACONIC_TEST_FORWARD(round_to_short)
LACONIC_TEST_FORWARD(pack_signs)
LACONIC_TEST_FORWARD(round_buckets_to_levels)
LACONIC_TEST_FORWARD(round_buckets_to_halvings)
LACONIC_TEST_FORWARD(round_buckets_to_range)
LACONIC_TEST_FORWARD(round_blocks_to_short)
LACONIC_TEST_FORWARD(pack_signs_and_means)
LACONIC_TEST_FORWARD(pack_signs_and_two_means)
LACONIC_TEST_FORWARD(damp_steps)
LACONIC_TEST_FORWARD(draw_symmetric)
LACONIC_TEST_FORWARD(rotate_blocks)
LACONIC_TEST_FORWARD(multiply_matrix)
LACONIC_TEST_FORWARD(multiply_to_orthonormal)
LACONIC_TEST_FORWARD(at_each_index)
LACONIC_TEST_FORWARD(add_scaled)
LACONIC_TEST_FORWARD(multiply)
LACONIC_TEST_FORWARD(raise_magnitudes)
LACONIC_TEST_FORWARD(soft_threshold)
LACONIC_TEST_FORWARD(compensate)
LACONIC_TEST_FORWARD(complete_and_remember)
LACONIC_TEST_FORWARD(add_terms)
LACONIC_TEST_FORWARD(clear_terms)
LACONIC_TEST_FORWARD(list_terms)
LACONIC_TEST_FORWARD(add_lists)
LACONIC_TEST_FORWARD(sum_lists)
LACONIC_TEST_FORWARD(part_list)
LACONIC_TEST_FORWARD(take_list)
LACONIC_TEST_FORWARD(list_without)
LACONIC_TEST_FORWARD(sort_list)
#undef LACONIC_TEST_FORWARD

template <laconic::Scalar T>
void reserve_for_lists(apart& on, std::size_t n) {
    laconic::kernels::reserve_for_lists<T>(on.inside, n);
}
template <laconic::Scalar T>
void reserve_to_sum(apart& on, std::size_t lists, std::size_t terms) {
    laconic::kernels::reserve_to_sum<T>(on.inside, lists, terms);
}
template <laconic::Scalar T>
void reserve_to_sort(apart& on, std::size_t n, std::size_t d) {
    laconic::kernels::reserve_to_sort<T>(on.inside, n, d);
}

template <class E>
std::span<E const> on_host(apart& on, std::span<E const> x) {
    opened const pages;
    on.read_by_host.resize(x.size_bytes());
    std::ranges::copy(std::as_bytes(x), on.read_by_host.begin());
    return {reinterpret_cast<E const*>(on.read_by_host.data()), x.size()};
}

static_assert(laconic::kernels::Backend<apart, float> && laconic::kernels::Backend<apart, double> &&
              !laconic::OnHost<apart>);

}  // namespace laconic_test
