// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/backend/device/system.hpp"  // first: it refuses compilers that Thrust would not

#include <thrust/equal.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

namespace laconic::kernels {

/// Numbers one after another in the device's memory. The CPU never reads or writes them: data(), begin() and end() are
/// addresses for kernels, and std::span converts from it. What it does by itself (growing, zeros, assign, copies, ==)
/// belongs to no stream, and so waits for all that was started on the device before, and for its own end. resize to a
/// length that it has had before needs none of this. Throws device_error where there is no memory.
template <class T>
requires std::is_trivially_copyable_v<T>
class device_array {
  public:
    using value_type = T;

    device_array() = default;
    /// n zeros.
    explicit device_array(std::size_t n) : device_array() { resize(n); }
    device_array(device_array const& other) : device_array() { copy_from(other); }
    device_array(device_array&& other) noexcept { swap(other); }
    device_array& operator=(device_array const& other) {
        if (this != &other) copy_from(other);
        return *this;
    }
    device_array& operator=(device_array&& other) noexcept {
        device_array(std::move(other)).swap(*this);
        return *this;
    }
    ~device_array() { detail::on_device::release(data_); }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::size_t capacity() const { return capacity_; }
    T* data() { return data_; }
    T const* data() const { return data_; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    T const* begin() const { return data_; }
    T const* end() const { return data_ + size_; }

    /// New elements are zeros where the memory was not used before, else as they were left; the capacity never shrinks.
    void resize(std::size_t n) {
        std::size_t const had = had_;
        resize_to_overwrite(n);
        if (n > had) detail::on_device::clear_and_wait(data_ + had, (n - had) * sizeof(T));
    }
    /// New elements are arbitrary: for what is written next.
    void resize_to_overwrite(std::size_t n) {
        reserve(n);
        size_ = n;
        if (had_ < n) had_ = n;
    }
    /// All elements are arbitrary, and there is room for `most`.
    void resize_anew(std::size_t n, std::size_t most = 0) {
        size_ = 0;
        reserve(most > n ? most : n);
        resize_to_overwrite(n);
    }
    /// Room for n elements.
    void reserve(std::size_t n) {
        if (n <= capacity_) return;
        if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
        ++detail::on_device::interrupted.allocations;
        device_array larger;
        larger.data_ = static_cast<T*>(detail::on_device::allocate(n * sizeof(T)));
        larger.capacity_ = n;
        larger.size_ = size_;
        larger.had_ = size_;
        if (size_ > 0) detail::on_device::copy_and_wait(data_, larger.data_, size_ * sizeof(T));
        swap(larger);
    }
    /// n times `value`.
    void assign(std::size_t n, T value) {
        resize_to_overwrite(n);
        detail::on_device::wait_for_all();
        detail::on_device::with_own_errors([&] { thrust::fill(thrust::device, data_, data_ + n, value); });
        detail::on_device::wait_for_all();
    }

    void swap(device_array& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(had_, other.had_);
        std::swap(capacity_, other.capacity_);
    }
    friend void swap(device_array& a, device_array& b) noexcept { a.swap(b); }
    friend bool operator==(device_array const& a, device_array const& b) {
        if (a.size_ != b.size_) return false;
        detail::on_device::wait_for_all();
        return detail::on_device::with_own_errors(
            [&] { return thrust::equal(thrust::device, a.data_, a.data_ + a.size_, b.data_); });
    }

  private:
    void copy_from(device_array const& other) {
        resize_to_overwrite(other.size_);
        if (size_ > 0) detail::on_device::copy_and_wait(other.data_, data_, size_ * sizeof(T));
    }

    T* data_ = nullptr;
    std::size_t size_ = 0, had_ = 0, capacity_ = 0;
};

}  // namespace laconic::kernels
