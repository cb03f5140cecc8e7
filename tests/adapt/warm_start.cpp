// SPDX-License-Identifier: Apache-2.0
// Low-rank compression that starts from its last factors reaches the best approximation, which cold starts miss.
#include "laconic/adapt/warm_start.hpp"

#include "support/everything.hpp"
#include "support/laws/messages.hpp"
#include "support/states.hpp"
#include "support/tasks.hpp"

using namespace toys;

template <class T>
using warm = low_rank<std::span<T const>>;
static_assert(Level<warm_start<double>, warm<double>> && Level<warm_start<float>, warm<float>, float>);
static_assert(!Level<warm_start<double>, low_rank<>>);
template <class T>
using warm_parts = parts<warm<T>>;
static_assert(Level<warm_start<double>, warm_parts<double>> && Level<warm_start<float>, warm_parts<float>, float>);
static_assert(!Level<warm_start<double>, parts<low_rank<>>>);

// Numbers of a matrix of these singular values, row after row, and the same matrix.
template <class T>
std::vector<T> with_spectrum(Eigen::Index rows, Eigen::Index cols, std::vector<double> const& s) {
    auto const orthonormal = [](Eigen::Index n, std::uint64_t seed) {
        auto const a = laws::noise<double>(std::size_t(n * n), seed);
        return solvers::orthogonal(Eigen::Map<Eigen::MatrixXd const>(a.data(), n, n));
    };
    auto const n = Eigen::Index(s.size());
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> const m =
        orthonormal(rows, 1).leftCols(n) * Eigen::Map<Eigen::VectorXd const>(s.data(), n).asDiagonal() *
        orthonormal(cols, 2).leftCols(n).transpose();
    return {m.data(), m.data() + m.size()};
}
// The energy that the best approximation of that rank leaves, by Eigen.
template <class T>
double best_error(std::vector<T> const& x, Eigen::Index rows, Eigen::Index rank) {
    Eigen::MatrixXd const m = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> const>(
                                  x.data(), rows, Eigen::Index(x.size()) / rows)
                                  .template cast<double>();
    return solvers::singular(m).s.tail(std::min(rows, m.cols()) - rank).squaredNorm();
}

// What each of some rounds about the same vector leaves out.
template <class T, class C, class L>
std::vector<double> errors_of(C c, L level, std::vector<T> const& x, int rounds) {
    host on;
    detail::message_of<C, T> m;
    std::vector<double> errors;
    for (int k = 0; k < rounds; ++k) {
        level.tune(on, c, round_context{}, std::span<T const>(x), std::span<T const>(x));
        c(on, std::span<T const>(x), key{3}.child(static_cast<std::uint64_t>(k)), m);
        level.update(on, std::span<T const>(x), m);
        auto const y = laws::decoded<decltype(m), T>(m);
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) sum += square(static_cast<double>(x[i]) - static_cast<double>(y[i]));
        errors.push_back(sum);
    }
    return errors;
}

TEST_CASE("the first round is drawn, the next starts from the factors that were sent") {
    host on;
    warm_start<double> level;
    warm<double> c{2, 1, {}};
    vec const x{3, 6, 6, 4, 8, 8};
    level.tune(on, c, round_context{}, std::span<double const>(x), std::span<double const>(x));
    CHECK(c.start.empty());
    auto const m = compress(c, x, key{1});
    level.tune(on, c, round_context{}, std::span<double const>(x), std::span<double const>(x));
    CHECK(c.start.empty());  // nothing was sent yet
    level.update(on, std::span<double const>(x), m);
    level.tune(on, c, round_context{}, std::span<double const>(x), std::span<double const>(x));
    CHECK(copied(c.start) == m.left);  // two rows, three columns: the left factor is the shorter one
    CHECK(to_string(level) == "warm_start");
    warm_start<double> restored;
    restore_from(level, restored);
    warm<double> next{2, 1, {}};
    restored.tune(on, next, round_context{}, std::span<double const>(x), std::span<double const>(x));
    CHECK(copied(next.start) == m.left);
}

TEST_CASE_TEMPLATE("rounds about one matrix come to its best approximation, cold ones do not", T, float, double) {
    std::vector<double> spectrum;
    for (int i = 0; i < 10; ++i) spectrum.push_back(std::pow(0.6, i));
    for (auto const& [rows, cols] : std::vector<std::pair<Eigen::Index, Eigen::Index>>{{30, 10}, {12, 25}}) {
        auto const x = with_spectrum<T>(rows, cols, spectrum);
        auto const r = std::size_t(rows);
        for (std::size_t const rank : {1u, 3u, 4u}) {
            double const best = best_error(x, rows, Eigen::Index(rank));
            auto const warmed = errors_of<T>(warm<T>{r, rank, {}}, warm_start<T>{}, x, 40);
            auto const cold = errors_of<T>(low_rank{r, rank}, fixed_level{}, x, 40);
            CHECK(warmed[0] == cold[0]);
            CHECK(warmed[0] > 1.02 * best);
            CHECK(std::abs(warmed.back() - best) < (sizeof(T) == 4 ? 1e-5 : 1e-6) * best);
            for (std::size_t k = 1; k < 40; ++k)
                CHECK(warmed[k] <= warmed[k - 1] * (1 + (sizeof(T) == 4 ? 1e-5 : 1e-12)));
            for (double const e : cold) CHECK(e > 1.001 * best);
        }
    }
}

