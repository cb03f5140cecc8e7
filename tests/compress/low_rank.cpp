// SPDX-License-Identifier: Apache-2.0
// low_rank sends the projection on a drawn subspace, with its theorem's delta, and refuses what is no matrix.
#include "laconic/compress/low_rank.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"
#include "support/solvers.hpp"

using vec = std::vector<double>;

static_assert(Compressor<low_rank<>> && Compressor<low_rank<>, float>);
static_assert(Contractive<low_rank<>> && !Unbiased<low_rank<>>);
static_assert(Compressor<low_rank<std::span<double const>>> && !Contractive<low_rank<std::span<double const>>>);

template <class T>
inline constexpr bool laws::is_written<low_rank<std::span<T const>>> = false;

namespace {

using rows_first = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using warm = low_rank<std::span<double const>>;

template <class T>
Eigen::MatrixXd matrix(std::vector<T> const& x, std::size_t rows) {
    vec const v(x.begin(), x.end());
    return Eigen::Map<rows_first const>(v.data(), Eigen::Index(rows), Eigen::Index(v.size() / rows));
}
template <class T = double>
std::vector<T> numbers(Eigen::MatrixXd const& m) {
    rows_first const r = m;
    return {r.data(), r.data() + r.size()};
}
template <class T, class A>
Eigen::MatrixXd columns(A const& y, std::size_t n) {
    return Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> const>(y.data(), Eigen::Index(n),
                                                                              Eigen::Index(y.size() / n))
        .template cast<double>();
}
using laws::error_of;
using laws::sent_by;

// U diag(s) V' with orthonormal U and V.
Eigen::MatrixXd with_spectrum(Eigen::Index rows, Eigen::Index cols, std::vector<double> const& s, std::uint64_t seed) {
    auto const orthonormal = [&](Eigen::Index n, std::uint64_t k) {
        Eigen::MatrixXd const a = matrix(laws::noise<double>(std::size_t(n * n), k), std::size_t(n));
        return solvers::orthogonal(a);
    };
    auto const n = Eigen::Index(s.size());
    return orthonormal(rows, seed).leftCols(n) * Eigen::Map<Eigen::VectorXd const>(s.data(), n).asDiagonal() *
           orthonormal(cols, seed + 1).leftCols(n).transpose();
}
template <class T>
double const eps = static_cast<double>(std::numeric_limits<T>::epsilon());

// Of many shapes, each with how many rows.
template <class T>
std::vector<std::pair<std::size_t, std::vector<T>>> matrices() {
    std::vector<std::pair<std::size_t, std::vector<T>>> all;
    for (auto const& [rows, cols] : std::vector<std::pair<std::size_t, std::size_t>>{
             {1, 1}, {1, 5}, {5, 1}, {2, 2}, {3, 4}, {4, 3}, {8, 8}, {2, 40}, {33, 2}, {17, 16}}) {
        all.emplace_back(rows, laws::noise<T>(rows * cols, 3 + rows));
        all.emplace_back(rows, laws::noise<T>(rows * cols, 4 + cols, 9));
        all.emplace_back(rows, std::vector<T>(rows * cols, T(-2.5)));
        all.emplace_back(rows, std::vector<T>(rows * cols, T(0)));
        all.emplace_back(rows, std::vector<T>(rows * cols, std::numeric_limits<T>::denorm_min()));
        all.emplace_back(rows, std::vector<T>(rows * cols, std::numeric_limits<T>::max() / 256));
        std::vector<T> one(rows * cols, T(0));
        one[rows * cols / 2] = 3;
        all.emplace_back(rows, one);
    }
    all.emplace_back(4, std::vector<T>{});
    return all;
}

}  // namespace

TEST_CASE_TEMPLATE("low_rank keeps the laws, on matrices of every shape", T, float, double) {
    for (auto const& [rows, x] : matrices<T>())
        for (std::size_t const rank : {1u, 2u, 100u})
            laws::obeys_the_laws(low_rank{rows, rank}, x, laws::noise<T>(x.size(), 77), key{rows + 10 * rank});
}

TEST_CASE_TEMPLATE("host and definition write the same bytes", T, float, double) {
    for (auto const& each : matrices<T>())
        for (std::size_t const rank : {1u, 2u, 3u, 100u}) {
            auto const rows = each.first;  // clang 14 captures no names of parts
            auto const& x = each.second;
            CAPTURE(rows);
            CAPTURE(x.size());
            auto const a = laws::compress(low_rank{rows, rank}, x, key{5});
            CHECK(laws::written(a).size() == sizeof(T) * a.rank * (a.rows + a.cols()));
            // Started from those factors, once more.
            laws::compress(low_rank<std::span<T const>>{rows, rank, {a.shorter().data(), a.shorter().size()}}, x,
                           key{6});
        }
}

