// SPDX-License-Identifier: Apache-2.0
// Local steps are those of the formula, and batches are drawn without repetition, the same on all ranks.
#include "laconic/vertical/local_blocks.hpp"

#include <Eigen/Dense>

#include "support/everything.hpp"
#include "support/parties.hpp"
#include "support/states.hpp"

using namespace parties;
using party = linear_party<logistic_loss, double>;
static_assert(Estimator<local_blocks<party, double>, block_work<party, double>>);
static_assert(Compressor<slopes_of_mean<party, double>> && Step<replace_by>);

template <class P>
auto work_of(P const& p, slope_source source, std::size_t batch = 0, std::uint64_t steps = 3) {
    return std::make_shared<block_work<P, double>>(
        block_work<P, double>{&p, 0, {2, false, batch > 0}, source, steps, .3, .7, batch, key{5}});
}

dataset<double> signs_of_det6() {
    auto data = det6::data();
    for (auto& y : data.labels) y = y < 0 ? -1 : 1;
    return data;
}

TEST_CASE("a batch has different rows, the same on all ranks, and others in the next round") {
    auto const all = split<logistic_loss>(signs_of_det6(), {0, 2, 4}, .1);
    auto const one = work_of(all[0], slope_source::labels, 20), other = work_of(all[1], slope_source::labels, 20);
    other->rank = 1;
    host on;
    std::vector<std::vector<std::uint32_t>> lists;
    for (std::uint64_t number = 0; number < 6; ++number) {
        auto const a = one->rows(on, number), b = other->rows(on, number);
        REQUIRE(a.size() == 20);
        std::set<std::uint32_t> rows;
        for (std::size_t i = 0; i < 20; ++i) {
            CHECK(a[i] == b[i]);
            CHECK(a[i] < 48);
            rows.insert(std::uint32_t(a[i]));
        }
        CHECK(rows.size() == 20);
        lists.emplace_back(rows.begin(), rows.end());
        for (std::uint64_t before = 0; before < number; ++before) CHECK(lists[before] != lists[number]);
    }
    auto const again = one->rows(on, 2);  // as after a restore
    CHECK(std::vector<std::uint32_t>(again.list, again.list + 20) == lists[2]);
    CHECK(work_of(all[0], slope_source::labels)->rows(on, 3).list == nullptr);
}

// The local steps again, with dense matrices; `slope(z, y)` is the loss's.
Eigen::VectorXd moved(Eigen::MatrixXd const& a, Eigen::VectorXd const& y, Eigen::VectorXd const& others,
                      Eigen::VectorXd const& from, double lambda, bool frozen, auto slope) {
    Eigen::VectorXd x = from, s(y.size());
    for (int q = 0; q < 3; ++q) {
        Eigen::VectorXd const z = others + a * x;
        for (Eigen::Index i = 0; i < y.size(); ++i)
            if (q == 0 || !frozen) s[i] = slope(z[i], y[i]);
        x -= .3 * (a.transpose() * s / double(y.size()) + lambda * x + .7 * (x - from));
    }
    return x;
}

