// SPDX-License-Identifier: Apache-2.0
// What the host rounds many at a time gets the codes of the reference, which draws one chance at a time.
#include "laconic/backend/host/round_at_random.hpp"

#include "support/by_key.hpp"
#include "support/everything.hpp"

using namespace laconic::kernels;

// Where upper halves of chances do not decide all: a value that is cut in the middle of 16 bits.
template <class T>
constexpr T between_halves = T(0.5) + T(0x1p-18);

TEST_CASE("the lower half of a chance decides where the upper one does not") {
    key const from{5};
    // A code is whether chance(n) and the value x 2^32 make 2^32; of 2^18 values some four are near.
    std::size_t const n = std::size_t{1} << 18;
    double const p = between_halves<double>;
    std::vector<double> const x(n, p);
    std::vector<std::uint8_t> codes(n);
    std::size_t asked = 0;
    auto const exactly = [&asked](double v, std::uint32_t chance) {
        ++asked;
        return static_cast<std::uint8_t>(detail::goes_up(v, chance));
    };
    auto const together = [](double const* v, std::uint16_t const* windows, std::uint8_t* out) {
        std::uint64_t open = 0;
        for (std::size_t j = 0; j < rounded_together; ++j) {
            auto const cut = static_cast<std::uint16_t>(v[j] * 0x1p16);
            out[j] = detail::goes_up(cut, windows[j]);
            open |= std::uint64_t{detail::is_open(cut, windows[j])} << j;
        }
        return open;
    };
    random_windows<simd::arch> draws(from, 3, 3 + n);
    laconic::detail::codes_out<simd::arch, std::uint8_t> out{std::span(codes)};
    round_at_random(draws, std::span<double const>(x), 3, out, together, exactly);
    std::size_t near = 0;
    bool same = true;
    for (std::size_t i = 0; i < n; ++i) {
        near += from.window(3 + i) == 0x7fff;
        same &= codes[i] == (double(from.chance(3 + i)) + p * 0x1p32 >= 0x1p32);
    }
    CHECK(same);
    CHECK(near > 0);
    CHECK(asked <= near * 3);  // at both ends, and in between
}

// Pieces of all lengths, of which some are left out.
TEST_CASE("windows are given in order, at least as many as are rounded together") {
    key const from{6};
    for (std::uint64_t const first : {0ull, 3ull, 8ull, 64ull, 100ull}) {
        std::uint64_t const end = first + 5000;
        random_windows<simd::arch> draws(from, first, end);
        for (std::uint64_t n = first, piece = 1; n < end; n += piece, piece = piece * 7 % 601) {
            std::size_t const count = std::min(piece, end - n);
            auto const windows = draws.at(n, count);
            REQUIRE(windows.size() <= count);
            REQUIRE(windows.size() >= std::min(count, rounded_together));
            bool same = true;
            for (std::size_t j = 0; j < windows.size(); ++j) same &= windows[j] == from.window(n + j);
            CHECK(same);
        }
    }
}