TEST_CASE_TEMPLATE("small changes of its bytes are refused or are a message", T, float, double) {
    std::size_t passed = 0;
    for (auto const& [rows, rank, d] :
         std::vector<std::array<std::size_t, 3>>{{1, 1, 5}, {2, 1, 6}, {3, 2, 12}, {2, 2, 4}, {4, 1, 0}})
        passed += laws::survives_small_changes(low_rank{rows, rank}, laws::noise<T>(d, d + 1), key{d});
    passed += laws::survives_small_changes(threshold{0.25} | low_rank{1, 1}, laws::noise<T>(7, 2), key{3});
    // Here blank() may get a number of numbers that is no matrix.
    std::vector<T> half(12, T(0));
    for (std::size_t i : {1u, 2u, 5u, 8u}) half[i] = T(1) / static_cast<T>(i);
    passed += laws::survives_small_changes(threshold{0.0} | low_rank{2, 1}, half, key{3});
    CHECK(passed > 500);
}

// Rank 1 of (3, 4)' (1, 2, 2): the left column is +-(3, 4) times something, as the matrix is wider than tall.
TEST_CASE_TEMPLATE("by hand: a matrix of rank one is exact, whatever is drawn", T, float, double) {
    std::vector<T> const x{3, 6, 6, 4, 8, 8};
    for (std::uint64_t k = 0; k < 20; ++k) {
        auto const m = laws::compress(low_rank{2, 1}, x, key{k});
        T const sign = m.right[0] > 0 ? T(1) : T(-1);
        for (std::size_t j = 0; j < 3; ++j)
            CHECK(sign * m.right[j] == doctest::Approx(j == 0 ? 1.0 / 3 : 2.0 / 3).epsilon(4 * eps<T>));
        CHECK(sign * m.left[0] == doctest::Approx(9).epsilon(4 * eps<T>));
        CHECK(sign * m.left[1] == doctest::Approx(12).epsilon(4 * eps<T>));
        auto const y = laws::decoded<detail::message_of<low_rank<>, T>, T>(m);
        for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == doctest::Approx(x[i]).epsilon(8 * eps<T>));
    }
    CHECK(sent_by(low_rank{3, 2}, std::vector<T>(6, T(0))) == std::vector<T>(6, T(0)));
    CHECK(bits(laws::compress(low_rank{2, 1}, x, key{1})) == 8 * sizeof(T) * 5);
}

TEST_CASE_TEMPLATE("it is the projection on the span of X Q, of the longer side's columns", T, float, double) {
    for (auto const& [rows, cols] : std::vector<std::pair<std::size_t, std::size_t>>{{9, 6}, {6, 9}, {7, 7}}) {
        auto const x = laws::noise<T>(rows * cols, rows);
        std::size_t const n = std::min(rows, cols);
        auto const m = laws::compress(low_rank{rows, 3}, x, key{4});
        host on;
        std::vector<T> q(3 * n);
        draw_symmetric(on, key{4}, 0, std::span<T>(q));
        bool const tall = rows >= cols;
        CHECK(m.tall() == tall);
        Eigen::MatrixXd const a = tall ? matrix(x, rows) : matrix(x, rows).transpose();
        Eigen::MatrixXd const span = a * columns<T>(q, n);
        Eigen::MatrixXd const basis = solvers::orthogonal(span).leftCols(3);
        Eigen::MatrixXd const expected = basis * (basis.transpose() * a);
        Eigen::MatrixXd const sent = matrix(laws::decoded<detail::message_of<low_rank<>, T>, T>(m), rows);
        CHECK(((tall ? sent : sent.transpose()) - expected).norm() < 200 * eps<T> * a.norm());
        Eigen::MatrixXd const p = columns<T>(tall ? m.left : m.right, std::max(rows, cols));
        CHECK((p.transpose() * p - Eigen::MatrixXd::Identity(3, 3)).norm() < 10 * eps<T>);
    }
}

