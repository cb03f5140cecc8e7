// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "laconic/compress/compressor.hpp"
#include "laconic/feedback/feedback.hpp"
#include "laconic/wire/message.hpp"

namespace laconic {

/// A residual that is itself stored compressed, by S, and averaged: with the message m about delta = g + e,
///     e <- S(beta e + (1 - beta) (delta - m)),
/// and every `reset` rounds e <- 0 (LoCo, Xie et al., 2024). Unlike the residual of a memory it loses part of what
/// messages leave out, for the bytes that S takes, such as one a number with block_float{block_format::int8}. A
/// number beyond the largest that S can store is stored as that. On backends whose memory the host reaches.
template <class S, Scalar T = double, class B = host>
class stored_residual {
    static_assert(OnHost<B>, "a stored residual is in the host's memory");
    using array = typename B::template array<T>;

  public:
    /// reset = 0: never. Throws argument_error for a beta outside [0, 1).
    template <std::same_as<S> Own = S>  // so that nothing is tried for conversion to an S that is chosen at run time
    stored_residual(Own store = {}, double beta = 0.8, std::uint64_t reset = 1024)  // NOLINT: a compressor
        : store_(std::move(store)), beta_(beta), reset_(reset) {
        if (!(beta >= 0 && beta < 1)) throw argument_error({"stored_residual: beta = ", beta, " is outside [0, 1)"});
    }

    /// Throws argument_error where S does not suit d numbers.
    void start(std::size_t d) {
        store_.check(d);
        array zeros(d);
        B on;
        keep(on, zeros);
    }
    /// g <- g + e. Before start() it remembers nothing, as of a layer in full.
    void compensate(B& on, round_context const&, std::span<T> g) const {
        if (stored_.dimension() > 0) add_message(on, g, T(1), stored_);
    }
    void update(B& on, std::span<T const> delta, auto const& m) {
        array copy;
        kernels::assign(on, delta, copy);
        update(on, std::move(copy), m);
    }
    /// The same in the memory of delta.
    void update(B& on, array&& delta, auto const& m) {
        if (stored_.dimension() == 0) return;
        std::span<T> const e(delta);
        add_message(on, e, T(-1), m);
        multiply(on, static_cast<T>(1 - beta_), e);
        add_message(on, e, static_cast<T>(beta_), stored_);
        if (++rounds_; reset_ > 0 && rounds_ % reset_ == 0) fill(on, e, T(0));
        keep(on, e);
    }
    void reconstruct(B&, round_context const&, std::span<T>) const {}
    void preview(B&, round_context const&, std::span<T>) const {}

    double rate() const { return 0; }  ///< of a shift: it has none
    bool keeps_residual() const { return true; }
    /// The bytes of the residual as S stores it.
    std::size_t stored_bytes() const { return (wire::bits(stored_) + 7) / 8; }
    /// 0 before start().
    std::size_t dimension() const { return stored_.dimension(); }
    /// The same before start(), with a compressor of another type, such as any_compressor.
    template <class Other>
    stored_residual<Other, T, B> stored_by() const {
        return {Other(store_), beta_, reset_};
    }

    /// Merges the states of several ranks, as memory does.
    void add(B& on, T share, stored_residual const& other) {
        auto e = decoded(on);
        add_message(on, std::span<T>(e), share, other.stored_);
        rounds_ = other.rounds_;
        keep(on, e);
    }
    void scale(B& on, T share) {
        auto e = decoded(on);
        multiply(on, share, std::span<T>(e));
        keep(on, e);
    }

    void state(auto& archive) {
        wire::bit_writer sink;
        write(sink, stored_);
        std::uint64_t stored_after = rounds_;
        if constexpr (requires { archive.next(); }) stored_after = archive.next();
        archive(rounds_);
        archive.encoded(sink.finish(), [&](std::span<std::byte const> bytes, bool checking) {
            B on;
            wire::bit_reader source(bytes);
            detail::message_of<S, T, B> saved;
            store_.blank(on, stored_.dimension(), key{stored_after}, saved);
            wire::read(on, source, saved, store_);
            if (!checking) stored_ = std::move(saved);
        });
    }
    friend std::string to_string(stored_residual const& f) {
        return detail::concat({"stored_residual(", to_string(f.store_), ", beta=", f.beta_, ", reset=", f.reset_, ")"});
    }

  private:
    // e becomes what S makes of it. The other ranks have taken the step then, so no number of e is too large for S.
    void keep(B& on, std::span<T> e) {
        if (double const most = detail::largest_of(store_); most < static_cast<double>(std::numeric_limits<T>::max()))
            for (T& v : e) v = std::clamp(v, static_cast<T>(-most), static_cast<T>(most));
        store_(on, std::span<T const>(e), key{rounds_}, stored_);
    }
    array decoded(B& on) const {
        array e(stored_.dimension());
        add_message(on, std::span<T>(e), T(1), stored_);
        return e;
    }

    S store_;
    double beta_;
    std::uint64_t reset_, rounds_ = 0;
    detail::message_of<S, T, B> stored_;
};

}  // namespace laconic
