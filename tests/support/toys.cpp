// SPDX-License-Identifier: Apache-2.0
// No test: the toy problems and exact expectations of one round, compiled once.
#include "support/toys.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "laconic/objective/optimum.hpp"
#include "named_methods.hpp"
#include "support/data.hpp"
#include "support/real_data.hpp"
#include "support/tasks.hpp"

namespace toys {

workers around(std::vector<vec> const& all) {
    workers f;
    for (auto const& b : all) {
        auto const d = static_cast<Eigen::Index>(b.size());
        f.push_back({Eigen::MatrixXd::Identity(d, d), Eigen::VectorXd(eigen(b)), norm2(b) / 2});
    }
    return f;
}

workers random_ridges(int n, Eigen::Index d, double lambda, std::uint64_t seed) {
    workers f;
    std::uint64_t drawn = 0;
    auto const next = [&] { return 2 * laconic::key{seed}.uniform(drawn++) - 1; };
    for (int i = 0; i < n; ++i) {
        Eigen::MatrixXd a(8, d);
        Eigen::VectorXd y(8);
        for (Eigen::Index r = 0; r < 8; ++r) {
            for (Eigen::Index j = 0; j < d; ++j)
                a(r, j) = next() * std::pow(8.0, static_cast<double>(j) / static_cast<double>(d - 1));
            y[r] = 5 * next();
        }
        f.push_back({a.transpose() * a / 8 + lambda * Eigen::MatrixXd::Identity(d, d), a.transpose() * y / 8,
                     y.squaredNorm() / 16});
    }
    return f;
}

quadratic<> mean_of(workers const& f) {
    quadratic<> m = f.at(0);
    for (std::size_t i = 1; i < f.size(); ++i) {
        m.h += f[i].h;
        m.b += f[i].b;
        m.c += f[i].c;
    }
    auto const n = static_cast<double>(f.size());
    return {m.h / n, m.b / n, m.c / n};
}

laconic::problem constants(workers const& f) {
    auto const m = mean_of(f);
    laconic::problem p{m.dimension(),          static_cast<int>(f.size()), m.smoothness(), m.strong_convexity(), 0, 0,
                       f[0].strong_convexity()};
    for (auto const& each : f) {
        double const l = each.smoothness();
        p.largest_smoothness = std::max(p.largest_smoothness, l);
        p.least_strong_convexity = std::min(p.least_strong_convexity, each.strong_convexity());
        p.mean_square_smoothness += l * l / static_cast<double>(f.size());
    }
    p.mean_square_smoothness = std::sqrt(p.mean_square_smoothness);
    return p;
}

std::vector<laconic::key> keys_of_all_supports(laconic::rand_k<> const& c, std::size_t d) {
    double sets = 1;
    auto const k = c.k.of(d);
    for (std::size_t j = 0; j < k; ++j) sets = sets * static_cast<double>(d - j) / static_cast<double>(j + 1);
    std::map<std::vector<laconic::coordinate>, laconic::key> found;
    laconic::host on;
    laconic::detail::message_of<laconic::rand_k<>> m;
    for (std::uint64_t bits = 0; static_cast<double>(found.size()) < std::round(sets); ++bits) {
        c.blank(on, d, laconic::key{bits}, m);
        found.emplace(m.support, laconic::key{bits});
    }
    std::vector<laconic::key> keys;
    for (auto const& entry : found) keys.push_back(entry.second);
    return keys;
}

workers beznosikov() {
    workers f;
    for (Eigen::Index i = 0; i < 3; ++i) {
        Eigen::Vector3d a(2, 2, 2);
        a[i] = -3;
        f.push_back({2 * a * a.transpose() + 0.5 * Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero(), 0});
    }
    return f;
}

known_optimum::known_optimum(workers const& f) {
    auto const m = mean_of(f);
    Eigen::VectorXd const solution = solvers::solution(m.h, m.b);
    x.assign(solution.begin(), solution.end());
    value = m.value(x);
    for (auto const& each : f) {
        gradients.emplace_back(x.size());
        each.gradient(x, gradients.back());
    }
}

std::vector<std::vector<vec>> certain(std::vector<vec> const& gradients) {
    std::vector<std::vector<vec>> choices;
    for (auto const& g : gradients) choices.push_back({g});
    return choices;
}

double variance_of_choices(std::vector<std::vector<vec>> const& choices) {
    double variance = 0;
    for (auto const& options : choices) {
        auto const mean = mean_of(options);
        for (auto const& g : options)
            variance += distance2(g, mean) / static_cast<double>(options.size() * choices.size());
    }
    return variance;
}

expected_round::expected_round(laconic::rand_k<> const& c, double rate, double step, workers const& f, vec const& at,
                               std::vector<vec> const& known, known_optimum const& best)
    : expected_round(c, rate, step, certain(gradients(f, at)), at, known, best) {}

expected_round::expected_round(laconic::rand_k<> const& c, double rate, double step,
                               std::vector<std::vector<vec>> const& gradients, vec const& at,
                               std::vector<vec> const& known, known_optimum const& best) {
    using namespace laconic;
    auto const n = static_cast<double>(gradients.size());
    auto const d = at.size();
    auto const keys = keys_of_all_supports(c, d);
    host on;
    detail::message_of<rand_k<>> m;
    Eigen::VectorXd estimate = Eigen::VectorXd::Zero(Eigen::Index(d)), away = estimate;
    double variance = 0, covariance = 0;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        memory<> start(rate);
        start.start(d);
        if (rate != 0) {  // h_i, set by one full message
            messages::full_vector<double, host> all;
            for (double const v : known[i]) all.values.push_back(v / rate);
            start.update(on, std::span<double const>(all.values), all);
        }
        auto const share = 1 / static_cast<double>(keys.size() * gradients[i].size());
        Eigen::VectorXd mean_d = Eigen::VectorXd::Zero(Eigen::Index(d)), mean_h = mean_d;
        double squares = 0, products = 0;
        for (auto const& gradient : gradients[i])
            for (auto const from : keys) {
                auto mine = start;
                vec delta = gradient, estimate_of_one(mine.shift().begin(), mine.shift().end());
                mine.compensate(on, round_context{}, std::span<double>(delta));
                c(on, std::span<double const>(delta), from, m);
                estimate_of_one.resize(d);
                add_message(on, std::span<double>(estimate_of_one), 1.0, m);
                mine.update(on, std::span<double const>(delta), m);
                vec off(d);
                if (rate != 0)
                    for (std::size_t j = 0; j < d; ++j) off[j] = mine.shift()[j] - best.gradients[i][j];
                h += share * norm2(off) / n;
                mean_d += share * eigen(estimate_of_one);
                mean_h += share * eigen(off);
                squares += share * norm2(estimate_of_one);
                products += share * dot(estimate_of_one, off);
            }
        estimate += mean_d / n;
        away += mean_h / n;
        variance += (squares - mean_d.squaredNorm()) / (n * n);
        covariance += (products - mean_d.dot(mean_h)) / (n * n);
    }
    Eigen::VectorXd const next = eigen(at) - step * estimate - eigen(best.x);
    x = next.squaredNorm() + step * step * variance;
    cross = next.dot(away) - step * covariance;
}

