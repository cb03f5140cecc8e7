// SPDX-License-Identifier: Apache-2.0
// The search on coefficients is the search on vectors, and inner products of parts add up.
#include "laconic/optim/sr1_span.hpp"

#include "support/everything.hpp"

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
