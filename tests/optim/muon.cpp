// SPDX-License-Identifier: Apache-2.0
// Muon and Dion2 come to the numbers of their papers' programs, and what they orthogonalize has the singular values
// that the polynomials say.
// Also tests dion2.hpp.
#include "laconic/optim/muon.hpp"

#include "laconic/backend/reference.hpp"
#include "support/everything.hpp"
#include "support/laws/known_steps.hpp"
#include "support/steps.hpp"

using vec = std::vector<double>;

static_assert(Step<muon<float>, float> && Step<dion2<float>, float> && Step<muon<>> && Step<dion2<>>);

TEST_CASE_TEMPLATE("Muon and Dion2 come to known numbers, on matrices that are wide and tall", B, host, reference) {
    laws::known_matrix_steps<B>();
}

TEST_CASE("in floats they come near to those numbers") {
    host on;
    auto const far = [&](auto exact, auto step) {
        std::vector<float> x(24), d(24);
        vec y(24), g(24);
        double most = 0;
        for (int t = 0; t < 10; ++t) {
            steps::matrix_bowl{4, 6}(std::span<double const>(y), std::span<double>(g));
            for (std::size_t j = 0; j < 24; ++j) d[j] = float(g[j]);
            step(on, std::span(x), std::span(d));
            exact(on, std::span(y), std::span(g));
        }
        for (std::size_t j = 0; j < 24; ++j) most = std::max(most, std::abs(double(x[j]) - y[j]));
        return most;
    };
    muon_options const how{.rows = 4, .rate = .02};
    CHECK(far(muon<>(how), muon<float>(how)) < 1e-6);
    dion2_options const two{.rows = 4, .rate = .02, .fraction = .5};
    CHECK(far(dion2<>(two), dion2<float>(two)) < 1e-6);
}

// The polynomials of a number, one after another.
double polynomials(orthogonalization by, double v) {
    for (auto const [a, b, c] : detail::polynomials_of(by)) v = v * (a + b * v * v + c * v * v * v * v);
    return v;
}
// sum_i s_i u_i v_i', where u_i and v_i are columns of Hadamard's matrices, of length 1.
vec matrix_of(vec const& s, std::size_t rows, std::size_t columns) {
    vec m(rows * columns);
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c)
            for (std::size_t i = 0; i < s.size(); ++i) {
                bool const negative = (std::popcount(r & i) + std::popcount(c & i)) % 2 != 0;
                m[r * columns + c] += (negative ? -s[i] : s[i]) / std::sqrt(double(rows * columns));
            }
    return m;
}

TEST_CASE("of what is orthogonalized the singular vectors stay, and the singular values are those of the polynomials") {
    host on;
    for (auto const by : {orthogonalization::newton_schulz, orthogonalization::polar_express, orthogonalization::polar})
        for (auto const& [rows, columns] :
             {std::pair<std::size_t, std::size_t>{4, 8}, {8, 4}, {1, 8}, {8, 1}, {4, 4}}) {
            vec s{3, 2, 1, .125};
            s.resize(std::min({std::size_t(4), rows, columns}));
            auto m = matrix_of(s, rows, columns);
            double const norm = std::sqrt(std::inner_product(s.begin(), s.end(), s.begin(), 0.));
            for (double& v : s) v = polynomials(by, v / norm / (by == orthogonalization::newton_schulz ? 1 : 1.02));
            auto const expected = matrix_of(s, rows, columns);
            detail::orthogonalizer<double, host>{}(on, std::span(m), rows, by, 1e-12);
            for (std::size_t j = 0; j < m.size(); ++j) CHECK(std::abs(m[j] - expected[j]) < 1e-10);
        }
    // The ranges that `orthogonalization` states, of singular values from 0.01 to 1.
    auto const range = [](orthogonalization by, double divided, int decades) {
        double least = 9, most = 0;
        for (int i = 0; i <= 10000; ++i) {
            double const v = polynomials(by, std::pow(10., decades * (1e-4 * i - 1)) / divided);
            least = std::min(least, v), most = std::max(most, v);
        }
        return std::pair(least, most);
    };
    auto const [low, high] = range(orthogonalization::newton_schulz, 1, 2);
    CHECK(low == doctest::Approx(.681831).epsilon(1e-4));
    CHECK(high == doctest::Approx(1.134357).epsilon(1e-4));
    auto const [low_express, high_express] = range(orthogonalization::polar_express, 1.02, 2);
    CHECK(low_express == doctest::Approx(.858873).epsilon(1e-4));
    CHECK(high_express == doctest::Approx(1.141127).epsilon(1e-4));
    auto const [low_of_wide, high_of_wide] = range(orthogonalization::newton_schulz, 1, 3);
    CHECK(low_of_wide == doctest::Approx(.471).epsilon(1e-3));
    CHECK(high_of_wide == doctest::Approx(1.202).epsilon(1e-3));
    for (double const v : {1e-3, .01, .1, .5, 1.})
        CHECK(polynomials(orthogonalization::polar, v / 1.02) == doctest::Approx(1).epsilon(1e-14));
}