// A factor that was zero once must not be zero for ever, as that of a power method without care is.
TEST_CASE("it goes on after a gradient of zeros, and after one of lower rank") {
    host on;
    warm_start<double> level;
    warm<double> c{6, 2, {}};
    detail::message_of<warm<double>> m;
    vec const zeros(24, 0.0), one = with_spectrum<double>(6, 4, {1}), two = with_spectrum<double>(6, 4, {2, 1});
    std::uint64_t round = 0;
    auto const error_about = [&](vec const& x) {
        level.tune(on, c, round_context{}, std::span<double const>(x), std::span<double const>(x));
        c(on, std::span<double const>(x), key{round++}, m);
        level.update(on, std::span<double const>(x), m);
        return distance2(x, laws::decoded<decltype(m), double>(m));
    };
    CHECK(error_about(zeros) == 0);
    CHECK(error_about(two) < 1e-20);
    CHECK(error_about(one) < 1e-20);
    CHECK(error_about(one) < 1e-20);
    CHECK(error_about(two) < 1e-20);
}

using warm_recursion = recursion<warm<double>, memory<>, gradient_step, warm_start<double>>;

// Quadratics of 4 x 3 matrices x with one minimiser in common, so that error feedback has no bias there.
workers with_common_minimiser(vec const& x) {
    auto f = random_ridges(3, 12, 1, 4);
    for (auto& each : f) {
        each.b = each.h * eigen(x);
        each.c = 0;
    }
    return f;
}

// A matrix of 6 x 4, 5 numbers that are no matrix, a matrix of 3 x 4 and no numbers at all.
TEST_CASE("every part starts from its own factors, as if it were alone") {
    host on;
    warm_start<double> level;
    std::vector<warm_start<double>> alone(4);
    warm_parts<double> c{{24, {6, 2, {}}}, {5, {1, 1, {}}}, {12, {3, 1, {}}}, {0, {1, 1, {}}}};
    detail::message_of<warm_parts<double>> m;
    vec const first = with_spectrum<double>(6, 4, {9, 5, 2, 1}), third = with_spectrum<double>(3, 4, {3, 2});
    vec const biases{1, -2, 3, -4, 5};
    vec x = first;
    x.insert(x.end(), biases.begin(), biases.end());
    x.insert(x.end(), third.begin(), third.end());
    std::span<double const> const v(x);
    for (std::uint64_t round = 0; round < 4; ++round) {
        level.tune(on, c, round_context{}, v, v);
        level.tune(on, c, round_context{}, v, v);
        c.check(x.size());
        c(on, v, key{round}, m);
        std::size_t begin = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            auto one = c.pieces[i].compressor;
            one.start = {};
            auto const own = v.subspan(begin, c.pieces[i].length);
            alone[i].tune(on, one, round_context{}, own, own);
            detail::message_of<warm<double>> expected;
            one(on, own, key{round}.child(i), expected);
            alone[i].update(on, own, expected);
            CHECK(m.each[i] == expected);
            begin += own.size();
        }
        level.update(on, v, m);
    }
    auto const y = laws::decoded<decltype(m), double>(m);
    for (std::size_t i = 24; i < 29; ++i) CHECK(y[i] == doctest::Approx(x[i]).epsilon(1e-15));
    CHECK(bits(m) == 64 * (2 * (6 + 4) + (1 + 5) + (3 + 4)));
    CHECK(distance2(std::span(y).first(24), first) < 1.1 * best_error(first, 6, 2));
    CHECK(distance2(std::span(y).subspan(29), third) < 1.1 * best_error(third, 3, 1));
}

TEST_CASE("what it remembers of parts is saved") {
    host on;
    warm_start<double> level, other;
    warm_parts<double> c{{6, {2, 1, {}}}, {4, {2, 2, {}}}};
    vec const x = with_spectrum<double>(5, 2, {2, 1});
    std::span<double const> const v(x);
    level.update(on, v, compress(c, x, key{1}));
    restore_from(level, other);
    auto d = c;
    level.tune(on, c, round_context{}, v, v);
    other.tune(on, d, round_context{}, v, v);
    CHECK(c.pieces[0].compressor.start.size() == 2);
    CHECK(c.pieces[1].compressor.start.size() == 4);
    for (std::size_t i = 0; i < 2; ++i)
        CHECK(copied(c.pieces[i].compressor.start) == copied(d.pieces[i].compressor.start));
}

TEST_CASE("inside the loop, with error feedback, it comes to the optimum") {
    vec best(12);
    for (std::size_t i = 0; i < 12; ++i) best[i] = std::cos(static_cast<double>(i));
    auto const f = with_common_minimiser(best);
    auto const p = constants(f);
    double const step = 0.3 / p.largest_smoothness;
    any_objectives const any(f.begin(), f.end());
    auto const comes_to_the_optimum = [&](any_recursion<> const& method) {
        any_run run(method, any, vec(12), 5);
        run.rounds(6000);
        CHECK(distance2(run.x(), best) < 1e-16 * norm2(best));
    };
    for (std::size_t const rows : {4u, 2u})
        comes_to_the_optimum(
            erased<double, host>(warm_recursion{{rows, 1, {}}, {0, true}, gradient_step{1}, {}, {}, {}, step}));
    comes_to_the_optimum(
        erased<double, host>(recursion<warm_parts<double>, memory<>, gradient_step, warm_start<double>>{
            {{8, {4, 1, {}}}, {4, {1, 1, {}}}}, {0, true}, gradient_step{1}, {}, {}, {}, step}));
}

TEST_CASE("each rank starts from its own factors") {
    vec best(12, 1.0);
    auto const f = with_common_minimiser(best);
    warm_recursion const method{
        {4, 1, {}}, {0, true}, gradient_step{1}, {}, {}, {}, 0.1 / constants(f).largest_smoothness};
    auto const run = history(erased<double, host>(method), any_objectives(f.begin(), f.end()), vec(12, 0.0), 10, 3);
    CHECK(run[10].bytes[0] != run[10].bytes[1]);
}
