// SPDX-License-Identifier: Apache-2.0
// AdaNet grows an ensemble of networks that predicts the labels of a table, over three ranks: two train candidates, one
// chooses. The table is the LIBSVM file of the argument; without one it is drawn here, and no real data. Errors are
// mean squares, and 1 is that of the mean label. --plot FILE.svg draws them over the rounds.
#include <laconic/ensemble/adanet.hpp>
#include <laconic/objective.hpp>
#include <laconic/reduce.hpp>

#include "common/program.hpp"
#include "table.hpp"

namespace {

double error(std::vector<double> const& z, std::vector<double> const& labels) {
    double sum = 0;
    for (std::size_t i = 0; i < z.size(); ++i) sum += (z[i] - labels[i]) * (z[i] - labels[i]) / double(z.size());
    return sum;
}

// Returns the errors of ridge regression and of the ensemble.
std::pair<double, double> compare(laconic::dataset<> const& data, output::chart& plot) {
    std::size_t const rows = data.samples(), split = rows * 4 / 5;
    auto const train = data.slice(0, split, "train"), test = data.slice(split, rows, "test");
    std::printf("%s: %zu rows for training, %zu for testing\n", data.name.c_str(), split, rows - split);

    laconic::ridge<> const linear(train, 1e-3);
    auto const best = laconic::find_optimum(linear);
    std::vector<double> z(test.samples());
    for (std::size_t i = 0; i < z.size(); ++i)
        z[i] = test.rows.row(Eigen::Index(i))
                   .dot(Eigen::Map<Eigen::VectorXd const>(best.x.data(), Eigen::Index(best.x.size())));
    double const baseline = error(z, test.labels);
    std::printf("ridge regression            test error %.4f\n", baseline);

    double reached = 0;
    output::curve objective{"F, on the training rows"}, errors{"error on the test rows"};
    laconic::adanet const how{.width = 32, .steps = 3000, .lambda = 2e-3};
    laconic::threads::run(3, [&](laconic::threads::member& comm) {
        laconic::metered wire(comm);
        auto ensemble = how.start(train, laconic::squared_output<>(train), wire, 1);
        while (ensemble.rounds() < 4 && !ensemble.stopped()) {
            ensemble.round();
            if (comm.rank() > 0) continue;
            reached = error(ensemble.predict(test), test.labels);
            auto const round = double(ensemble.rounds());
            objective.points.emplace_back(round, ensemble.look().value());
            errors.points.emplace_back(round, reached);
            std::printf("round %d: F %.4f, test error %.4f, members", int(ensemble.rounds()), ensemble.look().value(),
                        reached);
            for (auto const& m : ensemble.look().members) std::printf(" %.2f x depth %zu", m.weight, m.depth);
            std::printf("; rank 0 received %llu bytes\n",
                        static_cast<unsigned long long>(wire.bytes_gathered() + wire.bytes_received()));
        }
    });
    plot.curves = {objective, errors};
    return {baseline, reached};
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("AdaNet grows an ensemble of networks over three ranks.", "adanet");
    std::string name;
    app.add_option("DATA", name, "a table as LIBSVM text (none: one is drawn)");
    return output::run_and_draw(app, argc, argv, [&](auto& charts) {
        auto const data = table::named(name);
        charts = {{.title = data.name, .x = "round", .y = "mean square", .logarithmic = false}};
        auto const [of_ridge, of_ensemble] = compare(data, charts[0]);
        return !name.empty() || of_ensemble < of_ridge;
    });
}
