// SPDX-License-Identifier: Apache-2.0
// Fixed-point sums never overflow for as many workers as agreed, and are off by half a unit for each at most.
#include "laconic/packet/switch_integers.hpp"

#include "support/everything.hpp"

// What a switch makes of the workers' blocks, one number each.
template <class T>
T sum_of(std::vector<T> const& x, std::int64_t* exact = nullptr) {
    std::int16_t e = detail::no_exponent;
    for (T const& v : x) e = std::max(e, detail::exponent_of(std::span<T const>(&v, 1)));
    detail::fixed_point const form(int(x.size()), e);
    std::uint32_t sum = 0;
    std::int64_t total = 0;
    std::array<std::byte, 4> bytes{};
    for (T const& v : x) {
        form.put(std::span<T const>(&v, 1), bytes.data());
        sum += detail::load_half(bytes.data());
        total += std::int32_t(detail::load_half(bytes.data()));
    }
    if (exact) *exact = total;
    detail::store_half(bytes.data(), sum);
    T out = 0;
    bool const finite = form.take(bytes.data(), std::span<T>(&out, 1));
    CHECK(finite == std::isfinite(out));
    return out;
}

TEST_CASE("the exponent of a block is the least whose power of two is above all magnitudes") {
    auto const e = [&](std::vector<float> const& x) { return detail::exponent_of(std::span<float const>(x)); };
    CHECK(e({0.5f}) == 0);
    CHECK(e({1.0f}) == 1);
    CHECK(e({-1.99f, 0.1f}) == 1);
    CHECK(e({0.1f, -3.0f, 2.0f}) == 2);
    CHECK(e({0.0f, -0.0f}) == detail::no_exponent);
    CHECK(e({}) == detail::no_exponent);
    CHECK(e({std::numeric_limits<float>::max()}) == 128);
    CHECK(e({-std::numeric_limits<float>::denorm_min()}) == -148);
    double const large = std::numeric_limits<double>::max(), small = std::numeric_limits<double>::denorm_min();
    CHECK(detail::exponent_of(std::span<double const>(&large, 1)) == 1024);
    CHECK(detail::exponent_of(std::span<double const>(&small, 1)) == -1073);
}

TEST_CASE("by hand: three workers have 29 bits") {
    CHECK(detail::fixed_point::bits(1) == 30);
    CHECK(detail::fixed_point::bits(2) == 29);
    CHECK(detail::fixed_point::bits(3) == 29);
    CHECK(detail::fixed_point::bits(4) == 28);
    for (int const workers : {65534, 65535}) CHECK(detail::fixed_point::bits(workers) == 15);
    // 1.5 < 2^1: units of 2^-28.
    std::array<std::byte, 8> bytes{};
    std::array<float, 2> const x{1.5f, -0x1p-28f};
    detail::fixed_point(3, 1).put(std::span<float const>(x), bytes.data());
    CHECK(std::to_integer<int>(bytes[3]) == 0x18);
    for (std::size_t i : {0, 1, 2}) CHECK(std::to_integer<int>(bytes[i]) == 0);
    for (std::size_t i : {4, 5, 6, 7}) CHECK(std::to_integer<int>(bytes[i]) == 255);
}

TEST_CASE("as many summands as there are workers never overflow, be they as large as they can") {
    for (int const workers : {1, 2, 3, 4, 5, 127, 128, 129, 1023, 4096}) {
        CAPTURE(workers);
        int const bits = detail::fixed_point::bits(workers);
        // One bit more would be too many for some: for a double below 2^e is rounded to 2^bits itself.
        CHECK((std::int64_t(workers) << bits) <= std::numeric_limits<std::int32_t>::max());
        CHECK((std::int64_t(workers) << (bits + 1)) > std::numeric_limits<std::int32_t>::max());
        for (int const e : {-1073, -148, 1, 1024})
            for (double const sign : {1.0, -1.0}) {
                double const most = e == 1024 ? std::numeric_limits<double>::max()
                                              : std::max(std::ldexp(0.5, e), std::nextafter(std::ldexp(1.0, e), 0.0));
                std::int64_t exact = 0;
                double const sum = sum_of(std::vector<double>(std::size_t(workers), sign * most), &exact);
                CHECK(exact == std::int32_t(exact));
                if (e == 1024) continue;  // rounded up, it is beyond a double
                CHECK(std::abs(sum - sign * most * workers) <=
                      std::ldexp(workers / 2.0, e - bits) + std::ldexp(1, e - 50));
            }
    }
}

