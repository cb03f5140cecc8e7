// SPDX-License-Identifier: Apache-2.0
// The compact form is the sequential SR1, takes independent pairs only, satisfies their secant equations, and is the
// Hessian once there are d of them.
#include "laconic/optim/sr1.hpp"

#include "support/det6.hpp"
#include "support/everything.hpp"
#include "support/solvers.hpp"

Eigen::MatrixXd symmetric(Eigen::Index n, std::uint64_t seed, double lift) {
    Eigen::MatrixXd a(n, n);
    for (Eigen::Index i = 0; i < n * n; ++i) a.data()[i] = key{seed}.uniform(std::uint64_t(i)) - .5;
    return a + a.transpose().eval() + lift * Eigen::MatrixXd::Identity(n, n);
}

// The model of H from these directions, or from those of a key.
template <class T = double>
struct model {
    host on;
    sr1<T> pairs;
    Eigen::MatrixXd h;

    model(Eigen::MatrixXd hessian, Eigen::MatrixXd const& s, double gamma = 0)
        : pairs(std::size_t(hessian.rows()), std::size_t(s.cols()), gamma), h(std::move(hessian)) {
        for (Eigen::Index i = 0; i < s.size(); ++i) pairs.s()[std::size_t(i)] = T(s.data()[i]);
        make();
    }
    model(Eigen::MatrixXd hessian, std::size_t m, key from, double gamma = 0)
        : pairs(std::size_t(hessian.rows()), m, gamma), h(std::move(hessian)) {
        pairs.draw(on, from);
        make();
    }
    void make() {
        auto const n = h.rows();
        using column = Eigen::Matrix<T, Eigen::Dynamic, 1>;
        pairs.multiply(on, [&](std::span<T const> s, std::span<T> out) {
            Eigen::Map<column>(out.data(), n) = h.cast<T>() * Eigen::Map<column const>(s.data(), n);
        });
        std::vector<T> inner(pairs.memory() * pairs.memory());
        pairs.inner(on, std::span<T>(inner));
        auto const count = pairs.accept(on, std::span<T const>(inner));
        CHECK(count == pairs.accepted().size());
    }
    Eigen::VectorXd column(std::span<T> all, std::size_t j) const {
        auto const n = std::size_t(h.rows());
        Eigen::VectorXd v(h.rows());
        for (std::size_t i = 0; i < n; ++i) v(Eigen::Index(i)) = double(all[j * n + i]);
        return v;
    }
    Eigen::VectorXd times(Eigen::VectorXd const& v) {
        std::vector<T> in(v.data(), v.data() + v.size()), u(pairs.memory()), out(in.size());
        auto const as_it_is = [](auto make) { make(); };
        pairs.times(on, std::span<T const>(in), std::span<T>(u), std::span<T>(out), as_it_is, as_it_is);
        Eigen::VectorXd r(v.size());
        for (Eigen::Index i = 0; i < v.size(); ++i) r(i) = double(out[std::size_t(i)]);
        return r;
    }
    Eigen::MatrixXd matrix() {
        Eigen::MatrixXd b(h.rows(), h.cols());
        for (Eigen::Index i = 0; i < h.cols(); ++i) b.col(i) = times(Eigen::VectorXd::Unit(h.rows(), i));
        return b;
    }
};

TEST_CASE("T3.1: the compact form is the sequential SR1 from gamma I, gamma = 0 and 0.7") {
    for (double const gamma : {0., .7})
        for (double const lift : {0., 3.}) {  // indefinite, and positive definite
            model<> m(symmetric(9, 4, lift), 5, key{1}, gamma);
            REQUIRE(m.pairs.accepted().size() == 5);
            Eigen::MatrixXd b = gamma * Eigen::MatrixXd::Identity(9, 9);
            for (std::size_t j = 0; j < 5; ++j) {
                Eigen::VectorXd const s = m.column(m.pairs.s(), j), r = m.h * s - b * s;
                // T3.2: the pivot is s'(y - B s) with the B of the pairs before.
                CHECK(m.pairs.pivots()[j] == doctest::Approx(s.dot(r)).epsilon(1e-10));
                b += r * r.transpose() / s.dot(r);
            }
            CHECK((m.matrix() - b).cwiseAbs().maxCoeff() < 2e-14 * b.norm());
        }
}

