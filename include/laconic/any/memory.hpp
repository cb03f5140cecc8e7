// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "laconic/any/compressor.hpp"
#include "laconic/feedback/memory.hpp"
#include "laconic/feedback/stored_residual.hpp"

namespace laconic {

/// The feedback of an any_reduction on the host: a memory, or in its place a residual that is stored compressed (loco).
template <Scalar T, class B>
class any_memory : public memory<T, B> {
    using base = memory<T, B>;
    using in_store = stored_residual<any_compressor<T, B>, T, B>;

  public:
    any_memory(base of = {}) : base(std::move(of)) {}  // NOLINT: implicit
    template <class S>
    any_memory(stored_residual<S, T, B> const& of)  // NOLINT: implicit
        : stored_(new in_store(of.template stored_by<any_compressor<T, B>>())) {}
    any_memory(any_memory const& other) : base(other), stored_(copy_of(other.stored_)) {}
    any_memory(any_memory&&) noexcept = default;
    any_memory& operator=(any_memory other) noexcept {
        base::operator=(std::move(other)), stored_ = std::move(other.stored_);
        return *this;
    }
    ~any_memory() = default;

    void start(std::size_t d) { stored_ ? stored_->start(d) : base::start(d); }
    std::size_t stored_bytes() const { return stored_ ? stored_->stored_bytes() : 0; }
    bool keeps_residual() const { return stored_ || base::keeps_residual(); }

    void compensate(B& on, round_context const& now, std::span<T> g) const { make_delta(on, now, T(1), g); }
    bool make_delta(B& on, round_context const& now, T scale, std::span<T> g) const {
        return stored_ ? detail::make_delta(*stored_, on, now, scale, g) : base::make_delta(on, now, scale, g);
    }
    bool with_delta(B& on, T scale, std::span<T const> g, T residual_scale, std::span<T> out, auto last) const {
        return stored_ ? detail::with_delta(*stored_, on, {}, scale, g, residual_scale, out, last)
                       : base::with_delta(on, scale, g, residual_scale, out, last);
    }
    void update(B& on, std::span<T const> delta, auto const& m) {
        stored_ ? stored_->update(on, delta, m) : base::update(on, delta, m);
    }
    void update(B& on, typename B::template array<T>&& delta, auto const& m, bool in_full = false) {
        stored_ ? stored_->update(on, std::move(delta), m) : base::update(on, std::move(delta), m, in_full);
    }

    void add(B& on, T share, any_memory const& other) {
        base::add(on, share, other);
        if (stored_ && other.stored_) stored_->add(on, share, *other.stored_);
    }
    void scale(B& on, T share) {
        base::scale(on, share);
        if (stored_) stored_->scale(on, share);
    }

    /// Reads the state of another memory. Throws shape_error for that of a residual that is stored compressed.
    void any_state(auto& archive) {
        if (archive.next() == in_place_of_vectors)
            throw shape_error("a residual that is stored compressed is restored by restore() alone, not by resume()");
        base::any_state(archive);
    }
    void state(auto& archive) {
        if (!stored_) return base::state(archive);
        auto mark = in_place_of_vectors;
        archive.between(mark, mark, mark);
        archive(*stored_);
    }
    friend std::string to_string(any_memory const& m) {
        return m.stored_ ? to_string(*m.stored_) : to_string(static_cast<base const&>(m));
    }

  private:
    static constexpr auto in_place_of_vectors = ~std::uint64_t{0};  // the length of none

    static std::unique_ptr<in_store> copy_of(std::unique_ptr<in_store> const& of) {
        if (!of) return {};
        std::unique_ptr<in_store> copied(new in_store(of->template stored_by<any_compressor<T, B>>()));
        B on;
        if (of->dimension() > 0) copied->start(of->dimension()), copied->add(on, T(1), *of);
        return copied;
    }
    std::unique_ptr<in_store> stored_;  // an optional would try every type for conversion to a compressor
};

namespace detail {

/// The feedback of an any_reduction on any backend.
template <class T, class B>
using any_memory_for = std::conditional_t<OnHost<B>, any_memory<T, B>, memory<T, B>>;

}  // namespace detail

}  // namespace laconic