TEST_CASE_TEMPLATE("a matrix of at most that rank is exact up to rounding, so is any where rank is min(rows, cols)", T,
                   float, double) {
    for (auto const& [rows, cols] : std::vector<std::pair<Eigen::Index, Eigen::Index>>{{12, 7}, {7, 12}, {9, 9}}) {
        auto const low = numbers<T>(with_spectrum(rows, cols, {5, 2, 1}, 8));
        auto const any = laws::noise<T>(std::size_t(rows * cols), 2);
        auto const r = std::size_t(rows);
        for (std::uint64_t k = 0; k < 50; ++k) {
            CHECK(std::sqrt(error_of(low_rank{r, 3}, low, key{k})) < 1e3 * eps<T> * std::sqrt(laws::energy(low)));
            CHECK(std::sqrt(error_of(low_rank{r, 5}, low, key{k})) < 1e3 * eps<T> * std::sqrt(laws::energy(low)));
            CHECK(std::sqrt(error_of(low_rank{r, 9}, any, key{k})) < 1e3 * eps<T> * std::sqrt(laws::energy(any)));
        }
        CHECK(error_of(low_rank{r, 2}, low, key{1}) > 0.01);
    }
}

TEST_CASE("delta = rank / min(rows, cols)") {
    CHECK(low_rank{4, 1}.delta(12) == doctest::Approx(1.0 / 3));
    CHECK(low_rank{3, 1}.delta(12) == doctest::Approx(1.0 / 3));
    CHECK(low_rank{2, 1}.delta(1000) == 0.5);
    CHECK(low_rank{500, 1}.delta(1000) == 0.5);
    CHECK(low_rank{10, 3}.delta(100) == doctest::Approx(0.3));
    CHECK(low_rank{10, 30}.delta(100) == 1);
    CHECK(low_rank{1, 1}.delta(7) == 1);
    CHECK(low_rank{10, 3}.delta(0) == 1);
    CHECK((top_k{50} | low_rank{5, 1}).delta(100) == doctest::Approx(0.5 / 5));
    CHECK_THROWS_AS(static_cast<void>(low_rank{10, 3}.delta(101)), argument_error);
}

// Kinds of matrices: random, with a spectrum, of two columns alone, of one heavy column, orthogonal.
TEST_CASE_TEMPLATE("the error is at most 1 - delta on average", T, float, double) {
    std::vector<Eigen::MatrixXd> all{with_spectrum(6, 6, {32, 16, 8, 4, 2, 1}, 1),
                                     with_spectrum(4, 9, {1, 1, 1, .5}, 3), Eigen::MatrixXd::Identity(5, 5),
                                     Eigen::MatrixXd::Ones(4, 4)};
    for (auto const& [rows, cols] :
         std::vector<std::pair<Eigen::Index, Eigen::Index>>{{2, 2}, {3, 8}, {8, 3}, {7, 7}}) {
        all.push_back(matrix(laws::noise<double>(std::size_t(rows * cols), 9), std::size_t(rows)));
        Eigen::MatrixXd two = Eigen::MatrixXd::Zero(rows, cols);
        two(0, 0) = 1;
        two(rows - 1, cols - 1) = -3;
        all.push_back(two);
        Eigen::MatrixXd heavy = Eigen::MatrixXd::Ones(rows, cols);
        heavy.col(cols / 2) *= 100;
        all.push_back(heavy);
    }
    std::uint64_t seed = 1;
    for (auto const& a : all)
        for (std::size_t const rank : {1u, 2u, 3u}) {
            auto const x = numbers<T>(a);
            low_rank const c{std::size_t(a.rows()), rank};
            CAPTURE(to_string(c));
            CAPTURE(x.size());
            auto const m = laws::moments_of(c, x, 1000, key{seed++});
            CHECK(m.error <=
                  (1 - c.delta(x.size()) + laws::rounding<T>)*laws::energy(x) + 5 * std::sqrt(m.error_variance / 1000));
        }
}

TEST_CASE_TEMPLATE("and is that for every draw where the matrix is orthogonal, of either orientation", T, float,
                   double) {
    for (auto const& [rows, cols] :
         std::vector<std::pair<Eigen::Index, Eigen::Index>>{{1, 1}, {2, 2}, {8, 8}, {9, 5}, {5, 9}})
        for (std::size_t rank = 1; rank <= 6; ++rank) {
            auto const n = static_cast<double>(std::min(rows, cols));
            auto const x = numbers<T>(with_spectrum(rows, cols, vec(std::size_t(n), 2.0), 6));
            low_rank const c{std::size_t(rows), rank};
            for (std::uint64_t k = 0; k < 40; ++k)
                CHECK(error_of(c, x, key{k}) == doctest::Approx((1 - c.delta(x.size())) * 4 * n).epsilon(100 * eps<T>));
        }
}