TEST_CASE("T3.6: on DET6, B of four pairs is H, of fewer has the known traces, rank and secant equations") {
    auto const h = det6::objective::of_all().h;
    CHECK(h.trace() == doctest::Approx(64.8398885984395).epsilon(1e-14));
    auto const s = det6::directions();
    double const traces[] = {22.00431072822707, 33.33296320291737, 47.562266682720036};
    for (Eigen::Index m = 1; m <= 4; ++m) {
        model<> of(h, s.leftCols(m));
        Eigen::MatrixXd const b = of.matrix();
        REQUIRE(of.pairs.accepted().size() == std::size_t(m));
        if (m < 4)
            CHECK(b.trace() == doctest::Approx(traces[m - 1]).epsilon(1e-13));
        else
            CHECK((b - h).cwiseAbs().maxCoeff() < 1e-13);
        CHECK((b * s.leftCols(m) - h * s.leftCols(m)).cwiseAbs().maxCoeff() < 1e-13);
        for (Eigen::Index i = 0; i < 4; ++i)  // none is negative, as H has none
            CHECK((solvers::eigenvalue(b, i) > 1e-10) == (i >= 4 - m));
    }
}

TEST_CASE("T3.7: of eight directions in six dimensions exactly six are accepted") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        model<> m(symmetric(6, seed, 2), 8, key{seed});
        CHECK(m.pairs.accepted().size() == 6);
        CHECK((m.matrix() - m.h).cwiseAbs().maxCoeff() < 1e-9 * m.h.norm());
    }
}

TEST_CASE("sr1: directions that depend on others, and an H of low rank, are taken for what they are") {
    auto const h = symmetric(5, 2, 3);
    Eigen::MatrixXd s = Eigen::MatrixXd::Zero(5, 4);
    s(0, 0) = s(1, 1) = s(2, 3) = 1;
    s.col(2) = s.col(0) - 2 * s.col(1);
    model<> m(h, s);
    CHECK(std::vector<std::size_t>(m.pairs.accepted().begin(), m.pairs.accepted().end()) ==
          std::vector<std::size_t>{0, 1, 3});
    Eigen::VectorXd const a = Eigen::VectorXd::LinSpaced(5, 1, 2);
    model<> one(a * a.transpose(), 4, key{3});
    CHECK(one.pairs.accepted().size() == 1);
    CHECK((one.matrix() - a * a.transpose()).cwiseAbs().maxCoeff() < 1e-12);
    CHECK(model<>(Eigen::MatrixXd::Zero(5, 5), 3, key{3}).pairs.accepted().empty());
}

TEST_CASE("sr1: a direction almost without curvature, beside others, would make B huge: it is left out") {
    Eigen::MatrixXd h(2, 2), s(2, 2);
    h << 0, 1, 1, 0;
    s << 1, 1, 1e-9, 1;  // s'Hs = 2e-9, and 2
    model<> m(h, s);
    CHECK(std::vector<std::size_t>(m.pairs.accepted().begin(), m.pairs.accepted().end()) ==
          std::vector<std::size_t>{1});
    CHECK(m.matrix().norm() < 1.1);
}

TEST_CASE("sr1: with gamma I = H no pair is needed, and B is H") {
    model<> m(.7 * Eigen::MatrixXd::Identity(5, 5), 3, key{3}, .7);
    Eigen::VectorXd const v = Eigen::VectorXd::LinSpaced(5, -1, 1);
    CHECK((m.times(v) - .7 * v).norm() < 1e-12);
}

TEST_CASE("sr1: scales do not matter, neither of H nor of directions") {
    for (double const scale : {1e-9, 1e9}) {
        Eigen::MatrixXd const h = scale * symmetric(6, 1, 2);
        CHECK(model<>(h, 8, key{5}).pairs.accepted().size() == 6);
        Eigen::MatrixXd s = Eigen::MatrixXd::Identity(6, 6);
        s.col(2) *= scale;
        model<> m(symmetric(6, 1, 2), s);
        CHECK(m.pairs.accepted().size() == 6);
    }
}

TEST_CASE("sr1: in floats, and the same directions for the same key alone") {
    model<float> m(symmetric(6, 1, 2), 8, key{5});
    CHECK(m.pairs.accepted().size() == 6);
    CHECK((m.matrix() - m.h).cwiseAbs().maxCoeff() < 1e-3);
    host on;
    sr1<> a(3, 2, 0), b(3, 2, 0);
    a.draw(on, key{1}), b.draw(on, key{1});
    CHECK(std::equal(a.s().begin(), a.s().end(), b.s().begin()));
    b.draw(on, key{2});
    CHECK(!std::equal(a.s().begin(), a.s().end(), b.s().begin()));
    for (double const v : a.s()) CHECK(std::abs(v) < 1);
}

