// SPDX-License-Identifier: Apache-2.0
// Second derivatives against bad conditioning: logistic regression whose features differ a hundredfold in size, on 8
// workers with rows of their own. Methods that see gradients alone need a thousand rounds and more; FedNL learns the
// Hessian from compressed differences, and DS-LSR1 multiplies it by a few drawn directions in each round.
// --plot FILE.svg draws the gradient's norm.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <laconic/collective/agreed_problem.hpp>
#include <laconic/laconic.hpp>
#include <span>
#include <vector>

#include "common/program.hpp"
#include "laconic/objective/regression.hpp"
#include "laconic/second_order/ds_lsr1.hpp"
#include "laconic/second_order/fednl.hpp"

namespace {

using namespace laconic;
constexpr int workers = 8;
constexpr std::size_t features = 40, rows = 100;
constexpr double goal = 1e-8;  // of the gradient's norm

// Points on either side of a plane, some of them on the wrong one.
logistic_regression<> objective_of(int rank) {
    key const draw = key{5}.child(std::uint64_t(rank));
    dataset<double> data{"drawn", {}, {}};
    data.rows.resize(rows, features);
    for (std::size_t j = 0; j < rows; ++j) {
        double side = draw.child(1).uniform(j) - .5;
        for (std::size_t i = 0; i < features; ++i) {
            double const v = 2 * draw.uniform(j * features + i) - 1;
            side += v / double(1 + i % 5);
            data.rows.insert(int(j), int(i)) = 3 * v * std::pow(.01, double(i) / (features - 1));
        }
        data.labels.push_back(side > 0 ? 1 : -1);
    }
    return {data, 1e-4};
}

// Rounds until the mean gradient is that small, and what a worker has sent by then.
void report(std::uint64_t rounds, output::curve const& norms) {
    auto const [kilobytes, norm] = norms.points.back();
    std::printf("%-32s %6llu rounds %9.1f kB a worker, |grad f| = %.0e\n", norms.name.c_str(),
                static_cast<unsigned long long>(rounds), kilobytes, norm);
}
// The norm of f's gradient, on all workers; what that takes is not counted.
template <class C>
struct measure {
    reducer<plain<>, C, double> mean;
    std::vector<double> g = std::vector<double>(features);

    explicit measure(C& comm) : mean(plain{}, comm, features) {}
    double operator()(logistic_regression<> const& f, std::span<double const> x) {
        f.gradient(x, g);
        mean(g);
        double square = 0;
        for (double const v : g) square += v * v;
        return std::sqrt(square);
    }
};
template <class M>
void by_gradients(char const* name, M const& method, output::chart& plot) {
    output::curve norms{name};
    threads::run(workers, [&](threads::member& comm) {
        auto const f = objective_of(comm.rank());
        std::vector<double> x(features);
        metered wire(comm);
        measure norm(comm);
        auto const result = descend(method, f, x, wire, {.rounds = 1500, .seed = 0}, [&](auto const& now) {
            if (now.round % 10 != 0) return true;
            double const last = norm(f, now.x);
            if (comm.rank() == 0) norms.points.emplace_back(double(wire.bytes_sent()) / 1e3, last);
            return last > goal;
        });
        if (comm.rank() == 0) report(result.rounds, norms);
    });
    plot.curves.push_back(norms);
}
template <class M>
void by_hessians(char const* name, M const& method, output::chart& plot) {
    output::curve norms{name};
    threads::run(workers, [&](threads::member& comm) {
        auto const f = objective_of(comm.rank());
        std::vector<double> x(features);
        metered wire(comm);
        measure norm(comm);
        auto run = method.template start<double>(agree_on_problem(comm, f), f, wire, std::span<double>(x), 1);
        for (double last = goal + 1; last > goal && run.rounds() < 500;) {
            run.round();
            last = norm(f, x);
            if (comm.rank() == 0) norms.points.emplace_back(double(wire.bytes_sent()) / 1e3, last);
        }
        if (comm.rank() == 0) report(run.rounds(), norms);
    });
    plot.curves.push_back(norms);
}

void compare(output::chart& plot) {
    by_gradients("gd", gd{}, plot);
    by_gradients("diana(natural)", diana{natural{}}, plot);
    by_gradients("proxskip", proxskip{}, plot);
    by_hessians("fednl(identity)", fednl{identity{}}, plot);
    by_hessians("fednl(top_k(80))", fednl{top_k{80}}, plot);
    by_hessians("fednl(natural)", fednl{natural{}}, plot);
    by_hessians("ds_lsr1(memory=40)", ds_lsr1<>{.memory = 40}, plot);
    by_hessians("ds_lsr1(memory=40), S'Y travels", ds_lsr1<>{.memory = 40, .curvature = curvature_transport::ship_m},
                plot);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Second derivatives against bad conditioning, on 8 workers.", "second_order");
    return output::run_and_draw(app, argc, argv, [](auto& charts) {
        charts = {{.title = "logistic regression, 8 workers", .x = "kB sent per worker", .y = "|grad f|"}};
        compare(charts[0]);
        return true;
    });
}