TEST_CASE("a sum is off by at most half a unit for each worker, and can be by nearly that") {
    for (int const workers : {1, 2, 3, 8, 100}) {
        CAPTURE(workers);
        int const bits = detail::fixed_point::bits(workers);
        double const unit = std::ldexp(1.0, 3 - bits);  // numbers below 8
        double worst = 0;
        auto const draw = key{4}.child(std::uint64_t(workers));
        for (std::uint64_t t = 0; t < 50; ++t) {
            std::vector<double> x{4.0};
            for (int w = 1; w < workers; ++w) x.push_back(8 * draw.uniform(1000 * t + std::uint64_t(w)) - 4);
            long double exact = 0;
            for (double const v : x) exact += v;
            worst = std::max(worst, double(std::abs(exact - (long double)sum_of(x))));
        }
        CHECK(worst <= workers * unit / 2);
        // All just below the half: each is rounded down. The first is the one that sets the exponent.
        std::vector<double> x(std::size_t(workers), 5 * unit + 0.499 * unit);
        x[0] = 4 + 0.499 * unit;
        double const exact = x[0] + (workers - 1) * x.back();
        double const off = exact - sum_of(x);
        CHECK(off == doctest::Approx(0.499 * unit * workers));
        CHECK(off <= std::ldexp(double(workers) * workers, 3 - 31));
    }
}

TEST_CASE("floats of all sizes, subnormal ones among them, are summed without loss where the bits suffice") {
    CHECK(sum_of<float>({0x1p-149f, 0x1p-149f, 0}) == 0x1p-148f);
    CHECK(sum_of<float>({0x1p-149f, -0x1p-149f}) == 0);
    CHECK(sum_of<float>({1e-40f, 3e-40f}) == 1e-40f + 3e-40f);
    CHECK(sum_of<float>({1e-38f, 1e-38f}) == 1e-38f + 1e-38f);
    CHECK(sum_of<float>({1e38f, 1e38f}) == 2e38f);
    CHECK(sum_of<float>({3e38f, 3e38f}) == std::numeric_limits<float>::infinity());
    CHECK(sum_of<float>({-3e38f, -3e38f, 0}) == -std::numeric_limits<float>::infinity());
    CHECK(sum_of<float>({3e38f, -3e38f, 1e38f}) == doctest::Approx(1e38f));
    CHECK(sum_of<double>({0x1p-1074, 0x1p-1074}) == 0x1p-1073);
    CHECK(sum_of<double>({1e308, 1e308}) == std::numeric_limits<double>::infinity());
    CHECK(sum_of<double>({1e308, 0x1p-1074}) == doctest::Approx(1e308));
    CHECK(sum_of<float>({0, 0, -0.0f}) == 0);
    CHECK(!std::signbit(sum_of<float>({-0.0f, -0.0f})));
    for (int i = 1; i < 2000; i += 19) CHECK(sum_of<float>({float(i), float(2000 - i), -7}) == 1993);
}

TEST_CASE("ties go to even") {
    // For one worker and an exponent of 1 a unit is 2^-29.
    CHECK(sum_of<double>({1 + 0x1p-30}) == 1);
    CHECK(sum_of<double>({1 + 0x1.8p-29}) == 1 + 0x1p-28);
    CHECK(sum_of<double>({-1 - 0x1p-30}) == -1);
}
