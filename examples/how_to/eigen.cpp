// SPDX-License-Identifier: Apache-2.0
// Eigen's vectors and matrices are reduced as they are.
#include <Eigen/Core>
#include <cstdio>
#include <laconic/reduce.hpp>

int main() {
    laconic::threads::run(4, [](auto& comm) {
        Eigen::MatrixXf gradient = Eigen::MatrixXf::Constant(20, 50, static_cast<float>(comm.rank()));
        laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.1}}, comm, gradient);  // as one vector of 1000
        reduce(gradient);
        Eigen::VectorXd x = Eigen::VectorXd::Ones(3);
        laconic::sum(comm, x);
        auto column = gradient.col(7);  // a view of numbers that lie one after another
        laconic::mean(comm, column);
        if (comm.rank() == 0)
            std::printf("an estimate of %td numbers, whose sum is %g; x[0] = %g\n", gradient.size(),
                        static_cast<double>(gradient.sum()), x[0]);
    });
}