// The definition draws one by one; values in all of their range, and in lengths and places that no vector likes.
TEST_CASE_TEMPLATE("all that is rounded at random is rounded as by the definition", T, float, double) {
    host on;
    reference wanted_on;
    T const least = std::numeric_limits<T>::min(), tiny = std::numeric_limits<T>::denorm_min();
    for (std::size_t const n : {0, 1, 2, 7, 8, 63, 64, 65, 127, 511, 512, 513, 1536, 1537, 3300})
        for (std::uint64_t const first : {0ull, 1ull, 5ull, 8ull, (1ull << 34) - 100}) {
            key const plain{n + first}, turned{n + first, 9, static_cast<std::uint16_t>(0x9234 + n)};
            key const from = n % 2 == 0 ? plain : turned;
            std::vector<T> values(n + 1);
            for (std::size_t i = 0; i < n; ++i)
                values[i + 1] = static_cast<T>(std::ldexp(2 * from.child(1).uniform(i) - 1, static_cast<int>(i % 5)));
            for (std::size_t i = 1; i <= n; i += 9) values[i] = i % 2 == 0 ? T(0) : -T(0);
            for (std::size_t i = 2; i <= n; i += 9) values[i] = i % 2 == 0 ? T(0.5) : T(-16);
            for (std::size_t i = 3; i <= n; i += 9) values[i] = i % 2 == 0 ? tiny : -3 * tiny;
            for (std::size_t i = 4; i <= n; i += 9) values[i] = i % 2 == 0 ? least : least * T(-1.5);
            auto const x = std::span<T const>(values).subspan(1);  // not aligned
            auto const agree = [&](auto zero, auto round) {
                std::vector<decltype(zero)> codes(n + 2, 99), wanted(n + 2, 99);
                round(on, std::span(codes).subspan(1, n));
                round(wanted_on, std::span(wanted).subspan(1, n));
                CHECK(codes == wanted);
            };
            for (int const levels : {1, 2, 7, 127, 1000, 32767}) {
                T const step = T(16) / static_cast<T>(levels);
                auto const round = [&](auto& b, auto codes) {
                    round_to_levels(b, x, step, levels, from, first, codes);
                };
                agree(std::int16_t{}, round);
                if (levels <= most_levels<std::int8_t>) agree(std::int8_t{}, round);
                agree(std::int16_t{}, [&](auto& b, auto codes) {
                    round_to_halvings(b, x, T(16), std::min(levels, 1000), from, first, codes);
                });
            }
            agree(std::uint16_t{}, [&](auto& b, auto codes) { round_to_powers(b, x, from, first, codes); });
            for (int const most : {1, 3, 15, 255}) {
                T const step = T(32) / static_cast<T>(most);
                agree(std::uint8_t{},
                      [&](auto& b, auto codes) { round_to_range(b, x, T(-16), step, most, from, first, codes); });
                agree(std::uint8_t{},
                      [&](auto& b, auto codes) { round_to_nearest_in_range(b, x, T(-16), step, most, codes); });
            }
        }
}

// What four, three and seven ranks round with the turns of correlated ranks, over all thresholds: a key's windows go
// through all of them as its turn does.
TEST_CASE_TEMPLATE(
    "over all turns a number goes up by its fraction, and the mean of like ones varies by f (1 - f) / n^2", B, host,
    reference) {
    B on;
    std::vector<float> const x{.3f, .5f, .25f, .999f, -.3f, 2.125f, -6.5f, 1 / 3.f};
    std::vector<std::vector<std::int8_t>> codes(65536, std::vector<std::int8_t>(x.size()));
    for (std::size_t t = 0; t < codes.size(); ++t)
        round_to_levels(on, std::span<float const>(x), 1.f, 7, key{8, 9, static_cast<std::uint16_t>(t)}, 5,
                        std::span(codes[t]));
    for (std::size_t j = 0; j < x.size(); ++j) {
        CAPTURE(x[j]);
        double const v = double(x[j]);
        double sum = 0;
        for (auto const& c : codes) sum += c[j];
        CHECK(std::abs(sum - 65536 * v) <= 1);
        for (std::size_t const n : {4u, 3u, 7u}) {
            double squares = 0;
            double const f = double(n) * v - std::floor(double(n) * v);
            for (std::size_t t = 0; t < codes.size(); ++t) {
                double mean = 0;
                for (std::size_t i = 0; i < n; ++i) mean += codes[(t + 65536 * i / n) % 65536][j] / double(n);
                squares += (mean - v) * (mean - v) / 65536;
            }
            CHECK(squares == doctest::Approx(f * (1 - f) / double(n * n)).epsilon(1e-4).scale(1));
            if (n == 4 && j == 0) CHECK(squares == doctest::Approx(.01).epsilon(1e-2).scale(0));  // independent: .0525
            if (n == 4 && j == 1) CHECK(squares < 1e-9);                                          // independent: .0625
        }
    }
}