// About the identity, the message is the projection on the span of Q itself: its mean is (rank / n) I.
TEST_CASE("the mean projection is a multiple of the identity") {
    for (std::size_t const n : {2u, 3u, 6u})
        for (std::size_t rank = 1; rank < n; ++rank) {
            vec x(n * n, 0.0);
            for (std::size_t i = 0; i < n; ++i) x[i * (n + 1)] = 1;
            int const draws = 4000;
            auto const m = laws::moments_of(low_rank{n, rank}, x, draws, key{n + 10 * rank});
            double const share = static_cast<double>(rank) / static_cast<double>(n);
            double trace = 0;
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j) {
                    double const off = m.mean[i * n + j] - (i == j ? share : 0);
                    CHECK(std::abs(off) <= 5 * std::sqrt(m.variance[i * n + j] / draws));
                    trace += i == j ? m.mean[i * n + j] : 0;
                }
            CHECK(trace == doctest::Approx(static_cast<double>(rank)).epsilon(1e-12));
        }
}

TEST_CASE_TEMPLATE("sizes at the ends of the range", T, float, double) {
    using limits = std::numeric_limits<T>;
    auto const shape = with_spectrum(20, 6, {4, 2, 1, .5}, 5);
    auto const near = [&](T size) {
        auto x = numbers<T>(shape);
        for (T& v : x) v *= size;
        auto const y = sent_by(low_rank{20, 4}, x, 3);
        for (std::size_t i = 0; i < x.size(); ++i)
            REQUIRE(std::abs(static_cast<double>(x[i]) / static_cast<double>(size) -
                             static_cast<double>(y[i]) / static_cast<double>(size)) < 500 * eps<T>);
    };
    for (T const size : {T(1), limits::max() / 100, limits::min() / limits::epsilon(), std::sqrt(limits::max()),
                         std::sqrt(limits::min())})
        near(size);
    // Among subnormal numbers each product rounds.
    std::vector<T> tiny(12, 8 * limits::denorm_min());
    for (T const v : sent_by(low_rank{4, 1}, tiny, 3)) CHECK(std::abs(v - tiny[0]) <= 4 * limits::denorm_min());
    CHECK_THROWS_WITH_AS(sent_by(low_rank{2, 1}, std::vector<T>(4, limits::max())),
                         doctest::Contains("may not be finite"), argument_error);
}

TEST_CASE("what is no matrix is refused, by check, by the compressor and by the receiver") {
    CHECK_THROWS_WITH_AS((low_rank{3, 1}.check(10)), "low_rank: d = 10 numbers are no matrix of 3 rows",
                         argument_error);
    CHECK_THROWS_AS((low_rank{0, 1}.check(10)), argument_error);
    CHECK_THROWS_AS((low_rank{0, 1}.check(0)), argument_error);
    CHECK_THROWS_AS((low_rank{1, 0}.check(10)), argument_error);
    CHECK_THROWS_AS((top_k{4} | low_rank{3, 1}).check(10), argument_error);
    CHECK_NOTHROW((top_k{6} | low_rank{3, 1}).check(10));
    host on;
    for (low_rank const c : {low_rank{3, 1}, low_rank{0, 1}, low_rank{1, 0}, low_rank{20, 1}}) {
        detail::message_of<low_rank<>> m;
        vec const x(10, 1.0);
        CHECK_THROWS_AS(c(on, std::span<double const>(x), key{1}, m), argument_error);
        if (c.rank == 0) continue;
        c.blank(on, 10, key{1}, m);
        wire::bit_reader nothing({});
        CHECK_THROWS_AS(read(on, nothing, m, c), wire_error);
    }
    // How many numbers there are is known only when the vector is: 3 of 4.
    auto const c = zero_blocks{1} | low_rank{2, 1};
    CHECK_THROWS_AS(sent_by(c, vec{1, 2, 3, 0}), argument_error);
    CHECK_THROWS_AS(static_cast<void>(c.delta(4)), argument_error);
    auto const sent = sent_by(c, vec{1, 2, 0, 0});
    CHECK(std::abs(sent[0] - 1) + std::abs(sent[1] - 2) < 1e-14);
}

