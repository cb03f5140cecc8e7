// SPDX-License-Identifier: Apache-2.0
// Ten workers without a server: each talks to its neighbours on a chain or ring only, and yet all find the optimum of
// the mean of their functions. How many rounds does that take, and how much do they send? --plot FILE.svg draws it.
#include <laconic/collective/consensus.hpp>
#include <laconic/decentralized/gadmm.hpp>
#include <laconic/decentralized/gossip.hpp>
#include <laconic/laconic.hpp>
#include <laconic/objective.hpp>

#include "common/drawn.hpp"
#include "common/program.hpp"

namespace {

using namespace laconic;
constexpr int workers = 10;

// 8 numbers, and a label that is a linear function of them and some noise.
double row(std::size_t j, std::vector<double>& x) {
    auto const draw = key{7}.child(j);
    double label = .3 * draw.uniform(8);
    for (std::size_t i = 0; i < 8; ++i) {
        x[i] = draw.uniform(i) - .5;
        label += (double(i) - 3) * x[i];
    }
    return label;
}

// Runs a method until the mean model is within 1e-4 of the optimum's value and no model is farther than 1e-2 from it.
template <class M>
void compete(char const* name, M const& method, dataset<double> const& data, std::vector<output::chart>& charts) {
    output::curve gap{name}, distance{name};
    double const least = find_optimum(ridge<>(data, 0)).value;
    threads::run(workers, [&](auto& comm) {
        ridge<> const mine(data.part(std::size_t(comm.rank()), workers), 0);
        std::vector<double> x(data.features());
        auto run = method.template start<double>(agree_on_problem(comm, mine), mine, comm, std::span(x), 1);
        consensus_report now;
        std::vector<double> sent(2);  // transmissions and kilobits, of all ranks together
        do {
            run.round();
            now = report_consensus(mine, run.x(), comm);  // for the table and the plot, so it is not counted
            sent = {double(run.sent().transmissions), double(run.sent().bits) / 1000};
            sum(comm, sent);
            if (comm.rank() > 0) continue;
            gap.points.emplace_back(sent[1], now.value_at_mean - least);
            distance.points.emplace_back(sent[1], now.distance);
        } while (run.rounds() < 20000 && (now.value_at_mean - least > 1e-4 || now.distance > 1e-2));
        if (comm.rank() == 0) std::printf("%-46s %6d %9.0f %9.1f\n", name, int(run.rounds()), sent[0], sent[1]);
    });
    charts[0].curves.push_back(gap);
    charts[1].curves.push_back(distance);
}

void compare(std::vector<output::chart>& charts) {
    charts = {{.title = "of the mean of all models", .x = "kilobits, of all workers", .y = "f - f*"},
              {.title = "of the farthest model", .x = "kilobits, of all workers", .y = "distance from the mean model"}};
    auto const data = drawn::data("drawn", 200, 8, row);
    std::printf("%-46s %6s %9s %9s\n", "", "rounds", "messages", "kilobits");
    compete("gadmm, a chain", gadmm{.rho = .1}, data, charts);
    compete("d_gadmm, a new chain every 5 rounds", d_gadmm{.rho = .1, .refresh = 5}, data, charts);
    compete("q_gadmm, a chain, changes in 4 bits a number", q_gadmm{.rho = .1, .bits = 4}, data, charts);
    compete("gadmm, a star, all messages by one worker", gadmm{.rho = .1, .over = graph::star(workers, 0)}, data,
            charts);
    compete("choco, a ring, models in full", choco<>{.step = 2, .decrease = 20, .gamma = 1}, data, charts);
    compete("choco, a ring, 2 numbers of 8", choco<top_k<>>{.compressor = {2}, .step = 2, .decrease = 20, .gamma = .5},
            data, charts);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Ten workers without a server find the optimum of the mean of their functions.", "decentralized");
    return output::run_and_draw(app, argc, argv, [](auto& charts) {
        compare(charts);
        return true;
    });
}
