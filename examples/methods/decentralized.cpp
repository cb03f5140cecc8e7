// SPDX-License-Identifier: Apache-2.0
// Ten workers without a server: each talks to its neighbours on a chain or ring only, and yet all find the optimum of
// the mean of their functions. How many rounds does that take, and how much do they send? --plot FILE.svg draws it.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

#include "common/program.hpp"
#include "laconic/collective/agreed_problem.hpp"
#include "laconic/collective/consensus.hpp"
#include "laconic/comm/topology.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/decentralized/gadmm.hpp"
#include "laconic/decentralized/gossip.hpp"
#include "laconic/laconic.hpp"
#include "laconic/objective.hpp"

using namespace laconic;

namespace {

constexpr int workers = 10;

// 200 rows of 8 numbers, whose labels are a linear function of them and some noise.
dataset<double> drawn_data() {
    dataset<double> data{"drawn", dataset<double>::matrix(200, 8), {}};
    for (int j = 0; j < 200; ++j) {
        auto const draw = key{7}.child(std::uint64_t(j));
        double label = .3 * draw.uniform(8);
        for (int i = 0; i < 8; ++i) {
            double const number = draw.uniform(std::uint64_t(i)) - .5;
            data.rows.insert(j, i) = number;
            label += (i - 3) * number;
        }
        data.labels.push_back(label);
    }
    data.rows.makeCompressed();
    return data;
}

// What all ranks together have sent.
traffic sent_by_all(traffic const& mine, threads::member& comm) {
    comm.all_gather({std::as_bytes(std::span(&mine, 1))});
    traffic all;
    for (int r = 0; r < comm.size(); ++r) {
        traffic theirs;
        std::memcpy(&theirs, comm.from(r).bytes.data(), sizeof theirs);
        all.transmissions += theirs.transmissions;
        all.bits += theirs.bits;
    }
    return all;
}

// Runs a method until the mean model is within 1e-4 of the optimum's value and no model is farther than 1e-2 from it.
template <class M>
void compete(char const* name, M const& method, dataset<double> const& data, std::vector<output::chart>& charts) {
    output::curve gap{name}, distance{name};
    double const least = find_optimum(ridge<>(data, 0)).value;
    threads::run(
        workers,
        [&](threads::member& comm) {
            ridge<> const mine(data.part(std::size_t(comm.rank()), workers), 0);
            std::vector<double> x(data.features());
            auto run = method.template start<double>(agree_on_problem(comm, mine), mine, comm, std::span(x), 1);
            consensus_report now;
            traffic sent;
            do {
                run.round();
                now = report_consensus(mine, run.x(), comm);  // for the table and the plot, so it is not counted
                sent = sent_by_all(run.sent(), comm);
                if (comm.rank() > 0) continue;
                gap.points.emplace_back(double(sent.bits) / 1000, now.value_at_mean - least);
                distance.points.emplace_back(double(sent.bits) / 1000, now.distance);
            } while (run.rounds() < 20000 && (now.value_at_mean - least > 1e-4 || now.distance > 1e-2));
            if (comm.rank() == 0)
                std::printf("%-46s %6.0f %9.0f %9.1f\n", name, double(run.rounds()), double(sent.transmissions),
                            double(sent.bits) / 1000);
        },
        {});
    charts[0].curves.push_back(gap);
    charts[1].curves.push_back(distance);
}

void compare(std::vector<output::chart>& charts) {
    charts = {{.title = "of the mean of all models", .x = "kilobits, of all workers", .y = "f - f*"},
              {.title = "of the farthest model", .x = "kilobits, of all workers", .y = "distance from the mean model"}};
    auto const data = drawn_data();
    std::printf("%-46s %6s %9s %9s\n", "", "rounds", "messages", "kilobits");
    compete("gadmm, a chain", gadmm{.rho = .1}, data, charts);
    compete("d_gadmm, a new chain every 5 rounds", d_gadmm{.rho = .1, .refresh = 5}, data, charts);
    compete("q_gadmm, a chain, changes in 4 bits a number", q_gadmm{.rho = .1, .bits = 4}, data, charts);
    compete("gadmm, a star, all messages by one worker", gadmm{.rho = .1, .over = graph::star(workers, 0)}, data,
            charts);
    compete("choco, a ring, models in full", choco<>{.step = 2, .decrease = 20, .gamma = 1}, data, charts);
    compete("choco, a ring, 2 numbers of 8", choco<top_k<>>{.compressor = {2}, .step = 2, .decrease = 20, .gamma = .5},
            data, charts);

    graph_schedule places({.refresh = 1}, workers, key{1});
    auto const at = places.positions_of(1);
    chain_builder chain;
    auto const order = chain(chain_by::nearest, at, key{});
    for (double const bits : {64. * 8, 128 + 4. * 8})
        std::printf(
            "A round over a chain of radios in 250 m x 250 m, %3.0f bits a message: %.3g J by Shannon's formula\n",
            bits, radio{}.chain(at, order, bits, radio_pays::farthest_neighbour));
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Ten workers without a server find the optimum of the mean of their functions.", "decentralized");
    return output::run_and_draw(app, argc, argv, [](auto& charts) {
        compare(charts);
        return true;
    });
}
