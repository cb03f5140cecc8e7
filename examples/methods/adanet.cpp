// SPDX-License-Identifier: Apache-2.0
// AdaNet grows an ensemble of networks that predicts the labels of a table, over three ranks: two train candidates, one
// chooses. The table is the LIBSVM file of the argument; without one it is drawn here, and no real data. Errors are
// mean squares, and 1 is that of the mean label. --plot FILE.svg draws them over the rounds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/files.hpp"
#include "common/program.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/ensemble/adanet.hpp"
#include "laconic/objective/libsvm.hpp"
#include "laconic/objective/optimum.hpp"
#include "laconic/objective/regression.hpp"

namespace {

laconic::dataset<> drawn() {
    laconic::dataset<> data{"a table that is drawn, sin(2 a) + b c and noise", {}, {}};
    data.rows.resize(2000, 4);
    for (std::ptrdiff_t j = 0; j < 2000; ++j) {
        laconic::key const row{std::uint64_t(j)};
        double x[4];
        for (std::ptrdiff_t i = 0; i < 4; ++i) data.rows.insert(j, i) = x[i] = 4 * row.uniform(std::uint64_t(i)) - 2;
        data.labels.push_back(std::sin(2 * x[0]) + x[1] * x[2] + row.uniform(4) - 0.5);
    }
    return data;
}

template <class Column>
void standardise(Column&& x) {
    x.array() -= x.mean();
    if (double const spread = std::sqrt(x.squaredNorm() / double(x.size())); spread > 0) x /= spread;
}

// The rows in an order that is drawn, with columns and labels of mean 0 and variance 1 over all rows, and behind them a
// column of ones.
laconic::dataset<> prepared(laconic::dataset<> const& data) {
    Eigen::MatrixXd const from(data.rows);
    Eigen::MatrixXd x(from.rows(), from.cols() + 1);
    laconic::dataset<> result{data.name, {}, data.labels};
    std::vector<Eigen::Index> order(data.samples());
    std::iota(order.begin(), order.end(), Eigen::Index{0});
    for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[laconic::key{42}.below(i, i + 1)]);
    for (std::size_t i = 0; i < order.size(); ++i) {
        x.row(Eigen::Index(i)) << from.row(order[i]), 1;
        result.labels[i] = data.labels[std::size_t(order[i])];
    }
    for (Eigen::Index c = 0; c < from.cols(); ++c) standardise(x.col(c));
    standardise(Eigen::Map<Eigen::VectorXd>(result.labels.data(), x.rows()));
    result.rows = x.sparseView();
    return result;
}

double error(std::vector<double> const& z, std::vector<double> const& labels) {
    double sum = 0;
    for (std::size_t i = 0; i < z.size(); ++i) sum += (z[i] - labels[i]) * (z[i] - labels[i]) / double(z.size());
    return sum;
}

laconic::dataset<> read(std::string const& name) {
    std::istringstream file(files::read_unpacked(name));
    return laconic::read_libsvm<double>(file, name);
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
        auto const data = prepared(name.empty() ? drawn() : read(name));
        charts = {{.title = data.name, .x = "round", .y = "mean square", .logarithmic = false}};
        auto const [of_ridge, of_ensemble] = compare(data, charts[0]);
        return !name.empty() || of_ensemble < of_ridge;
    });
}
