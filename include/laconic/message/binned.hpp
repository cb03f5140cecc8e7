// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "laconic/message/message.hpp"

namespace laconic::messages {

/// Centroid k, counted from the least, of 2^bits ones of the normal distribution: each is the mean of what is nearest
/// to it (Max, IRE Transactions on Information Theory 1960). The numbers for 1 to 3 bits are those of EDEN's code.
constexpr double normal_centroid(int bits, std::size_t k) {
    constexpr double above[] = {.7978845608028654,  .4527800398860679,  1.5104176087114887, .24509416307340598,
                                .7560052489539643,  1.3439092613750225, 2.151945669890335,  .1283950298511473,
                                .38804829949029135, .6567591185324653,  .9423404564869625,  1.256231197347178,
                                1.6180463860218819, 2.0690172265313844, 2.732589570995161};
    std::size_t const half = std::size_t{1} << (bits - 1), first = half - 1;
    return k < half ? -above[first + half - 1 - k] : above[first + k - half];
}

/// Numbers in bins, in buckets of equal length (the last may be shorter): number j is table_k, k = (j / bucket)
/// 2^bits + codes_j, codes_j < 2^bits. `width` says how they are written. From 1 to 8 it is the number of
/// bits, and the tables are sent. Above 8 the bits are width - 8, at most 4, and a scale for each bucket is sent, which
/// times the centroids of the normal distribution is its table.
template <Scalar T, class B>
struct binned {
    using value_type = T;
    template <class Other>
    using for_backend = binned<T, Other>;
    int width = 1;
    std::size_t bucket = 1;
    typename B::template array<T> table;
    typename B::template array<std::uint8_t> codes;
    typename B::template array<T> scales = {};

    static constexpr int scaled_from = 8;
    bool scaled() const { return width > scaled_from; }
    int bits() const { return scaled() ? width - scaled_from : width; }

    struct in_bucket {
        T const* table;
        std::uint8_t const* codes;
        constexpr T operator()(std::size_t j) const { return table[codes[j]]; }
    };
    struct in_buckets {
        T const* table;
        std::uint8_t const* codes;
        int bits;
        std::size_t bucket;
        constexpr T operator()(std::size_t j) const { return from(j)(0); }
        constexpr in_bucket from(std::size_t first) const { return {table + (first / bucket << bits), codes + first}; }
        constexpr std::size_t left(std::size_t first) const { return bucket - first % bucket; }
    };
    using terms_type = terms_in_order<in_buckets>;

    static auto fields(auto& m) { return std::tie(m.width, m.bucket, m.table, m.codes, m.scales); }
    void resize(std::size_t n) {
        table.resize(detail::pieces_in(n, bucket) << bits());
        codes.resize(n);
        scales.resize(scaled() ? detail::pieces_in(n, bucket) : 0);
    }
    /// The numbers of bucket b, of its scale.
    void fill_table(std::size_t b) requires OnHost<B> {
        for (std::size_t k = 0; k < std::size_t{1} << bits(); ++k)
            table[(b << bits()) + k] = static_cast<T>(static_cast<double>(scales[b]) * normal_centroid(bits(), k));
    }
    std::size_t dimension() const { return codes.size(); }
    bool fits(std::size_t n) const {
        return codes.size() == n && table.size() >> bits() << bits() == table.size() &&
               detail::make_pieces(table.size() >> bits(), n, bucket) &&
               scales.size() == (scaled() ? table.size() >> bits() : 0);
    }
    terms_type terms() const& { return terms_of(0, codes.data(), codes.size()); }
    void terms() const&& = delete;
    terms_type terms_of(std::size_t first, std::uint8_t const* some, std::size_t n) const {  // as of quantized
        return {{table.data() + (first / bucket << bits()), some, bits(), bucket}, n};
    }
    bool operator==(binned const&) const = default;
};

}  // namespace laconic::messages
