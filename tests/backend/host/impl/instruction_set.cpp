// SPDX-License-Identifier: Apache-2.0
// What is slower on other processors is done on a Zen 4 only.
// A pack does to each of its numbers what the operation does to one number, unaligned loads included.
#include "laconic/backend/host/impl/instruction_set.hpp"

#include "support/everything.hpp"

// Which flags name it: tests/builds/processors.cpp.
TEST_CASE("what loses elsewhere is done on a Zen 4 alone") {
    bool const half = !std::is_same_v<simd::widened_pack<simd::arch>, simd::pack<double, simd::arch>>;
    CHECK(half == (instruction_set::is_zen4 && simd::pack<double, simd::arch>::width == 8));
    CHECK(detail::fetches_pages == instruction_set::is_zen4);
}

// Where vectors are wider than the partial sums, the sums would need another order.
static_assert(detail::partial_sums % simd::pack<double, simd::arch>::width == 0);

TEST_CASE_TEMPLATE("a pack does to each number what the operation does to one", T, float, double) {
    using pack = simd::pack<T, simd::arch>;
    constexpr std::size_t n = pack::width;
    std::array<T, n + 1> a{}, b{}, out{};
    for (std::size_t j = 0; j < n; ++j) {
        a[j + 1] = static_cast<T>(j % 2 ? -1.5 - double(j) : 1.5 + double(j));
        b[j + 1] = static_cast<T>(double(j) - 2);
    }
    auto const x = pack::load(a.data() + 1), y = pack::load(b.data() + 1);  // not aligned
    auto const each = [&](pack result, auto expected) {
        result.store(out.data() + 1);
        for (std::size_t j = 1; j <= n; ++j) CHECK(out[j] == expected(a[j], b[j]));
    };
    each(x + y, [](T u, T v) { return u + v; });
    each(x - y, [](T u, T v) { return u - v; });
    each(x * y, [](T u, T v) { return u * v; });
    each(settled(x * y), [](T u, T v) { return u * v; });
    each(magnitude(x), [](T u, T) { return u < 0 ? -u : u; });
    each(larger(x, y), [](T u, T v) { return u > v ? u : v; });
    each(smaller(x, y), [](T u, T v) { return u < v ? u : v; });
    each(multiply_add(x, y, x), [](T u, T v) { return u * v + u; });
    each(pack::all(T(7)), [](T, T) { return T(7); });
}

TEST_CASE_TEMPLATE("one number out of line is enough", T, float, double) {
    using pack = simd::pack<T, simd::arch>;
    for (std::size_t j = 0; j < pack::width; ++j) {
        std::array<T, pack::width> a{};
        auto const zeros = pack::all(T(0));
        CHECK(all_at_most(pack::load(a.data()), zeros));
        a[j] = 1;
        CHECK_FALSE(all_at_most(pack::load(a.data()), zeros));
        a[j] = std::numeric_limits<T>::quiet_NaN();  // neither at most nor above
        CHECK_FALSE(all_at_most(pack::load(a.data()), zeros));
    }
}

TEST_CASE_TEMPLATE("which numbers are below, bit by bit", T, float, double) {
    using pack = simd::pack<T, simd::arch>;
    T const nan = std::numeric_limits<T>::quiet_NaN();
    T const all[] = {T(-0.0), -std::numeric_limits<T>::denorm_min(), nan, -nan, 1, -std::numeric_limits<T>::infinity()};
    std::array<T, pack::width> a{};
    for (std::size_t from = 0; from < 6; ++from) {
        std::uint64_t wanted = 0;
        for (std::size_t j = 0; j < pack::width; ++j) {
            a[j] = all[(from + j) % 6];
            wanted |= std::uint64_t{a[j] < 0} << j;
        }
        CHECK(which_below(pack::load(a.data()), pack::all(T(0))) == wanted);
    }
}

TEST_CASE("floats as doubles") {
    using pack = simd::pack<double, simd::arch>;
    std::array<float, pack::width + 1> a{};
    for (std::size_t j = 0; j <= pack::width; ++j) a[j] = 0.1f * static_cast<float>(j) - 0.3f;
    std::array<double, pack::width> wide{};
    pack::widened(a.data() + 1).store(wide.data());  // not aligned
    for (std::size_t j = 0; j < pack::width; ++j) CHECK(wide[j] == static_cast<double>(a[j + 1]));
}

TEST_CASE_TEMPLATE("which numbers are at most others, as bits", T, float, double) {
    using pack = simd::pack<T, simd::arch>;
    std::array<T, pack::width> a{}, b{};
    for (std::size_t t = 0; t < 256; ++t) {
        std::uint64_t expected = 0;
        for (std::size_t j = 0; j < pack::width; ++j) {
            a[j] = (t >> j & 1) != 0 ? T(2) : j % 3 == 0 ? T(-1) : T(1);
            if (t % 5 == 4 && j % 4 == t % 4) a[j] = std::numeric_limits<T>::quiet_NaN();
            b[j] = j % 2 == 0 ? T(1) : std::numeric_limits<T>::infinity();
            expected |= std::uint64_t{a[j] <= b[j]} << j;
        }
        CHECK(which_at_most(pack::load(a.data()), pack::load(b.data())) == expected);
    }
}