TEST_CASE("epsilon bounds what a norm near 0 is divided by: by newton_schulz at least, by polar_express in addition") {
    host on;
    auto const of = [&](orthogonalization by, double value, double epsilon) {
        vec m{value};
        detail::orthogonalizer<double, host>{}(on, std::span(m), 1, by, epsilon);
        return m[0];
    };
    for (auto const by : {orthogonalization::newton_schulz, orthogonalization::polar_express}) {
        bool const adds = by == orthogonalization::polar_express;
        CHECK(of(by, .25, .5) == doctest::Approx(polynomials(by, adds ? .25 / (.25 * 1.02 + .5) : .5)));
        CHECK(of(by, 2, .5) == doctest::Approx(polynomials(by, adds ? 2 / (2 * 1.02 + .5) : 1)));
    }
}

TEST_CASE("zeros stay zeros, however small epsilon is") {
    host on;
    muon<float> step({.rows = 2, .epsilon = 1e-45});
    std::vector<float> x(6), d(6);
    step(on, std::span(x), std::span(d));
    CHECK(x == std::vector<float>(6));
}

TEST_CASE("a gradient of zeros moves nothing but by the weight decay") {
    host on;
    auto const moved = [&](auto step) {
        vec x{1, 2, 3, 4, 5, 6}, d(6);
        step(on, std::span(x), std::span(d));
        return x;
    };
    vec const same{1, 2, 3, 4, 5, 6}, half{.5, 1, 1.5, 2, 2.5, 3};
    for (std::size_t const rows : {1u, 2u, 3u, 6u}) {
        for (auto const by : {orthogonalization::newton_schulz, orthogonalization::polar_express})
            CHECK(moved(muon<>({.rows = rows, .weight_decay = 0, .by = by})) == same);
        CHECK(moved(muon<>({.rows = rows, .rate = 1, .weight_decay = .5})) == half);
        CHECK(moved(dion2<>({.rows = rows, .weight_decay = 0})) == same);
        CHECK(moved(dion2<>({.rows = rows, .rate = 1, .weight_decay = .5})) == half);
    }
    vec none;
    muon<>({.rows = 2})(on, std::span(none), std::span(none));
    dion2<>({.rows = 2})(on, std::span(none), std::span(none));
    CHECK(none.empty());
}

