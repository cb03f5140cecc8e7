// SPDX-License-Identifier: Apache-2.0
// Blocks of all lengths, across the stretches that are rounded together; the laws of kernels compare the rest.
#include "laconic/backend/host/round_blocks.hpp"

#include "support/everything.hpp"

using namespace laconic::kernels;

TEST_CASE_TEMPLATE("each block is rounded as if it were alone, wherever it stands", T, float, double) {
    std::vector<T> x;
    for (std::uint64_t i = 0; i < 5000; ++i)
        x.push_back(static_cast<T>(std::ldexp(key{1}.uniform(i) - 0.5, static_cast<int>(key{2}.below(i, 20)) - 10)));
    for (auto const name : {block_format::mxfp4, block_format::nvfp4, block_format::int8})
        for (std::size_t const block : {1u, 3u, 16u, 32u, 1000u, 1024u, 1500u, 5000u})
            for (auto const how : {rounding::nearest, rounding::random}) {
                auto f = layout_of(name);
                f.block = block;
                T const shared = name == block_format::nvfp4 ? T(0x1p-12) : T(1);
                host on;
                std::vector<T> scales((x.size() + block - 1) / block);
                std::vector<std::uint16_t> codes(x.size());
                CHECK(round_blocks_to_short(on, std::span<T const>(x), f, how, shared, key{3}, std::span(scales),
                                            std::span(codes)));
                int wrong = 0;
                for (std::size_t b = 0, at = 0; at < x.size(); at += block, ++b) {
                    auto const part = std::span<T const>(x).subspan(at, std::min(block, x.size() - at));
                    std::vector<T> scale(1);
                    std::vector<std::uint16_t> own(part.size());
                    CHECK(
                        round_blocks_to_short(on, part, f, how, shared, key{3}, std::span(scale), std::span(own), at));
                    wrong += scale[0] != scales[b] || !std::equal(own.begin(), own.end(), codes.begin() + long(at));
                }
                CHECK(wrong == 0);
            }
}

TEST_CASE_TEMPLATE("signs stay, zeros are zeros, and what is not finite is refused", T, float, double) {
    host on;
    auto const rounded = [&](std::vector<T> const& x, block_format name) {
        auto f = layout_of(name);
        f.block = 2;
        std::vector<T> scales(2);
        std::vector<std::uint16_t> codes(4, 99);
        bool const finite = round_blocks_to_short(on, std::span<T const>(x), f, rounding::nearest, T(1), key{1},
                                                  std::span(scales), std::span(codes));
        return finite ? codes : std::vector<std::uint16_t>{};
    };
    using codes = std::vector<std::uint16_t>;
    CHECK(rounded({0, T(-0.0), 1, -1}, block_format::mxfp4) == codes{0, 8, 6, 14});
    CHECK(rounded({0, T(-0.0), 1, -1}, block_format::int8) == codes{0, 128, 127, 255});
    for (T const bad : {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()})
        for (auto const name : {block_format::mxfp4, block_format::nvfp4, block_format::float8_e4m3}) {
            CHECK(rounded({1, 2, 3, bad}, name).empty());
            CHECK(rounded({1, -bad, 3, 4}, name).empty());
        }
    T const max = std::numeric_limits<T>::max();
    CHECK(rounded({max, 0, 0, 0}, block_format::mxfp8_e4m3).empty() == (sizeof(T) == 8));  // beyond 2^127 x 448
}
