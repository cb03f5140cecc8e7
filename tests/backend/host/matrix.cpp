// SPDX-License-Identifier: Apache-2.0
// Products, draws and orthonormal columns are right by hand and by Eigen, up to rounding, dependent columns included.
#include "laconic/backend/host/matrix.hpp"

#include <Eigen/Dense>

#include "support/everything.hpp"
#include "support/laws/messages.hpp"

using namespace laconic::kernels;

template <class T>
std::vector<T> times(std::vector<T> const& x, std::vector<T> const& by, std::size_t columns, std::size_t length,
                     matrix_is how = matrix_is::as_it_stands) {
    host on;
    std::vector<T> out(length * columns, T(-7));
    multiply_matrix(on, std::span<T const>(x), how, std::span<T const>(by), columns, std::span<T>(out));
    return out;
}
template <class T>
std::vector<T> transposed_times(std::vector<T> const& x, std::vector<T> const& by, std::size_t columns,
                                std::size_t length) {
    return times(x, by, columns, length, matrix_is::transposed);
}
// Columns made orthonormal: as the rows of a matrix that is transposed, times the identity.
template <class T>
std::vector<T> orthonormal(std::vector<T> const& y, std::size_t columns) {
    host on;
    std::vector<T> out(y.size(), T(-7)), identity(columns * columns, T(0));
    for (std::size_t c = 0; c < columns; ++c) identity[c * (columns + 1)] = 1;
    multiply_to_orthonormal(on, std::span<T const>(y), matrix_is::transposed, std::span<T const>(identity), columns,
                            std::span<T>(out));
    return out;
}
template <class T>
Eigen::MatrixXd columns_of(std::vector<T> const& y, std::size_t columns) {
    return Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> const>(
               y.data(), Eigen::Index(y.size() / columns), Eigen::Index(columns))
        .template cast<double>();
}
template <class T>
double const eps = static_cast<double>(std::numeric_limits<T>::epsilon());

// Two rows (1, 2, 3) and (4, 5, 6), times the columns (1, 0, -1) and (1, 10, 100).
TEST_CASE_TEMPLATE("products by hand", T, float, double) {
    std::vector<T> const x{1, 2, 3, 4, 5, 6};
    CHECK(times<T>(x, {1, 0, -1, 1, 10, 100}, 2, 2) == std::vector<T>{-2, -2, 321, 654});
    CHECK(transposed_times<T>(x, {1, -1, 10, 1}, 2, 3) == std::vector<T>{-3, -3, -3, 14, 25, 36});
    CHECK(times<T>({}, {}, 1, 3) == std::vector<T>(3, 0));  // three rows of nothing
    CHECK(transposed_times<T>({}, {}, 1, 3) == std::vector<T>(3, 0));
    CHECK(times<T>({}, {1, 2}, 2, 0).empty());
}

TEST_CASE_TEMPLATE("products of every shape up to 40 are Eigen's, up to rounding", T, float, double) {
    for (Eigen::Index rows : {1, 2, 15, 16, 17, 40})
        for (Eigen::Index width : {1, 3, 16, 33}) {
            auto const x = laws::noise<T>(std::size_t(rows * width), 1);
            Eigen::MatrixXd const matrix = columns_of(x, std::size_t(rows)).transpose();
            auto const by = laws::noise<T>(std::size_t(width * 3), 2), back = laws::noise<T>(std::size_t(rows * 3), 3);
            CHECK((columns_of(times(x, by, 3, std::size_t(rows)), 3) - matrix * columns_of(by, 3)).norm() <
                  eps<T> * 100);
            CHECK((columns_of(transposed_times(x, back, 3, std::size_t(width)), 3) -
                   matrix.transpose() * columns_of(back, 3))
                      .norm() < eps<T> * 100);
        }
}

// 2^60 + 1 - 2^60 is 1 only where the large ones meet first: as they do in partial sum 0.
TEST_CASE("the order of sums is that of reduce.hpp") {
    std::vector<double> x(33, 0.0), ones(33, 1.0);
    x[0] = 0x1p60;
    x[16] = -0x1p60;
    x[17] = 1;
    CHECK(times<double>(x, ones, 1, 1) == std::vector<double>{1});
    CHECK(transposed_times<double>(x, ones, 1, 1) == std::vector<double>{1});
    x[16] = 0;
    x[8] = -0x1p60;  // meets x_0 last: what is added in between is lost
    x[17] = 0;
    x[32] = 1;
    CHECK(times<double>(x, ones, 1, 1) == std::vector<double>{0});
    CHECK(transposed_times<double>(x, ones, 1, 1) == std::vector<double>{0});
}

TEST_CASE_TEMPLATE("drawn numbers are odd multiples of the grid, all different, and symmetric", T, float, double) {
    host on;
    std::vector<T> q(20000), part(100);
    draw_symmetric(on, key{5}, 0, std::span<T>(q));
    draw_symmetric(on, key{5}, 300, std::span<T>(part));
    CHECK(std::equal(part.begin(), part.end(), q.begin() + 300));
    double sum = 0, squares = 0, cubes = 0;
    for (T const v : q) {
        double const in_grid = std::ldexp(static_cast<double>(v), sizeof(T) == 4 ? 24 : 53);
        REQUIRE(std::abs(static_cast<double>(v)) < 1);
        REQUIRE(std::fmod(std::abs(in_grid), 2) == 1);
        sum += v;
        squares += v * v;
        cubes += v * v * v;
    }
    double const n = 20000;
    CHECK(std::abs(sum) < 5 * std::sqrt(n / 3));
    CHECK(std::abs(squares - n / 3) < 5 * std::sqrt(n * (1.0 / 5 - 1.0 / 9)));
    CHECK(std::abs(cubes) < 5 * std::sqrt(n / 7));
    CHECK(sum != 0);
}