TEST_CASE("a start of one's own") {
    auto const a = with_spectrum(8, 5, {9, 5, 1, .5, .25}, 4);
    vec const x = numbers(a);
    solvers::singular const svd(a);
    // From the right singular vectors: the best approximation at once. From some that are orthogonal to it: the rest.
    auto const v = svd.v;
    vec const best(v.data(), v.data() + 10), rest(v.data() + 10, v.data() + 20), none, zeros(10, 0.0);
    CHECK(error_of(warm{8, 2, best}, x, key{1}) == doctest::Approx(1 + .25 + .0625).epsilon(1e-12));
    CHECK(error_of(warm{8, 2, rest}, x, key{1}) == doctest::Approx(81 + 25 + .0625).epsilon(1e-12));
    // To the transposed matrix, the left ones.
    auto const u = svd.u;
    vec const left(u.data(), u.data() + 16), transposed = numbers(Eigen::MatrixXd(a.transpose()));
    vec const wide_best(v.data(), v.data() + 10);
    CHECK(error_of(warm{5, 2, wide_best}, transposed, key{1}) == doctest::Approx(1.3125).epsilon(1e-12));
    CHECK_THROWS_AS((warm{5, 2, left}.check(40)), shape_error);
    // Orthogonal to all there is: it says nothing, so there is no delta.
    vec const one_column{1, 0, 2, 0}, other{0, 1};
    CHECK(sent_by(warm{2, 1, other}, one_column) == vec(4, 0.0));
    // Nothing to start from, and columns of zeros or worse, are drawn as if there were no start.
    auto const cold = sent_by(low_rank{8, 2}, x, 7);
    CHECK(sent_by(warm{8, 2, none}, x, 7) == cold);
    CHECK(sent_by(warm{8, 2, zeros}, x, 7) == cold);
    CHECK(sent_by(warm{8, 2, vec(10, std::nan(""))}, x, 7) == cold);
    vec half = zeros;
    std::copy(best.begin(), best.begin() + 5, half.begin());
    for (std::uint64_t k = 0; k < 20; ++k) {
        CHECK(error_of(warm{8, 2, half}, x, key{k}) < 26.3125);  // the best of rank 1 leaves more
        CHECK(sent_by(warm{8, 2, half}, x, k) != sent_by(warm{8, 2, half}, x, k + 1));  // by what is drawn
    }
    // The size of a start means nothing, out to the ends of the range.
    for (double const size : {1e-300, 1e300, 1e-310}) {
        vec scaled = best;
        for (double& w : scaled) w *= size;
        CHECK(error_of(warm{8, 2, scaled}, x, key{1}) == doctest::Approx(1.3125).epsilon(1e-9));
    }
}

TEST_CASE("a start is compared by place, checked by size, and not written") {
    vec const a(4, 1.0), b = a;
    warm const c{4, 1, a};
    auto const copy = c;
    CHECK(copy == c);
    CHECK(c != warm{4, 1, b});
    CHECK(c != warm{4, 2, a});
    CHECK_NOTHROW(c.check(16));
    CHECK_NOTHROW(c.check(40));
    CHECK_THROWS_WITH_AS(c.check(8), "low_rank: a start of 4 numbers for 4 x 2", shape_error);
    CHECK_NOTHROW((warm{4, 1, {}}.check(8)));
    CHECK(to_string(c) == "low_rank(rows=4, rank=1, warm)");
    CHECK(to_string(low_rank{28, 4}) == "low_rank(rows=28, rank=4)");
    CHECK(low_rank{28, 4} == low_rank{28, 4});
    CHECK(low_rank{28, 4} != low_rank{28, 5});
    laws::obeys_the_laws(c, laws::noise<double>(20, 1), laws::noise<double>(20, 2), key{1});
}

TEST_CASE("numbers that are not finite are refused") {
    for (double const bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
        host on;
        detail::message_of<low_rank<>> m;
        vec const x{1, 2, bad, 4};
        CHECK_THROWS_WITH_AS((low_rank{2, 1}(on, std::span<double const>(x), key{1}, m)),
                             "low_rank: coordinate 2 is not finite", argument_error);
    }
}

TEST_CASE("it takes the rows of a layer where its message is shorter than the matrix, unless it has its own") {
    auto const rows = [](low_rank<> c, std::size_t d, std::size_t of_layer) { return c.shape(d, of_layer), c.rows; };
    CHECK(rows({1, 2}, 60, 12) == 12);
    CHECK(rows({1, 2}, 20, 5) == 5);     // 2 (5 + 4) numbers
    CHECK(rows({1, 2}, 16, 4) == 1);     // as many as 2 (4 + 4)
    CHECK(rows({1, 100}, 60, 12) == 1);  // 5 (12 + 5)
    CHECK(rows({3, 2}, 60, 12) == 3);
    for (std::size_t const none : {0u, 1u}) CHECK(rows({1, 2}, 60, none) == 1);
    CHECK(rows({1, 2}, 0, 12) == 1);
    CHECK(is_contractive(low_rank<>{3, 1}));
    CHECK_FALSE(is_contractive(low_rank<>{.rows = 3, .warm_start = true}));
    CHECK(to_string(low_rank<>{.rows = 3, .rank = 2, .warm_start = true}) ==
          "low_rank(rows=3, rank=2, warm_start=yes)");
}
