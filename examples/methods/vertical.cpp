// SPDX-License-Identifier: Apache-2.0
// Vertical learning: a bank, a shop and an insurer know different things about the same 400 customers, and the bank
// alone knows who paid back. Together they fit one model; all that travels is one number for each customer. FedBCD
// takes several local steps between two exchanges, at once (p) or in turns (s), and messages can be compressed.
// --plot FILE.svg draws how far they are from the minimum.
#include <laconic/laconic.hpp>
#include <laconic/objective.hpp>
#include <laconic/vertical/fed_bcd.hpp>

#include "common/drawn.hpp"
#include "common/program.hpp"

namespace {

using namespace laconic;
constexpr std::size_t customers = 400, columns_each = 8, parties = 3;
constexpr double lambda = 1e-2, gap = 1e-6;

// All columns of a customer, which depend on each other a little, and a label that depends on all of them.
double customer(std::size_t i, std::vector<double>& x) {
    key const here = key{1}.child(i);
    double label = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
        x[j] = here.uniform(j) - .5 + .6 * (here.uniform(1000 + j % columns_each) - .5);
        label += (double(j % 5) - 2) * x[j];
    }
    return label + .3 * (here.uniform(2000) - .5);
}

// Runs a method until f is near its minimum; returns whether it came there.
template <class Method>
bool run(char const* name, Method const& method, output::chart& plot) {
    auto const data = drawn::data("customers", customers, parties * columns_each, customer);
    ridge<> const f(data, lambda);
    double const least = find_optimum(f).value;
    bool reached = false;
    output::curve gaps{name};
    threads::run(parties, [&](auto& comm) {
        auto const r = std::size_t(comm.rank());
        auto mine = columns(data, r * columns_each, (r + 1) * columns_each, "party " + std::to_string(r));
        if (r > 0) mine.labels.clear();  // rank 0, the bank, has them
        linear_party<squared_loss, double> const party(mine, lambda);

        metered wire(comm);
        std::vector<double> x(columns_each);
        auto const kilobytes = [&] { return double(wire.bytes_sent() + wire.bytes_broadcast()) / 1000; };
        auto loop = method.start(agree_on_problem(comm, party), party, wire, std::span(x), 0);
        for (double far = 1; far > gap && loop.rounds() < 5000;) {
            loop.round();
            // f at the parties' x as they are; what is gathered for that is not counted.
            std::vector<double> all(parties * columns_each);
            std::ranges::copy(x, all.begin() + std::ptrdiff_t(r * columns_each));
            sum(comm, all);
            far = f.value(all) - least;
            if (r > 0) continue;
            reached = far <= gap;
            gaps.points.emplace_back(kilobytes(), far);
        }
        if (r == 0) std::printf("%-34s %5d rounds, %8.1f kB sent by the bank\n", name, int(loop.rounds()), kilobytes());
    });
    plot.curves.push_back(gaps);
    return reached;
}

bool compare(output::chart& plot) {
    using compressed = fed_bcd<party_order::sequential, ef21_shift<top_k<>>>;
    return run("p, 1 local step (gradient descent)", fed_bcd<>{.step = 1}, plot) &&
           run("p, 5 local steps", fed_bcd<>{.local_steps = 5, .step = 1}, plot) &&
           run("p, 20 local steps and prox", fed_bcd<>{.local_steps = 20, .step = 1, .prox = .3}, plot) &&
           run("s, 5 local steps", fed_bcd<party_order::sequential>{.local_steps = 5, .step = 1}, plot) &&
           run("s, 20 local steps", fed_bcd<party_order::sequential>{.local_steps = 20, .step = 1}, plot) &&
           run("s, 5 local steps, top 10 %", compressed{.local_steps = 5, .step = 1, .send = {top_k<>{.1}}}, plot);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Three parties know different things about the same customers, and fit one model.", "vertical");
    return output::run_and_draw(app, argc, argv, [](auto& charts) {
        charts = {{.title = "FedBCD, three parties", .x = "kB sent by the bank", .y = "f - f*", .least_y = 1e-11}};
        return compare(charts[0]);
    });
}