// (3, 4) has length 5; of (1, 0) the part (0.6, 0.8) 0.6 is taken away, and (0.64, -0.48) is left.
TEST_CASE_TEMPLATE("orthonormal by hand", T, float, double) {
    auto const y = orthonormal<T>({3, 4, 1, 0}, 2);
    std::vector<double> const expected{0.6, 0.8, 0.8, -0.6};
    for (std::size_t i = 0; i < 4; ++i) CHECK(y[i] == doctest::Approx(expected[i]).epsilon(4 * eps<T>));
    CHECK(orthonormal<T>({-2}, 1) == std::vector<T>{-1});
    CHECK(orthonormal<T>({}, 3).empty());
}

TEST_CASE_TEMPLATE("columns that depend on those before them become 0", T, float, double) {
    auto const y = orthonormal<T>({0, 0, 0, 1, 2, 2, 2, 4, 4, 1, 0, 0, 7, -3, -3}, 5);
    auto const p = columns_of(y, 5);
    for (Eigen::Index c : {0, 2, 4}) CHECK(p.col(c).norm() == 0);
    Eigen::MatrixXd kept(3, 2);
    kept << p.col(1), p.col(3);
    CHECK((kept.transpose() * kept - Eigen::MatrixXd::Identity(2, 2)).norm() < 4 * eps<T>);
    // More columns than coordinates.
    CHECK(orthonormal<T>({2, 3, -4}, 3) == std::vector<T>{1, 0, 0});
}

// X has two columns, and a third one is a combination of theirs, except for the rounding of its numbers.
TEST_CASE_TEMPLATE("what rounding leaves of a column is no direction", T, float, double) {
    host on;
    auto const x = laws::noise<T>(100, 3);
    std::vector<T> const by{1, 0, 0, 1, T(1) / 3, T(0.7)};
    std::vector<T> out(150);
    multiply_to_orthonormal(on, std::span<T const>(x), matrix_is::as_it_stands, std::span<T const>(by), 3,
                            std::span<T>(out));
    CHECK(columns_of(out, 3).col(1).norm() == doctest::Approx(1));
    CHECK(columns_of(out, 3).col(2).norm() == 0);
}

TEST_CASE_TEMPLATE("nearly parallel columns become orthogonal to the last bits, and span what they did", T, float,
                   double) {
    std::size_t const n = 50, columns = 6;
    auto const base = laws::noise<T>(n, 1);
    std::vector<T> y;
    for (std::size_t c = 0; c < columns; ++c) {
        auto const away = laws::noise<T>(n, 2 + c);
        for (std::size_t i = 0; i < n; ++i) y.push_back(base[i] + std::ldexp(away[i], sizeof(T) == 4 ? -18 : -24));
    }
    Eigen::MatrixXd const before = columns_of(y, columns), p = columns_of(orthonormal(y, columns), columns);
    CHECK((p.transpose() * p - Eigen::MatrixXd::Identity(6, 6)).norm() < 20 * eps<T>);
    CHECK((before - p * (p.transpose() * before)).norm() < 20 * eps<T> * before.norm());
}

TEST_CASE_TEMPLATE("lengths whose squares are out of range", T, float, double) {
    using limits = std::numeric_limits<T>;
    for (T const size : {limits::denorm_min(), limits::min(), limits::max() / 4}) {
        CAPTURE(size);
        auto const y = orthonormal<T>({3 * size, 0, size, 2 * size}, 2);
        CHECK(y == std::vector<T>{1, 0, 0, 1});
    }
    auto const y = orthonormal<T>({limits::max(), limits::max(), limits::max(), -limits::max()}, 2);
    CHECK(y[0] == doctest::Approx(std::sqrt(0.5)));
    CHECK(y[2] == doctest::Approx(std::sqrt(0.5)));
    CHECK(y[3] == doctest::Approx(-std::sqrt(0.5)));
}

TEST_CASE_TEMPLATE("orthonormal columns of a product: those of the product, either way", T, float, double) {
    auto const x = laws::noise<T>(15 * 40, 1);
    for (auto const how : {matrix_is::as_it_stands, matrix_is::transposed}) {
        std::size_t const length = how == matrix_is::transposed ? 40 : 15;
        auto const by = laws::noise<T>(600 / length * 4, 2);
        host on;
        std::vector<T> out(length * 4);
        multiply_to_orthonormal(on, std::span<T const>(x), how, std::span<T const>(by), 4, std::span<T>(out));
        auto const expected = columns_of(orthonormal(times(x, by, 4, length, how), 4), 4);
        CHECK((columns_of(out, 4) - expected).norm() < 100 * eps<T>);
        CHECK((expected.transpose() * expected - Eigen::MatrixXd::Identity(4, 4)).norm() < 10 * eps<T>);
    }
}
