// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "laconic/backend/host.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

/// The largest float that is still finite as an E.
template <class E>
float largest_as() {
    static float const found = [] {
        auto const fits = [](std::uint32_t bits) {
            return std::isfinite(static_cast<float>(static_cast<E>(std::bit_cast<float>(bits))));
        };
        std::uint32_t low = 0, high = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::max());
        while (low < high) {  // floats above 0 are ordered as their bits are
            auto const middle = high - (high - low) / 2;
            fits(middle) ? low = middle : high = middle - 1;
        }
        return std::bit_cast<float>(low);
    }();
    return found;
}
/// The largest T that is at most `most` once it is multiplied by `factor`, which is above 0.
template <Scalar T>
T largest_before(T factor, T most) {
    T x = most / factor;
    if (!(x < std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    while (!(x * factor <= most)) x = std::nextafter(x, T(0));
    for (T next = x; next * factor <= most; next = std::nextafter(x, std::numeric_limits<T>::infinity())) x = next;
    return x;
}

/// Whether all of these numbers are 0. On the host it reads them up to the first that is not.
template <class B, Scalar T>
bool are_zeros(B& on, std::span<T const> x) {
    if constexpr (OnHost<B>) return std::all_of(x.begin(), x.end(), [](T v) { return v == 0; });
    return largest_magnitude(on, x) == 0;
}

/// The caller's vector in a step of a reducer, which computes in the vector's type of numbers, or in float where these
/// have 16 bits. It does not own the numbers. Cost: numbers of 16 bits are converted in one pass each way.
class caller_vector {
  public:
    caller_vector() = default;
    template <Scalar T>
    explicit caller_vector(std::span<T> x) : caller_vector(x, std::numeric_limits<T>::max()) {}
    template <Number16 E>
    explicit caller_vector(std::span<E> x) : caller_vector(x, largest_as<E>()) {
        read_ = [](void const* from, std::span<float> to) {
            for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(static_cast<E const*>(from)[i]);
        };
        write_ = [](std::span<float const> from, void* to) {
            for (std::size_t i = 0; i < from.size(); ++i) static_cast<E*>(to)[i] = static_cast<E>(from[i]);
        };
    }

    std::size_t size() const { return size_; }
    bool is_there() const { return is_there_; }
    std::size_t size_bytes() const { return size_ * bytes_each_; }
    /// As memory, which must be the host's.
    std::span<std::byte> bytes() const { return {static_cast<std::byte*>(there_), size_bytes()}; }
    /// The largest magnitude that assign() writes as a finite number.
    double largest() const { return largest_; }
    /// The same vector, of numbers of T that become those of `later` once they are multiplied by `factor`.
    template <Scalar T>
    caller_vector on_the_way_to(caller_vector const& later, T factor) const {
        auto same = *this;
        same.largest_ = largest_before(factor, static_cast<T>(later.largest_));
        same.bytes_each_ = later.bytes_each_;
        return same;
    }
    /// The same vector, as a part of one that has other numbers than zeros somewhere.
    caller_vector part_of_numbers() const {
        auto same = *this;
        same.is_part_of_numbers_ = true;
        return same;
    }
    bool is_part_of_numbers() const { return is_part_of_numbers_; }
    /// The numbers themselves, if they are of T and any number of T can be written there; else none.
    template <Scalar T>
    std::span<T> in_place() const {
        if (write_ || largest_ != std::numeric_limits<T>::max()) return {};
        return {static_cast<T*>(there_), size_};
    }
    /// The numbers themselves where they are of T, else converted into `room`, which has the same length.
    template <Scalar T>
    std::span<T const> as_numbers(std::span<T> room) const {
        if constexpr (std::same_as<T, float>)
            if (read_) return read_(there_, room), room;
        return {static_cast<T const*>(there_), size_};
    }
    /// Sets the caller's numbers to `from`, which has the same length: rounded, infinite beyond largest().
    template <class B, Scalar T>
    void assign(B& on, std::span<T const> from) const {
        if constexpr (std::same_as<T, float>)
            if (write_) return write_(from, there_);
        copy(on, from, std::span(static_cast<T*>(there_), size_));
    }
    /// Sets all of them to NaN; `room` has the same length.
    template <class B, Scalar T>
    void assign_nan(B& on, std::span<T> room) const {
        fill(on, room, std::numeric_limits<T>::quiet_NaN());
        assign(on, std::span<T const>(room));
    }

  private:
    template <class E>
    caller_vector(std::span<E> x, double largest)
        : there_(x.data()), size_(x.size()), bytes_each_(sizeof(E)), largest_(largest), is_there_(true) {}

    void* there_ = nullptr;
    std::size_t size_ = 0, bytes_each_ = 0;
    double largest_ = std::numeric_limits<double>::max();
    bool is_part_of_numbers_ = false;
    bool is_there_ = false;                                  // an empty vector may have no address
    void (*read_)(void const*, std::span<float>) = nullptr;  // null unless the numbers have 16 bits
    void (*write_)(std::span<float const>, void*) = nullptr;
};

/// The caller's vector of one layer: in a step the one that it starts or, for on_missing_layer::zero, the one that is
/// bound.
class layer_vector {
  public:
    /// For all steps. Throws shape_error unless it has d numbers.
    void bind(caller_vector x, std::size_t d) {
        require_length(x.size(), d);
        bound_ = x;
    }
    /// For this step, until end_step().
    void start(caller_vector x) { held_ = x, is_started_ = true; }
    /// Where none is started, the bound one is held: it gets the estimate, and its numbers are not read.
    void hold_bound() {
        if (!is_started_) held_ = bound_;
    }
    bool is_started() const { return is_started_; }
    caller_vector const& held() const { return held_; }
    /// Throws argument_error where none is held, shape_error where it does not have d numbers.
    [[gnu::noinline]] void require(std::size_t d) const {
        if (!held_.is_there())
            throw argument_error(
                "not started, and no vector is bound that would take its estimate, as on_missing_layer::zero needs: "
                "call bind(layer, x) once on every rank");
        require_length(held_.size(), d);
    }
    void end_step() { held_ = {}, is_started_ = false; }

  private:
    static void require_length(std::size_t n, std::size_t d) {
        if (n != d) throw shape_error({"a vector of ", n, " numbers, where the reducer has ", d});
    }

    caller_vector held_, bound_;
    bool is_started_ = false;
};

}  // namespace laconic::detail
