// SPDX-License-Identifier: Apache-2.0
// Every pass of the host is its formula, exact at all lengths, and has the reference's bits for all numbers.
#include "laconic/backend/host/update.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

template <class T>
std::vector<T> ramp(std::size_t d, double a, double b) {
    std::vector<T> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(a + b * static_cast<double>(i));
    return x;
}

struct scattered {
    static constexpr bool in_order = false;
    std::size_t size() const { return 3; }
    term<double> operator[](std::size_t j) const { return {static_cast<coordinate>(4 - 2 * j), double(j) + 1}; }
};
struct in_a_row {
    static constexpr bool in_order = true;
    std::size_t size() const { return 3; }
    term<float> operator[](std::size_t j) const { return {static_cast<coordinate>(j), float(j) + 1}; }
};

}  // namespace

// Whole numbers, so that every result is exact; every length, so that vectors and what is left over meet.
TEST_CASE_TEMPLATE("each pass is its formula", T, float, double) {
    host on;
    for (std::size_t d = 0; d <= 40; ++d) {
        CAPTURE(d);
        auto const x = ramp<T>(d, 1, 2), y = ramp<T>(d, -5, 3);
        using in = std::span<T const>;
        using out = std::span<T>;

        auto z = y;
        add_scaled(on, T(-2), in(x), out(z));
        CHECK(z == ramp<T>(d, -7, -1));

        z = y;
        multiply(on, T(3), out(z));
        CHECK(z == ramp<T>(d, -15, 9));

        auto g = ramp<T>(d, 100, 10);
        CHECK(compensate(on, T(1), in(g), in(), T(1), in(), out(g)));
        CHECK(g == ramp<T>(d, 100, 10));
        CHECK(compensate(on, T(1), in(g), in(x), T(1), in(), out(g)));
        CHECK(g == ramp<T>(d, 99, 8));
        CHECK(compensate(on, T(1), in(g), in(), T(1), in(y), out(g)));
        CHECK(g == ramp<T>(d, 94, 11));
        CHECK(compensate(on, T(1), in(g), in(x), T(1), in(y), out(g)));
        CHECK(g == ramp<T>(d, 88, 12));
        CHECK(compensate(on, T(2), in(g), in(x), T(1), in(y), out(g)));
        CHECK(g == ramp<T>(d, 170, 25));

        g = x;
        std::vector<T> next(d);
        subtract_last(on, out(g), in(y), out(next));
        CHECK(g == ramp<T>(d, 6, -1));
        CHECK(next == x);

        g = x;
        gather_momentum(on, T(2), false, out(g), in(y), in(x), out(next));
        CHECK(next == ramp<T>(d, -9, 8));
        CHECK(g == ramp<T>(d, -8, 10));
        g = x;
        gather_momentum(on, T(2), true, out(g), in(y), in(x), out(next));
        CHECK(next == ramp<T>(d, -8, 10));
        CHECK(g == ramp<T>(d, -6, 14));

        auto m = x, h = y;
        complete_and_remember(on, out(m), T(4), out(h));
        CHECK(m == ramp<T>(d, -4, 5));
        CHECK(h == ramp<T>(d, -1, 11));

        std::vector<T> bounds(d, T(-1));
        scaled_distances(on, T(2), in(x), in(y), out(bounds));
        for (std::size_t i = 0; i < d; ++i)
            CHECK(bounds[i] == static_cast<T>(i > 6 ? 2.0 * double(i) - 12 : 12 - 2.0 * double(i)));
    }
}

// Every length and place of a number that is not finite, and sums of finite ones that overflow.
TEST_CASE_TEMPLATE("a delta that is not finite is noticed", T, float, double) {
    host on;
    constexpr T infinite = std::numeric_limits<T>::infinity(), most = std::numeric_limits<T>::max();
    for (std::size_t d = 1; d <= 40; ++d)
        for (std::size_t i = 0; i < d; ++i)
            for (T const bad : {infinite, -infinite, std::numeric_limits<T>::quiet_NaN(), most}) {
                std::vector<T> g(d, -most), e(d, T(1));
                CHECK(compensate(on, T(1), std::span<T const>(g), {}, T(1), std::span<T const>(e), std::span<T>(g)));
                g[i] = bad;
                e[i] = most / 2;
                CHECK(!compensate(on, T(1), std::span<T const>(g), {}, T(1), std::span<T const>(e), std::span<T>(g)));
            }
}

