// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

/// What all fuzz targets share: how an input is read, and how a finding is reported.
namespace fuzz {

[[noreturn]] inline void found(std::string const& what) {
    std::fprintf(stderr, "found: %s\n", what.c_str());
    std::abort();
}

/// Numbers taken from the front of the input; zeros where it has ended.
class input {
  public:
    input(std::uint8_t const* data, std::size_t size) : left_(data, size) {}

    template <class N>
    N take() {
        N n{};
        std::size_t const have = std::min(sizeof n, left_.size());
        if (have > 0) std::memcpy(&n, left_.data(), have);
        left_ = left_.subspan(have);
        return n;
    }
    std::span<std::byte const> rest() const { return std::as_bytes(left_); }
    bool empty() const { return left_.empty(); }

  private:
    std::span<std::uint8_t const> left_;
};

}  // namespace fuzz