std::optional<real_problem> real_data(int ranks) {
    auto const data = test_data("heart_scale");
    if (!data) return std::nullopt;
    double const lambda = 1 / double(data->samples());
    auto const n = static_cast<std::size_t>(ranks);
    std::vector<laconic::logistic_regression<>> f;
    for (std::size_t i = 0; i < n; ++i) f.emplace_back(data->part(i, n), lambda);
    laconic::logistic_regression<> const whole(*data, lambda);
    laconic::problem p{whole.dimension(), ranks, whole.smoothness(), lambda, 0, 0, lambda};
    for (auto const& each : f) {
        p.samples = each.samples();
        p.largest_smoothness = std::max(p.largest_smoothness, each.smoothness());
        p.mean_square_smoothness += square(each.smoothness()) / ranks;
        p.largest_sample_smoothness = std::max(p.largest_sample_smoothness, each.sample_smoothness());
    }
    p.mean_square_smoothness = std::sqrt(p.mean_square_smoothness);
    auto const best = laconic::find_optimum(whole, 0);
    return real_problem{f, p, known_optimum(best.x, best.value, gradients(f, best.x))};
}

laconic::any_recursion<> named(std::string const& method, laconic::problem const& p) {
    return laconic::parse_method(method).compose<double, laconic::host>(p);
}
laconic::any_recursion<> named(std::string const& method, laconic::problem const& p, laconic::elastic_net const& prox) {
    return laconic::parse_method(method).compose(p, prox);
}

task ridges(int n, Eigen::Index d, std::uint64_t seed) {
    auto const f = random_ridges(n, d, 1, seed);
    return task_of("ridge regressions", f, constants(f), known_optimum(f), vec(std::size_t(d), 1.0));
}

std::vector<task> tasks(int ranks) {
    std::vector<task> all{ridges(ranks, 6, 3)};
    if (auto const real = real_data(ranks))
        all.push_back(task_of("heart_scale", real->f, real->p, real->best, vec(13)));
    return all;
}

template class lockstep<laconic::any_recursion<>, laconic::any_objective<>>;
template std::vector<snapshot<double>> history(laconic::any_recursion<> const&, any_objectives const&, vec const&,
                                               std::size_t, std::uint64_t, laconic::threads::settings);

template class lockstep<common_recursion<>>;
template std::vector<snapshot<double>> history(common_recursion<> const&, workers const&, vec const&, std::size_t,
                                               std::uint64_t, laconic::threads::settings);

}  // namespace toys
