// SPDX-License-Identifier: Apache-2.0
// Second derivatives against bad conditioning: logistic regression whose features differ a hundredfold in size, on 8
// workers with rows of their own. Methods that see gradients alone need hundreds of rounds or thousands; FedNL learns
// the Hessian from compressed differences, and DS-LSR1 multiplies it by a few drawn directions in each round.
// --plot FILE.svg draws f - f*.
#include <laconic/laconic.hpp>
#include <laconic/objective.hpp>
#include <laconic/second_order/ds_lsr1.hpp>
#include <laconic/second_order/fednl.hpp>

#include "common/drawn.hpp"
#include "common/program.hpp"

namespace {

using namespace laconic;
constexpr std::size_t workers = 8, rows = 100, features = 40;  // rows of one worker
constexpr double lambda = 1e-4, gap = 1e-10;

// A point on either side of a plane, or on the wrong one.
double point(std::size_t j, std::vector<double>& x) {
    double side = key{5}.child(1).uniform(j) - .5;
    for (std::size_t i = 0; i < features; ++i) {
        double const v = 2 * key{5}.uniform(j * features + i) - 1;
        side += v / double(1 + i % 5);
        x[i] = 3 * v * std::pow(.01, double(i) / (features - 1));
    }
    return side > 0 ? 1 : -1;
}

// Runs a method until f - f* is that small, and prints the rounds and what a worker has sent by then. Returns whether
// it came there.
template <class M>
bool run(char const* name, M const& method, output::chart& plot) {
    auto const data = drawn::data("drawn", workers * rows, features, point);
    double const least = find_optimum(logistic_regression<>(data, lambda)).value;
    std::vector<trace_point> trace;
    threads::run(int(workers), [&](auto& comm) {
        logistic_regression<> const f(data.part(std::size_t(comm.rank()), workers), lambda);
        std::vector<double> x(features);
        std::vector<trace_point> mine;
        descend(method, f, x, comm, {.rounds = 1500, .seed = 0, .target = least + gap, .trace = &mine});
        if (comm.rank() == 0) trace = mine;
    });
    output::curve gaps{name};
    for (auto const& at : trace) gaps.points.emplace_back(at.bits_up / 8e3, at.value - least);
    plot.curves.push_back(gaps);
    auto const [kilobytes, far] = gaps.points.back();
    std::printf("%-32s %6d rounds %9.1f kB a worker, f - f* = %.0e\n", name, int(trace.back().round), kilobytes, far);
    return far <= gap;
}

// Returns whether all that see second derivatives came there.
bool compare(output::chart& plot) {
    run("gd", gd{}, plot);
    run("diana(natural)", diana{natural{}}, plot);
    run("proxskip", proxskip{}, plot);
    return run("fednl(identity)", fednl{identity{}}, plot) && run("fednl(top_k(80))", fednl{top_k{80}}, plot) &&
           run("fednl(natural)", fednl{natural{}}, plot) && run("ds_lsr1(memory=40)", ds_lsr1<>{.memory = 40}, plot) &&
           run("ds_lsr1(memory=40), S'Y travels", ds_lsr1<>{.memory = 40, .curvature = curvature_transport::ship_m},
               plot);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Second derivatives against bad conditioning, on 8 workers.", "second_order");
    return output::run_and_draw(app, argc, argv, [](auto& charts) {
        charts = {{.title = "logistic regression, 8 workers", .x = "kB sent per worker", .y = "f - f*"}};
        return compare(charts[0]);
    });
}