TEST_CASE("Dion2 moves the vectors with the largest sums of magnitudes, decays these, and keeps the others") {
    host on;
    // By rows: the sums are 5, 6, 6, 4; the largest magnitude and the largest norm are in the first.
    dion2<> step({.rows = 4, .rate = 1, .fraction = .25, .decay = .5, .weight_decay = 0});
    vec const gradient{5, 0, 0, 0, 1, 2, 1, 2, 2, 1, 2, 1, 1, 1, 1, 1};
    auto d = gradient;
    vec x(16);
    step(on, std::span(x), std::span(d));
    for (std::size_t j = 0; j < 16; ++j) CHECK((x[j] != 0) == (j / 4 == 1));  // of equal sums the first
    vec expected = gradient;
    for (std::size_t j = 4; j < 8; ++j) expected[j] /= 2;
    CHECK(vec(step.sum().begin(), step.sum().end()) == expected);
    d.assign(16, 0);
    auto const before = x;
    step(on, std::span(x), std::span(d));
    for (std::size_t j = 0; j < 16; ++j) CHECK((x[j] != before[j]) == (j / 4 == 2));

    // By columns where these are fewer; ceil(0.4 x 3) = 2 of them.
    dion2<> tall({.rows = 4, .rate = 1, .fraction = .4, .weight_decay = 0});
    vec y(12);
    d = {1, -3, 2, 1, -3, 2, 1, -3, 2, 2, -3, 2};
    tall(on, std::span(y), std::span(d));
    for (std::size_t j = 0; j < 12; ++j) CHECK((y[j] != 0) == (j % 3 != 0));
    // One at least, and none is lost where the fraction is 1.
    for (auto const& [fraction, count] : {std::pair{0., 4}, {.26, 8}, {1., 16}}) {
        dion2<> some({.rows = 4, .fraction = fraction, .weight_decay = 0});
        vec z(16);
        d.assign(16, 1);
        for (std::size_t j = 0; j < 16; ++j) d[j] += double(j % 5);
        some(on, std::span(z), std::span(d));
        CHECK(std::count_if(z.begin(), z.end(), [](double v) { return v != 0; }) == count);
    }
}

TEST_CASE("what they remember is saved, and their texts have what is not the default") {
    steps::goes_on(muon<>({.rows = 2}), 6);
    steps::goes_on<float>(muon<float>({.rows = 3, .nesterov = false}), 6);
    steps::goes_on(dion2<>({.rows = 3, .fraction = .4}), 6);
    steps::goes_on<float>(dion2<float>({.rows = 2}), 6);
    CHECK(to_string(muon<>({.rows = 2})) == "muon(rows=2, rate=0.001)");
    CHECK(
        to_string(muon<>(
            {.rows = 2, .weight_decay = 0, .scale = matrix_scale::spectral, .by = orthogonalization::polar_express})) ==
        "muon(rows=2, rate=0.001, weight_decay=0, scale=spectral, by=polar_express)");
    CHECK(to_string(dion2<>({.rows = 2, .fraction = .5})) == "dion2(rows=2, rate=0.01, fraction=0.5)");
    CHECK(muon<>({.rate = .5}).rate() == .5);
    CHECK(dion2<>({.rate = .5}).rate() == .5);
}

TEST_CASE("numbers and shapes that make no step are refused, and nothing moves") {
    auto const no_muon = [](muon_options const& how, char const* why) {
        CHECK_THROWS_WITH_AS(muon<>{how}, why, argument_error);
    };
    no_muon({.rows = 0}, "muon: rows = 0 is outside 1 .. 9007199254740992");
    no_muon({.beta = 1}, "muon: beta = 1 is outside [0, 1)");
    no_muon({.epsilon = 0}, "muon: epsilon = 0 is outside (0, oo)");
    no_muon({.rate = -1}, "muon: rate = -1 is outside 0 .. 1e+300");
    no_muon({.scale = matrix_scale(3)}, "muon: scale is none of its values");
    no_muon({.by = orthogonalization(3)}, "muon: by is none of its values");
    auto const no_dion2 = [](dion2_options const& how, char const* why) {
        CHECK_THROWS_WITH_AS(dion2<>{how}, why, argument_error);
    };
    no_dion2({.rows = 0}, "dion2: rows = 0 is outside 1 .. 9007199254740992");
    no_dion2({.fraction = 1.5}, "dion2: fraction = 1.5 is outside 0 .. 1");
    no_dion2({.decay = NAN}, "dion2: decay = nan is outside 0 .. 1");
    no_dion2({.epsilon = -1}, "dion2: epsilon = -1 is outside (0, oo)");
    host on;
    vec x{1, 2, 3, 4, 5}, d(5, 1);
    CHECK_THROWS_WITH_AS(muon<>({.rows = 2})(on, std::span(x), std::span(d)), "muon: 5 numbers are no matrix of 2 rows",
                         argument_error);
    CHECK_THROWS_WITH_AS(dion2<>({.rows = 3})(on, std::span(x), std::span(d)),
                         "dion2: 5 numbers are no matrix of 3 rows", argument_error);
    CHECK(x == vec{1, 2, 3, 4, 5});
}