TEST_CASE("local steps from labels, residuals and received slopes") {
    auto const data = signs_of_det6();
    Eigen::MatrixXd const a = Eigen::MatrixXd(data.rows).leftCols(2);
    Eigen::VectorXd const y = Eigen::Map<Eigen::VectorXd const>(data.labels.data(), 48);
    Eigen::VectorXd const others = Eigen::VectorXd::LinSpaced(48, -2, 2);
    Eigen::Vector2d const from(.4, -1.5);
    auto const square = [](double z, double t) { return z - t; };
    auto const logistic = [](double z, double t) { return -t / (1 + std::exp(t * z)); };

    auto const check = [&](auto const& p, slope_source source, Eigen::VectorXd known, Eigen::VectorXd const& expected) {
        auto const work = work_of(p, source);
        vec x{from[0], from[1]}, g(48), start = x;
        host on;
        local_blocks estimate(work, std::span(x));
        auto const at = [&](std::uint64_t e) { return round_context::of(key{5}, e, 0, 2); };
        std::span<double const> const z(known.data(), 48);
        estimate(on, *work, at(0), z, std::span(g));  // the first exchange moves nothing
        estimate.update(on, z);
        CHECK(x == start);
        Eigen::VectorXd targets = Eigen::VectorXd::Zero(48);
        if (source == slope_source::residual && p.has_labels()) targets = y;
        for (Eigen::Index i = 0; i < 48; ++i)
            CHECK(g[std::size_t(i)] == doctest::Approx((a * from - targets)[i]).epsilon(1e-13));
        for (int twice = 0; twice < 2; ++twice) {
            estimate(on, *work, at(1), z, std::span(g));
            CHECK(x == start);
        }
        estimate.update(on, z);
        for (std::size_t j = 0; j < 2; ++j) CHECK(x[j] == doctest::Approx(expected[Eigen::Index(j)]).epsilon(1e-13));
        for (Eigen::Index i = 0; i < 48; ++i)
            CHECK(g[std::size_t(i)] == doctest::Approx((a * expected - targets)[i]).epsilon(1e-12));
    };
    auto const squares = split<squared_loss>(data, {0, 2, 4}, .1, 0);
    check(squares[0], slope_source::residual, others + a * from - y, moved(a, y, others, from, .1, false, square));
    auto const passive = split<squared_loss>(data, {0, 2, 4}, .1, 1);
    check(passive[0], slope_source::residual, others + a * from - y, moved(a, y, others, from, .1, false, square));
    auto const with_labels = split<logistic_loss>(data, {0, 2, 4}, .1);
    check(with_labels[0], slope_source::labels, others + a * from, moved(a, y, others, from, .1, false, logistic));
    Eigen::VectorXd slopes(48);
    for (Eigen::Index i = 0; i < 48; ++i) slopes[i] = logistic((others + a * from)[i], y[i]);
    check(with_labels[0], slope_source::received, slopes, moved(a, y, others, from, .1, true, logistic));
}

TEST_CASE("a block that is not finite is seen, even where no sample has its columns") {
    dataset<double> data{"an empty column", {}, {1, -1}};
    data.rows.resize(2, 2);
    data.rows.insert(0, 0) = 1;
    linear_party<squared_loss> const p(data, 0);
    auto const work = work_of(p, slope_source::residual);
    host on;
    vec x{1, NAN}, g(2), z(2);
    local_blocks estimate(work, std::span(x));
    estimate(on, *work, round_context::of(key{5}, 0, 0, 2), std::span<double const>(z), std::span(g));
    CHECK(std::isfinite(g[0]));
    CHECK(std::isnan(g[1]));
}

TEST_CASE("the server's answer to a mean of embeddings is the slopes of their sum") {
    auto const all = split<logistic_loss>(signs_of_det6(), {0, 4}, .1);
    auto const work = work_of(all[0], slope_source::received, 5);
    work->sent_batch = 3;
    host on;
    vec const mean{.1, -.2, .3, 0, 2};
    messages::full_vector<double, host> m;
    slopes_of_mean<party, double>{work}(on, std::span<double const>(mean), key{}, m);
    auto const rows = work->rows(on, 3);
    for (std::size_t i = 0; i < 5; ++i) {
        double const y = signs_of_det6().labels[rows[i]];
        CHECK(m.values[i] == doctest::Approx(-y / (1 + std::exp(y * 2 * mean[i]))).epsilon(1e-14));
    }
    CHECK(work->loss(on, 0, mean) != work->loss(on, 0, mean));
    work->source = slope_source::labels;
    CHECK(work->loss(on, 3, mean) == all[0].loss(rows, mean));
    CHECK(work->value(mean) == doctest::Approx((.01 + .04 + .09 + 4) / 10));
    vec g(5);
    work->gradient(mean, g);
    CHECK(g[4] == 2. / 5);
}
