// SPDX-License-Identifier: Apache-2.0
// Codes arrive in order, in an array and in a stream, which gets so many at a time that they are whole words of all
// widths; what a stream throws, who makes the codes throws.
#include "laconic/backend/host/codes_out.hpp"

#include <stdexcept>

#include "support/everything.hpp"

using shorts = std::vector<std::uint16_t>;
using codes_out = laconic::detail::codes_out<laconic::simd::arch, std::uint16_t>;

// 0, 1, .. in pieces of up to so many, then zeros.
void make(codes_out& out, std::size_t numbers, std::size_t zeros, std::size_t most) {
    for (std::size_t i = 0; i < numbers;) {
        std::size_t const n = std::min(most, numbers - i);
        auto* const room = out.room();
        for (std::size_t j = 0; j < n; ++j, ++i) room[j] = static_cast<std::uint16_t>(i);
        out.made(n);
    }
    out.fill(zeros, 0);
    out.finish();
}

TEST_CASE("arrays and streams get the codes that are made") {
    for (std::size_t const n : {0u, 1u, 100u, 3839u, 3840u, 3841u, 9000u})
        for (std::size_t const most : {1u, 7u, 64u, 512u}) {
            shorts wanted(n + 1000, 0), array(n + 1000, 9), past(n + 1000, 9), streamed;
            for (std::size_t i = 0; i < n; ++i) wanted[i] = static_cast<std::uint16_t>(i);
            codes_out to_array{std::span(array)}, past_caches{std::span(past), true};
            kernels::code_stream<std::uint16_t> const stream{
                &streamed, [](void* to, std::uint16_t const* codes, std::size_t count) {
                    auto& all = *static_cast<shorts*>(to);
                    CHECK(all.size() % 320 == 0);
                    all.insert(all.end(), codes, codes + count);
                }};
            codes_out to_stream(stream);
            for (auto* const out : {&to_array, &past_caches, &to_stream}) make(*out, n, 1000, most);
            CHECK(array == wanted);
            CHECK(past == wanted);
            CHECK(streamed == wanted);
        }
}

TEST_CASE("an exception of the stream passes") {
    codes_out out(kernels::code_stream<std::uint16_t>{
        nullptr, [](void*, std::uint16_t const*, std::size_t) { throw std::runtime_error("full"); }});
    CHECK_THROWS_AS(make(out, 4000, 0, 512), std::runtime_error);
}
