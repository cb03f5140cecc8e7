// SPDX-License-Identifier: Apache-2.0
// Steihaug's search solves within the radius, stops there, follows negative curvature, and knows what it gains.
#include "laconic/optim/steihaug.hpp"

#include "support/everything.hpp"

Eigen::MatrixXd wide_spectrum(Eigen::Index n, double least) {  // eigenvalues from `least` to 1, in a random basis
    Eigen::MatrixXd b = Eigen::MatrixXd::Zero(n, n);
    for (Eigen::Index i = 0; i < n; ++i) b(i, i) = std::pow(least, double(i) / double(n - 1));
    for (int k = 0; k < 3; ++k) {
        Eigen::VectorXd v(n);
        for (Eigen::Index i = 0; i < n; ++i) v(i) = key{std::uint64_t(k)}.uniform(std::uint64_t(i)) - .5;
        v.normalize();
        Eigen::MatrixXd const turn = Eigen::MatrixXd::Identity(n, n) - 2 * v * v.transpose();
        b = turn * b * turn;
    }
    return b;
}

struct search_result {
    steihaug_result found;
    Eigen::VectorXd z;
};
search_result search(Eigen::MatrixXd const& b, Eigen::VectorXd const& g, steihaug_limits until) {
    host on;
    steihaug<double> cg;
    search_result r;
    std::vector<double> z(std::size_t(g.size()), 9.);
    r.found = cg(on, std::span<double const>(g.data(), z.size()), std::span<double>(z), until,
                 [&](std::span<double const> v, std::span<double> out) {
                     Eigen::Map<Eigen::VectorXd>(out.data(), g.size()) =
                         b * Eigen::Map<Eigen::VectorXd const>(v.data(), g.size());
                 });
    r.z = Eigen::Map<Eigen::VectorXd const>(z.data(), g.size());
    CHECK(r.found.norm == doctest::Approx(r.z.norm()).epsilon(1e-12));
    CHECK(r.found.decrease == doctest::Approx(-(g.dot(r.z) + r.z.dot(b * r.z) / 2)).epsilon(1e-9));
    CHECK(r.found.norm <= until.radius * (1 + 1e-12));
    return r;
}

TEST_CASE("steihaug: inside the radius it solves, to the tolerance") {
    auto const b = wide_spectrum(8, 1e-2);
    Eigen::VectorXd const g = Eigen::VectorXd::LinSpaced(8, -1, 2);
    auto const r = search(b, g, {1e6, 1e-9, 100});
    CHECK(r.found.why == steihaug_end::converged);
    CHECK((b * r.z + g).norm() <= 1e-9 * (1 + 1e-6));
    CHECK(r.found.products <= 12);
    auto const rough = search(b, g, {1e6, .3, 100});
    CHECK(rough.found.products < r.found.products);
    CHECK((b * rough.z + g).norm() <= .3);
    CHECK(search(b, g, {1e6, 1e-9, 3}).found.why == steihaug_end::products);
    CHECK(search(b, g, {1e6, 1e-9, 3}).found.products == 3);
}

TEST_CASE("steihaug: the step ends on the radius, and gains at least what the steepest descent does") {
    auto const b = wide_spectrum(8, 1e-2);
    Eigen::VectorXd const g = Eigen::VectorXd::LinSpaced(8, -1, 2);
    for (double const radius : {.01, .5, 3.}) {
        auto const r = search(b, g, {radius, 1e-9, 100});
        CHECK(r.found.why == steihaug_end::radius);
        CHECK(r.found.norm == doctest::Approx(radius).epsilon(1e-12));
        double const length = std::min(radius / g.norm(), g.squaredNorm() / g.dot(b * g));
        CHECK(r.found.decrease >= length * g.squaredNorm() - length * length * g.dot(b * g) / 2 - 1e-12);
    }
}

TEST_CASE("steihaug: a direction without curvature is followed to the radius") {
    Eigen::MatrixXd b = Eigen::MatrixXd::Identity(3, 3);
    b(2, 2) = -1;
    Eigen::VectorXd const g = Eigen::Vector3d(1, 0, .1);
    auto const r = search(b, g, {10, 1e-9, 100});
    CHECK(r.found.why == steihaug_end::no_curvature);
    CHECK(r.found.norm == doctest::Approx(10).epsilon(1e-12));
    CHECK(r.found.decrease > 40);
    // A flat model: straight downhill.
    auto const flat = search(Eigen::MatrixXd::Zero(3, 3), g, {2, 1e-9, 100});
    CHECK(flat.found.why == steihaug_end::no_curvature);
    CHECK((flat.z + 2 * g / g.norm()).norm() < 1e-14);
}

TEST_CASE("steihaug: a short direction is not taken for one without curvature") {
    // Scaled so that d'Bd is far below 1e-12 from the first direction on.
    auto const b = wide_spectrum(8, 1e-2);
    Eigen::VectorXd const g = 1e-9 * Eigen::VectorXd::LinSpaced(8, -1, 2);
    auto const r = search(b, g, {1, 1e-18, 100});
    CHECK(r.found.why == steihaug_end::converged);
    CHECK((b * r.z + g).norm() <= 1.1e-18);
}

TEST_CASE("steihaug: nothing to do, and numbers that are none") {
    auto const b = wide_spectrum(4, .1);
    auto const r = search(b, Eigen::VectorXd::Zero(4), {1, 0, 10});
    CHECK(r.found.why == steihaug_end::converged);
    CHECK(r.found.products == 0);
    CHECK(r.found.decrease == 0);
    host on;
    steihaug<float> cg;
    std::vector<float> const g{1, 2};
    std::vector<float> z(2);
    auto const none = cg(on, std::span<float const>(g), std::span<float>(z), {1, 0, 10},
                         [](std::span<float const>, std::span<float> out) { out[0] = out[1] = std::nanf(""); });
    CHECK(!(none.decrease > 0));
}

TEST_CASE("steihaug: with another inner product the norm and the radius are that one's") {
    // In the coordinates z = 2 c: <c, c'> = 4 c c', B unchanged as a map.
    host on;
    steihaug<double> cg;
    std::vector<double> const g{.5, 0}, slopes{1, 0};
    std::vector<double> c(2), z(2);
    auto const apply = [](std::span<double const> v, std::span<double> out) { out[0] = v[0] * .1, out[1] = v[1]; };
    auto const four = [](std::span<double const> a, std::span<double const> b) {
        return 4 * (a[0] * b[0] + a[1] * b[1]);
    };
    auto const in_c = cg(on, std::span<double const>(g), std::span<double>(c), {3, 1e-9, 10}, apply, four);
    auto const in_z = cg(on, std::span<double const>(slopes), std::span<double>(z), {3, 1e-9, 10}, apply);
    CHECK(2 * c[0] == doctest::Approx(z[0]).epsilon(1e-14));
    CHECK(in_c.norm == doctest::Approx(in_z.norm).epsilon(1e-14));
    CHECK(in_c.decrease == doctest::Approx(in_z.decrease).epsilon(1e-14));
    CHECK(inner_product(on, std::span<double const>(g), std::span<double const>(slopes)) == .5);
}