// Of numbers of all kinds, at every length and from addresses that no vector likes; products are rounded before they
// are added, so nothing depends on what the compiler fuses.
TEST_CASE_TEMPLATE("each kernel is its definition, to the bit", T, float, double) {
    host on;
    reference defined;
    using limits = std::numeric_limits<T>;
    constexpr T odd[] = {0,
                         T(-0.0),
                         limits::denorm_min(),
                         -3 * limits::denorm_min(),
                         limits::min(),
                         limits::max(),
                         limits::lowest(),
                         limits::infinity(),
                         -limits::infinity(),
                         limits::quiet_NaN(),
                         1,
                         1};
    auto const numbers = [&](std::size_t d, std::uint64_t from) {
        std::vector<T> x(d);
        for (std::size_t i = 0; i < d; ++i) {
            auto const n = key{from}.below(2 * i, 60);
            x[i] = n < std::size(odd) ? odd[n] : static_cast<T>(4 * key{from}.uniform(2 * i + 1) - 2);
        }
        return x;
    };
    auto const same_bits = [](std::vector<T> const& a, std::vector<T> const& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](T v, T w) {
            return (std::isnan(v) && std::isnan(w)) || (v == w && std::signbit(v) == std::signbit(w));
        });
    };
    for (std::size_t d = 0; d <= 70; ++d)
        for (std::size_t const skip : {0, 1, 3, 5, 9, 14}) {  // of the places in a line
            CAPTURE(d);
            CAPTURE(skip);
            auto const x = numbers(d + skip, 1), y = numbers(d + skip, 2), z = numbers(d + skip, 3);
            auto const in = [&](std::vector<T> const& v) { return std::span<T const>(v).subspan(skip); };
            auto const check = [&](auto kernel) {
                auto a = z, b = z, more_a = y, more_b = y;
                kernel(on, std::span<T>(a).subspan(skip), std::span<T>(more_a).subspan(skip));
                kernel(defined, std::span<T>(b).subspan(skip), std::span<T>(more_b).subspan(skip));
                CHECK(same_bits(a, b));
                CHECK(same_bits(more_a, more_b));
            };
            using out = std::span<T>;
            check([&](auto& b, out v, out) { add_scaled(b, T(0.3), in(x), v); });
            check([&](auto& b, out v, out) { multiply(b, T(0.3), v); });
            check([&](auto& b, out v, out w) {
                bool const finite = compensate(b, T(0.7), std::span<T const>(v), in(x), T(0.6), in(y), v);
                if (!w.empty()) w[0] = finite;
            });
            check([&](auto& b, out v, out) { compensate(b, T(0.7), std::span<T const>(v), in(x), T(0.6), {}, v); });
            check([&](auto& b, out v, out) { compensate(b, T(0.7), std::span<T const>(v), {}, T(0.6), in(x), v); });
            check([&](auto& b, out v, out) { compensate(b, T(0.7), std::span<T const>(v), {}, T(0.6), {}, v); });
            check([&](auto& b, out v, out w) { subtract_last(b, v, in(x), w); });
            check([&](auto& b, out v, out w) { gather_momentum(b, T(0.9), false, v, in(x), in(y), w); });
            check([&](auto& b, out v, out w) { gather_momentum(b, T(0.9), true, v, in(x), in(y), w); });
            check([&](auto& b, out v, out w) { complete_and_remember(b, v, T(0.3), w); });
            check([&](auto& b, out v, out) { scaled_distances(b, T(0.3), in(x), in(y), v); });
            check([&](auto& b, out v, out) {
                for (T& n : v) n = std::isnan(n) ? T(-0.0) : n;
                raise_magnitudes(b, T(0.5), T(0.3), v);
            });
            messages::full_vector<T, host> const all{{x.begin() + static_cast<std::ptrdiff_t>(skip), x.end()}};
            check([&](auto& b, out v, out) { add_message(b, v, T(0.3), all); });
            messages::sparse<identity, messages::support_is::listed, T, host> some;
            some.length = d;
            for (std::size_t i = 0; i < d; i += 1 + i % 3) {
                some.support.push_back(static_cast<coordinate>(i));
                some.payload.values.push_back(x[skip + i]);
            }
            check([&](auto& b, out v, out) { add_message(b, v, T(0.3), some); });
        }
}

TEST_CASE("terms are added at their coordinates, in the type of the sum") {
    host on;
    std::vector<float> narrow{10, 10, 10, 10, 10};
    add_terms(on, std::span<float>(narrow), 2.0f, scattered{});
    CHECK(narrow == std::vector<float>{16, 10, 14, 10, 12});
    std::vector<double> wide{10, 10, 10};
    add_terms(on, std::span<double>(wide), -1.0, in_a_row{});
    CHECK(wide == std::vector<double>{9, 8, 7});
}

TEST_CASE_TEMPLATE("magnitudes are raised to the least, then multiplied; signs stay", T, float, double) {
    host on;
    std::vector<T> y{3, -3, T(0.5), T(-0.5), 0, T(-0.0)};
    raise_magnitudes(on, T(1), T(2), std::span<T>(y));
    CHECK(y == std::vector<T>{6, -6, 2, -2, 2, -2});
    CHECK(std::signbit(y[5]));
}