// The search on coefficients is the search on vectors, and inner products of parts add up.

TEST_CASE("sr1_span: the steps are those of the search on vectors, from the products of two parts") {
    constexpr std::size_t d = 12, m = 4;
    host on;
    for (double const gamma : {0., .3})
        for (double const radius : {.2, 100.}) {
            Eigen::MatrixXd a(d, d);
            for (Eigen::Index i = 0; i < a.size(); ++i) a.data()[i] = key{8}.uniform(std::uint64_t(i)) - .5;
            Eigen::MatrixXd const h = a * a.transpose();
            sr1<> pairs(d, m, gamma);
            pairs.draw(on, key{4});
            pairs.multiply(on, [&](std::span<double const> s, std::span<double> out) {
                Eigen::Map<Eigen::VectorXd>(out.data(), d) = h * Eigen::Map<Eigen::VectorXd const>(s.data(), d);
            });
            std::vector<double> g(d), inner(m * m), u(m), step(d);
            Eigen::Map<Eigen::VectorXd>(g.data(), d) =  // in the span, so that the model has a minimum
                Eigen::Map<Eigen::MatrixXd const>(pairs.psi().data(), d, m) * Eigen::Vector4d(1, -2, .5, 1);
            pairs.inner(on, std::span<double>(inner));
            pairs.accept(on, std::span<double const>(inner));
            auto const limits = [&](double norm) { return steihaug_limits{radius, 1e-6 * norm, 10}; };
            steihaug<double> whole;
            auto const as_it_is = [](auto make) { make(); };
            auto const expected = whole(on, std::span<double const>(g), std::span<double>(step),
                                        limits(Eigen::Map<Eigen::VectorXd>(g.data(), d).norm()),
                                        [&](std::span<double const> v, std::span<double> out) {
                                            pairs.times(on, v, std::span<double>(u), out, as_it_is, as_it_is);
                                        });

            sr1_span<double> span(m);
            std::vector<double> sum(sr1_span<double>::size(m));
            for (std::size_t const first : {0u, 5u}) {
                std::size_t const count = first == 0 ? 5 : 7;
                auto const of = [&](std::span<double> all) {
                    return [=](std::size_t j) { return std::span<double const>(all).subspan(j * d + first, count); };
                };
                auto const part =
                    span.multiply(on, of(pairs.s()), of(pairs.psi()), std::span<double const>(g).subspan(first, count));
                for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
            }
            std::copy(sum.begin(), sum.end(), span.products().begin());
            for (std::size_t i = 0; i < m * m; ++i) CHECK(sum[i] == doctest::Approx(inner[i]).epsilon(1e-12));
            auto const found = span.search(on, pairs, limits);
            CHECK(found.products == expected.products);
            CHECK(found.why == expected.why);
            CHECK(found.norm == doctest::Approx(expected.norm).epsilon(1e-9));
            CHECK(found.decrease == doctest::Approx(expected.decrease).epsilon(1e-9));
            std::vector<double> z(d);
            for (std::size_t const first : {0u, 5u}) {
                std::size_t const count = first == 0 ? 5 : 7;
                auto const psi = [&](std::size_t j) {
                    return std::span<double const>(pairs.psi()).subspan(j * d + first, count);
                };
                span.combine(on, psi, std::span<double const>(g).subspan(first, count),
                             std::span<double>(z).subspan(first, count));
            }
            for (std::size_t i = 0; i < d; ++i) CHECK(std::abs(z[i] - step[i]) < 1e-7 * (1 + expected.norm));
        }
}

TEST_CASE("sr1_span: no gradient, no step; products that are no numbers, no step") {
    host on;
    sr1<float> pairs(3, 2, 0);
    sr1_span<float> span(2);
    auto const limits = [](double norm) { return steihaug_limits{1, norm, 4}; };
    CHECK(span.search(on, pairs, limits).norm == 0);
    for (float& p : span.products()) p = std::nanf("");
    span.search(on, pairs, limits);
    for (double const c : span.coefficients()) CHECK(c == 0);
}
