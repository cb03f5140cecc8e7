// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "laconic/backend/block_format.hpp"
#include "laconic/backend/code_words.hpp"
#include "laconic/message/message.hpp"

namespace laconic::messages {

/// Short numbers in blocks of equal length (the last may be shorter) with a scale each: number j is what codes_j means
/// in the format's element, times shared x scales_{j / block}. `shared` is 1 unless scales are of e4m3.
template <Scalar T, class B>
struct block_floats {
    using value_type = T;
    template <class Other>
    using for_backend = block_floats<T, Other>;
    kernels::block_format format = kernels::block_format::mxfp4;
    std::size_t block = 32;
    T shared = 1;
    typename B::template array<T> scales;
    typename B::template array<std::uint16_t> codes;

    kernels::block_layout layout() const {
        auto f = kernels::layout_of(format);
        f.block = block;
        return f;
    }
    /// How codes are written. Those of numbers that are not finite stand for no code.
    kernels::code_words words() const {
        auto const f = kernels::layout_of(format).element;
        return {static_cast<unsigned>(f.width()), 0, f.sign() - 1u, f.largest()};
    }

    struct in_block {
        T scale;
        kernels::short_layout element;
        std::uint16_t const* codes;
        constexpr T operator()(std::size_t j) const { return kernels::short_value<T>(element, codes[j]) * scale; }
    };
    struct in_blocks {
        T shared;
        T const* scales;
        kernels::short_layout element;
        std::uint16_t const* codes;
        std::size_t block;
        constexpr T operator()(std::size_t j) const { return from(j)(0); }
        constexpr in_block from(std::size_t first) const {
            return {shared * scales[first / block], element, codes + first};
        }
        constexpr std::size_t left(std::size_t first) const { return block - first % block; }
    };
    using terms_type = terms_in_order<in_blocks>;

    static auto fields(auto& m) { return std::tie(m.format, m.block, m.shared, m.scales, m.codes); }
    void resize(std::size_t n) {
        scales.resize(detail::pieces_in(n, block));
        codes.resize(n);
    }
    std::size_t dimension() const { return codes.size(); }
    bool fits(std::size_t n) const { return codes.size() == n && detail::make_pieces(scales.size(), n, block); }
    terms_type terms() const& { return terms_of(0, codes.data(), codes.size()); }
    void terms() const&& = delete;
    /// The terms of n numbers with such codes, from number `first` on, where a block begins or which is all in one.
    terms_type terms_of(std::size_t first, std::uint16_t const* some, std::size_t n) const {
        return {{shared, scales.data() + first / block, kernels::layout_of(format).element, some, block}, n};
    }
    bool operator==(block_floats const&) const = default;
};

}  // namespace laconic::messages
