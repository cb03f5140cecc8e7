// SPDX-License-Identifier: Apache-2.0
// Ridge logistic regression with ensmallen's optimizers over four ranks, each with rows of its own: L-BFGS on the exact
// mean, and SGD on estimates of it from short messages.
#define ENS_OLD_SEPARABLE_STEP_BEHAVIOR  // ensmallen 3 takes steps of the length that it is given, as 2 does
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <ensmallen.hpp>
#include <laconic/reduce.hpp>
#include <random>
#include <span>

namespace {

struct rows {  // the sum over them of log(1 + exp(-y a'x)) + |x|^2 / 200, as ensmallen's functions are
    arma::mat a;
    arma::rowvec y;

    double EvaluateWithGradient(arma::mat const& x, std::size_t first, arma::mat& g, std::size_t n) const {
        auto const part = a.cols(first, first + n - 1);
        arma::rowvec const of = y.subvec(first, first + n - 1), margin = of % (x.t() * part);
        g = part * (-of / (1 + arma::exp(margin))).t() + double(n) / 100 * x;
        return arma::accu(arma::log1p(arma::exp(-margin))) + double(n) / 200 * arma::dot(x, x);
    }
    double EvaluateWithGradient(arma::mat const& x, arma::mat& g) const {
        return EvaluateWithGradient(x, 0, g, a.n_cols);
    }
};

std::span<double> numbers(arma::mat& x) { return {x.memptr(), x.n_elem}; }

struct exact_sum {  // of all ranks' functions: the same bits on all ranks, so that they take the same steps
    rows const& mine;
    laconic::threads::member& comm;

    double EvaluateWithGradient(arma::mat const& x, arma::mat& g) {
        std::array<double, 1> value{mine.EvaluateWithGradient(x, g)};
        laconic::sum(comm, value);
        laconic::sum(comm, numbers(g));
        return value[0];
    }
};

template <class Reducer>
struct estimated_mean {  // the gradient alone: the value is this rank's
    rows const& mine;
    Reducer& reduce;

    std::size_t NumFunctions() const { return mine.a.n_cols; }
    void Shuffle() {}
    double EvaluateWithGradient(arma::mat const& x, std::size_t first, arma::mat& g, std::size_t n) {
        double const value = mine.EvaluateWithGradient(x, first, g, n);
        reduce(numbers(g));
        return value;
    }
};

rows drawn(std::size_t dimension, std::size_t count) {
    std::mt19937 bits(1);
    std::normal_distribution<double> normal;
    rows all{arma::mat(dimension, count), arma::rowvec(count)};
    all.a.imbue([&] { return normal(bits); });
    arma::vec rule(dimension);
    rule.imbue([&] { return normal(bits); });
    all.y = arma::sign(rule.t() * all.a);
    return all;
}

}  // namespace

int main() {
    rows all = drawn(100, 4000);
    arma::mat optimum(100, 1, arma::fill::zeros), none;
    ens::L_BFGS().Optimize(all, optimum);  // by one rank with all rows
    double const least = all.EvaluateWithGradient(optimum, none);
    laconic::threads::run(4, [&](laconic::threads::member& comm) {
        std::size_t const first = 1000 * std::size_t(comm.rank());
        rows mine{all.a.cols(first, first + 999), all.y.subvec(first, first + 999)};
        exact_sum sum{mine, comm};
        arma::mat x(100, 1, arma::fill::zeros), g;
        ens::L_BFGS().Optimize(sum, x);
        if (comm.rank() == 0)
            std::printf("L-BFGS: the optimum to 8 digits: %s\n",
                        arma::norm(x - optimum) < 1e-8 * arma::norm(optimum) ? "yes" : "no");

        x.zeros();
        laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.1}}, comm, numbers(x));
        estimated_mean<decltype(reduce)> mean{mine, reduce};
        // Ranks end together: as many rows on each, and no end by the value (a tolerance below 0).
        ens::StandardSGD(0.001, 50, 100 * 1000, -1, false).Optimize(mean, x);
        auto const did = reduce.statistics();
        if (comm.rank() == 0)
            std::printf("SGD: %.2f times the least value, %d bytes a step of %d\n",
                        all.EvaluateWithGradient(x, g) / least, int(did.bytes_sent / did.steps),
                        int(did.bytes_in_full / did.steps));
    });
}
