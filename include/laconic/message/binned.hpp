// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "laconic/message/message.hpp"

namespace laconic::messages {

/// Numbers in bins, in buckets of equal length (the last may be shorter): number j is table_k, k = (j / bucket)
/// 2^width + codes_j, codes_j < 2^width, width in 1 .. 8.
template <Scalar T, class B>
struct binned {
    using value_type = T;
    template <class Other>
    using for_backend = binned<T, Other>;
    int width = 1;
    std::size_t bucket = 1;
    typename B::template array<T> table;
    typename B::template array<std::uint8_t> codes;

    struct in_bucket {
        T const* table;
        std::uint8_t const* codes;
        constexpr T operator()(std::size_t j) const { return table[codes[j]]; }
    };
    struct in_buckets {
        T const* table;
        std::uint8_t const* codes;
        int width;
        std::size_t bucket;
        constexpr T operator()(std::size_t j) const { return from(j)(0); }
        constexpr in_bucket from(std::size_t first) const { return {table + (first / bucket << width), codes + first}; }
        constexpr std::size_t left(std::size_t first) const { return bucket - first % bucket; }
    };
    using terms_type = terms_in_order<in_buckets>;

    static auto fields(auto& m) { return std::tie(m.width, m.bucket, m.table, m.codes); }
    void resize(std::size_t n) {
        table.resize(detail::pieces_in(n, bucket) << width);
        codes.resize(n);
    }
    std::size_t dimension() const { return codes.size(); }
    bool fits(std::size_t n) const {
        return codes.size() == n && table.size() >> width << width == table.size() &&
               detail::make_pieces(table.size() >> width, n, bucket);
    }
    terms_type terms() const& { return terms_of(0, codes.data(), codes.size()); }
    void terms() const&& = delete;
    terms_type terms_of(std::size_t first, std::uint8_t const* some, std::size_t n) const {  // as of quantized
        return {{table.data() + (first / bucket << width), some, width, bucket}, n};
    }
    bool operator==(binned const&) const = default;
};

}  // namespace laconic::messages
