// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of the host is its definition, to the bit; codes of a range are unbiased or nearest, and end at the
// last.
#include "laconic/backend/host/buckets.hpp"

#include "support/by_key.hpp"
#include "support/everything.hpp"
#include "support/laws/compressor.hpp"
#include "support/laws/kernels.hpp"

using laconic::host;
using namespace laconic::kernels;

TEST_CASE_TEMPLATE("updates are the definition's", T, float, double) { kernel_laws::updates<host, T>(); }
TEST_CASE_TEMPLATE("reductions are the definition's", T, float, double) { kernel_laws::reductions<host, T>(); }
TEST_CASE_TEMPLATE("selections are the definition's", T, float, double) { kernel_laws::selections<host, T>(); }
TEST_CASE_TEMPLATE("nearly equal blocks are the definition's", T, float, double) {
    kernel_laws::nearly_equal_blocks<host, T>();
}
TEST_CASE_TEMPLATE("short codes are the definition's", T, float, double) { kernel_laws::short_codes<host, T>(); }
TEST_CASE_TEMPLATE("buckets are the definition's", T, float, double) { kernel_laws::buckets<host, T>(); }
TEST_CASE_TEMPLATE("matrices are the definition's", T, float, double) { kernel_laws::matrices<host, T>(); }
TEST_CASE_TEMPLATE("lists are the definition's", T, float, double) { kernel_laws::lists<host, T>(); }
TEST_CASE("samples are the definition's") { kernel_laws::samples<host>(laconic::detail::worth_a_bitmap); }

using eights = std::vector<std::uint8_t>;

template <class B, class T>
eights random_codes(std::vector<T> const& x, T least, T step, int most, key from, std::uint64_t first = 0) {
    B on;
    eights codes(x.size());
    round_to_range(on, std::span<T const>(x), least, step, most, from, first, std::span(codes));
    return codes;
}
template <class B, class T>
eights nearest_codes(std::vector<T> const& x, T least, T step, int most) {
    B on;
    eights codes(x.size());
    round_to_nearest_in_range(on, std::span<T const>(x), least, step, most, std::span(codes));
    return codes;
}

// The grid is -1, -0.5, 0, 0.5.
TEST_CASE_TEMPLATE("what is on the grid stays", T, float, double) {
    std::vector<T> const x{T(0.5), T(-0.5), 0, T(-0.0), -1};
    for (std::uint64_t k = 0; k < 50; ++k)
        CHECK(random_codes<host, T>(x, -1, T(0.5), 3, key{k}) == eights{3, 1, 2, 2, 0});
    CHECK(nearest_codes<host, T>(x, -1, T(0.5), 3) == eights{3, 1, 2, 2, 0});
}

TEST_CASE_TEMPLATE("between: up as often as it is far, or to the nearest, from the middle up", T, float, double) {
    int const n = 20000;
    for (double const cut : {0.5, 0.125, 0.9375}) {
        std::vector<T> const x(n, static_cast<T>(-3 + 2 * (1 + cut)));
        int up = 0;
        for (int const c : random_codes<host, T>(x, -3, 2, 7, key{9})) {
            REQUIRE((c == 1 || c == 2));
            up += c == 2;
        }
        CHECK(std::abs(up - cut * n) < 5 * std::sqrt(cut * (1 - cut) * n));
        CHECK(nearest_codes<host, T>({x[0]}, -3, 2, 7) == eights{std::uint8_t(cut < 0.5 ? 1 : 2)});
    }
    CHECK(nearest_codes<host, T>({std::nextafter(T(0.5), T(0)), T(0.5)}, 0, 1, 3) == eights{0, 1});
}

TEST_CASE_TEMPLATE("the largest is the last code though the step was rounded", T, float, double) {
    for (int most : {1, 3, 7, 15, 31, 63, 127, 255})
        for (std::uint64_t k = 0; k < 500; ++k) {
            T const least = static_cast<T>(key{k}.uniform(0)),
                    largest = least + static_cast<T>(key{k}.uniform(1)) + T(0.1);
            T const step = closing_step(largest - least, most);
            auto const last = static_cast<std::uint8_t>(most);
            CHECK(random_codes<host, T>({least, largest}, least, step, most, key{k}) == eights{0, last});
            CHECK(nearest_codes<host, T>({largest, least}, least, step, most) == eights{last, 0});
        }
}

TEST_CASE_TEMPLATE("what rounding leaves above the range gets the last code, whatever is drawn", T, float, double) {
    std::vector<T> const x(std::size_t{1} << 18, 1 + 4 * std::numeric_limits<T>::epsilon());
    for (int const most : {1, 7, 255})
        CHECK(random_codes<host, T>(x, 0, 1 / static_cast<T>(most), most, key{8}) ==
              eights(x.size(), static_cast<std::uint8_t>(most)));
}

TEST_CASE_TEMPLATE("a step of 0 makes all codes 0", T, float, double) {
    std::vector<T> const x(5, T(3.5));
    CHECK(random_codes<host, T>(x, T(3.5), 0, 255, key{1}) == eights(5, 0));
    CHECK(nearest_codes<host, T>(x, T(3.5), 0, 255) == eights(5, 0));
    CHECK(random_codes<reference, T>(x, T(3.5), 0, 255, key{1}) == eights(5, 0));
    CHECK(nearest_codes<reference, T>(x, T(3.5), 0, 255) == eights(5, 0));
}

TEST_CASE_TEMPLATE("in pieces or at once: the same codes, and those of the definition", T, float, double) {
    auto const x = laws::noise<T>(100, 4, 3);
    host on;
    auto const [least, largest] = least_and_largest(on, std::span<T const>(x));
    for (int const most : {1, 7, 255}) {
        T const step = closing_step(largest - least, most);
        auto const whole = random_codes<host, T>(x, least, step, most, key{6}, 1000);
        CHECK(whole == random_codes<reference, T>(x, least, step, most, key{6}, 1000));
        CHECK(nearest_codes<host, T>(x, least, step, most) == nearest_codes<reference, T>(x, least, step, most));
        for (std::ptrdiff_t cut : {1, 3, 4, 50, 99}) {
            std::vector<T> const a(x.begin(), x.begin() + cut), b(x.begin() + cut, x.end());
            auto codes = random_codes<host, T>(a, least, step, most, key{6}, 1000);
            for (auto c : random_codes<host, T>(b, least, step, most, key{6}, 1000 + static_cast<std::uint64_t>(cut)))
                codes.push_back(c);
            CHECK(codes == whole);
        }
        CHECK(random_codes<host, T>(x, least, step, most, key{7}, 1000) != whole);
    }
}
