// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "laconic/backend/arguments.hpp"
#include "laconic/backend/host/impl/caches.hpp"
#include "laconic/backend/host/impl/rounded_together.hpp"

namespace laconic::detail {

/// Where a kernel of the host writes its codes, one after another: an array, or a stream. An array may be written as
/// copy_past_caches() does.
template <class A, class Code>
class codes_out {
  public:
    static constexpr std::size_t most = 8 * kernels::rounded_together;  ///< codes at a time

    explicit codes_out(std::span<Code> to, bool past_caches = false)
        : array_(to.data()), past_caches_(past_caches) {
        if (!past_caches) next_ = to.data();
    }
    explicit codes_out(kernels::code_stream<Code> to, bool = false) : stream_(to) {}
    codes_out(codes_out const&) = delete;
    codes_out& operator=(codes_out const&) = delete;

    /// Where up to `most` codes are written next, and no more than there are to come.
    Code* room() { return next_; }
    /// So many were.
    void made(std::size_t n) {
        if (past_caches_) {
            copy_past_caches<A>(std::as_bytes(std::span(held_).first(n)), std::as_writable_bytes(std::span(array_, n)));
            array_ += n;
            return;
        }
        next_ += n;
        if (stream_.take != nullptr && next_ >= held_.data() + given) give(given);
    }
    void fill(std::size_t n, Code value) {
        for (std::size_t some; n > 0; n -= some) {
            some = std::min(n, most);
            std::fill_n(room(), some, value);
            made(some);
        }
    }
    /// After all of them.
    void finish() {
        if (past_caches_) order_past_caches<A>();
        if (stream_.take != nullptr && next_ != held_.data()) give(static_cast<std::size_t>(next_ - held_.data()));
    }

  private:
    static constexpr std::size_t given = 3840 / sizeof(Code);  // to a stream, at a time

    void give(std::size_t n) {
        stream_.take(stream_.to, held_.data(), n);
        next_ = std::copy(held_.data() + n, next_, held_.data());
    }

    alignas(64) std::array<Code, given + most> held_;
    Code* next_ = &held_[0];
    Code* array_ = nullptr;
    bool past_caches_ = false;
    kernels::code_stream<Code> stream_{nullptr, nullptr};
};

}  // namespace laconic::detail
