// SPDX-License-Identifier: Apache-2.0
// low_rank in a reducer takes the rows of its layer, and starts from the factor that the layer has sent last.
#include "laconic/any/parse_reduction.hpp"
#include "support/everything.hpp"
#include "support/reducing.hpp"

using namespace reducing;

using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

unproved<error_feedback<low_rank<>>> const warm{error_feedback{low_rank<>{.rank = 2, .warm_start = true}}};
char const* const warm_text = "unproved(error_feedback(low_rank(rank=2, warm_start=yes)))";
// Tall, wide, a vector, and a matrix that has fewer numbers than its factors.
std::vector<layer> const layers{{"tall", 60, 12}, {"wide", 36, 4}, {"vector", 7}, {"small", 6, 2}};

matrix slow(int rank, int step, layer const& l) {  // it changes slowly
    auto const rows = Eigen::Index(std::max<std::size_t>(1, l.rows));
    matrix x(rows, Eigen::Index(l.size) / rows);
    for (Eigen::Index i = 0; i < x.size(); ++i) {
        auto const of = [&](std::uint64_t c) {
            return 2 * key{c}.child(std::uint64_t(rank)).child(l.size).uniform(std::uint64_t(i)) - 1;
        };
        x(i / x.cols(), i % x.cols()) = of(1) + 0.1 * step * of(2);
    }
    return x;
}
std::vector<double> numbers(matrix const& m) { return {m.data(), m.data() + m.size()}; }
Eigen::Map<matrix const> map(std::span<double const> x, matrix const& like) {
    return {x.data(), like.rows(), like.cols()};
}
// The projection of X on the span of X Q, or of the rows of X on that of X' Q, as PowerSGD has it.
matrix projected(matrix const& x, Eigen::MatrixXd const& q) {
    bool const tall = x.rows() >= x.cols();
    Eigen::MatrixXd const y = tall ? Eigen::MatrixXd(x * q) : Eigen::MatrixXd(x.transpose() * q);
    Eigen::MatrixXd const p =
        Eigen::HouseholderQR<Eigen::MatrixXd>(y).householderQ() * Eigen::MatrixXd::Identity(y.rows(), y.cols());
    return tall ? matrix(p * (p.transpose() * x)) : matrix((x * p) * p.transpose());
}

TEST_CASE("a message is the step of the power method from the factor that was sent last") {
    for (int const n : {1, 3})
        fibers::run(n, [&](fibers::member& comm) {
            auto reduce = reducer_of<double>(warm, comm, layers, {.seed = 4, .steps_vary = true});
            CHECK(reduce.layers()[0].reduction().compressor.rows == 12);
            CHECK(reduce.layers()[1].reduction().compressor.rows == 4);
            CHECK(reduce.layers()[2].reduction().compressor.rows == 1);
            CHECK(reduce.layers()[3].reduction().compressor.rows == 1);
            std::vector<Eigen::MatrixXd> q(layers.size());  // those that were sent last
            std::vector<matrix> e;
            for (auto const& l : layers) e.push_back(0 * slow(0, 0, l));
            for (int step = 0; step < 8; ++step) {
                bool const dense = step == 3, fails = step == 5;
                std::vector<matrix> delta;
                std::vector<std::vector<double>> x;
                for (std::size_t l = 0; l < layers.size(); ++l) {
                    delta.push_back(slow(comm.rank(), step, layers[l]));
                    x.push_back(numbers(delta[l]));
                    delta[l] += e[l];
                }
                if (fails && comm.rank() == n - 1) x[3][0] = std::numeric_limits<double>::infinity();
                auto const go = [&] { whole_step(reduce, x, {.dense = dense}); };
                if (fails) {
                    CHECK_THROWS_AS(go(), non_finite_error);
                    continue;
                }
                go();
                for (std::size_t l = 0; l < layers.size(); ++l) {
                    auto const left = map(reduce.layers()[l].feedback().residual(), delta[l]);
                    double const size = delta[l].norm();
                    matrix const sent = delta[l] - left;
                    if (dense || l > 1)
                        CHECK(left.norm() < 1e-12 * size);
                    else if (q[l].size() > 0)
                        CHECK((sent - projected(delta[l], q[l])).norm() < 1e-10 * size);
                    if (!dense) {
                        auto const& m = reduce.layers()[l].message();
                        q[l] = Eigen::Map<Eigen::MatrixXd const>(
                            m.shorter().data(), Eigen::Index(m.shorter().size() / m.rank), Eigen::Index(m.rank));
                    }
                    e[l] = left;
                    Eigen::VectorXd mean = Eigen::Map<Eigen::VectorXd const>(sent.data(), sent.size()) / n;
                    std::vector<double> const mine(mean.begin(), mean.end());
                    comm.all_gather({std::as_bytes(std::span(mine))});
                    mean.setZero();
                    for (int r = 0; r < n; ++r) {
                        std::vector<double> theirs(mine.size());
                        std::memcpy(theirs.data(), comm.from(r).bytes.data(), 8 * theirs.size());
                        mean += Eigen::Map<Eigen::VectorXd const>(theirs.data(), mean.size());
                    }
                    CHECK((map(x[l], sent).reshaped<Eigen::RowMajor>() - mean).norm() < 1e-10 * size);
                }
            }
        });
}

// A matrix near one of rank 2, which changes slowly.
matrix decaying(int rank, int step, layer const& l) {
    auto const x = slow(rank, 0, l);
    Eigen::JacobiSVD<Eigen::MatrixXd> const of(x, Eigen::ComputeThinU | Eigen::ComputeThinV);
    Eigen::VectorXd s = of.singularValues();
    for (Eigen::Index i = 0; i < s.size(); ++i) s[i] = std::pow(0.4, i);
    return of.matrixU() * s.asDiagonal() * of.matrixV().transpose() + 0.01 * slow(rank, step, l);
}
// The energy of the difference between the estimates and the mean gradients, in all steps.
double error_of_estimates(std::string_view text, int n) {
    double error = 0;
    fibers::run(n, [&](fibers::member& comm) {
        auto reduce = reducer_of<double>(parse_reduction<double>(text), comm, layers, {.seed = 9, .probe_every = 1});
        for (int step = 0; step < 30; ++step) {
            std::vector<std::vector<double>> x;
            for (auto const& l : layers) x.push_back(numbers(decaying(comm.rank(), step, l)));
            whole_step(reduce, x);
            auto const probe = reduce.statistics().last_probe;
            if (comm.rank() == 0) error += std::pow(probe.relative_error * probe.gradient_norm, 2);
        }
    });
    return error;
}
TEST_CASE("where matrices are near low rank, a warm start has a smaller error than a drawn one") {
    for (int const n : {1, 3})
        CHECK(error_of_estimates(warm_text, n) < 0.7 * error_of_estimates("error_feedback(low_rank(rank=2))", n));
}

TEST_CASE("a restored reducer starts from the factors that were saved, bit for bit, and on other ranks anew") {
    auto const all_steps = [](auto const& how) {
        states saved(3);
        fibers::run(3, [&](fibers::member& comm) {
            auto const steps = [&](auto& reduce, int first, int last) {
                std::vector<std::vector<double>> x;
                for (int step = first; step < last; ++step) {
                    x.clear();
                    for (auto const& l : layers) x.push_back(numbers(slow(comm.rank(), step, l)));
                    whole_step(reduce, x);
                }
                return x;
            };
            auto reduce = reducer_of<double>(how, comm, layers);
            steps(reduce, 0, 4);
            auto const state = reduce.save();
            saved[std::size_t(comm.rank())] = state;
            auto const x = steps(reduce, 4, 7);
            auto again = reducer_of<double>(how, comm, layers);
            again.restore(state);
            CHECK(steps(again, 4, 7) == x);
            reduce.restore(state);  // in mid-run
            CHECK(steps(reduce, 4, 7) == x);
        });
        fibers::run(2, [&](fibers::member& comm) {
            auto reduce = reducer_of<double>(how, comm, layers);
            auto first = reducer_of<double>(how, comm, layers);
            reduce.restore(saved);
            CHECK(resume(first, saved).empty());  // which begins anew
            std::vector<std::vector<double>> x, y;
            for (auto const& l : layers) x.push_back(numbers(slow(comm.rank(), 5, l)));
            y = x;
            whole_step(reduce, x), whole_step(first, y);
            CHECK(x == y);
        });
    };
    all_steps(warm);
    all_steps(parse_reduction<double>(warm_text));
}

TEST_CASE("over nodes a rank's share of a matrix is whole rows") {
    // The rows of each third are multiples of one row, so that one factor is exact.
    std::vector<layer> const thirds{{"w", 24, 6}, {"v", 7}};
    on_nodes(2, 3, [&](auto& nodes, auto& comm) {
        reducer reduce(error_feedback{low_rank<>{.rank = 1}}, nodes, thirds, {.seed = 1});
        CHECK(reduce.layers()[0].size() == 8);
        CHECK(reduce.layers()[0].reduction().compressor.rows == 2);
        std::vector<float> w(24), v(7, 1.0f), mean(24);
        for (std::size_t i = 0; i < 24; ++i) {
            auto const row = i / 4, third = row / 2;
            mean[i] = float(1 + row) * float(key{third}.uniform(i % 4) - 0.5);
            w[i] = mean[i] * float(comm.rank()) / 2.5f;
        }
        reduce.start(0, w), reduce.start(1, v), reduce.finish();
        for (std::size_t i = 0; i < 24; ++i) CHECK(w[i] == doctest::Approx(mean[i]).epsilon(1e-5));
        for (float const x : v) CHECK(x == doctest::Approx(1).epsilon(1e-5));
        for (float const x : reduce.residual(0)) CHECK(std::abs(x) < 1e-6f);
    });
    on_nodes(1, 4, [](auto& nodes, auto& comm) {  // more ranks than rows
        reducer reduce(error_feedback{low_rank<>{.rank = 1}}, nodes, {{"w", 30, 3}});
        std::vector<float> w(30, float(comm.rank()));
        reduce.start(0, w), reduce.finish();
        for (float const x : w) CHECK(x == doctest::Approx(1.5).epsilon(1e-5));
    });
}

TEST_CASE(
    "rows that do not suit a layer, or other ranks' rows, are refused, and so is a warm start without a theorem") {
    auto const refused = [](auto const& how, std::vector<layer> const& of) {
        return error_of_all(2, [&](auto& comm) { reducer reduce(how, comm, of); });
    };
    CHECK(refused(plain{}, {{"w", 10, 3}}) == "layer w: 10 numbers are no matrix of 3 rows");
    std::string why;
    on_nodes(1, 2, [&](auto& nodes, auto& comm) {
        auto const text = error_of([&] { reducer reduce(plain{}, nodes, {{"w", 10, 3}}); });
        if (comm.rank() == 0) why = text;
    });
    CHECK(why == "layer w: 10 numbers are no matrix of 3 rows");
    on_nodes(1, 2, [&](auto& nodes, auto& comm) {
        CHECK(error_of([&] {
                  reducer reduce(plain{}, nodes, {{"w", 12, 3 - comm.rank()}});
              }).find("12 in 3 rows") != std::string::npos);
    });
    CHECK(refused(error_feedback{low_rank<>{.rank = 1, .warm_start = true}}, {{"w", 40, 5}}).find("unproved{") !=
          std::string::npos);
    CHECK(error_of_all(2, [](auto& comm) {
              reducer reduce(error_feedback{low_rank<>{.rank = 1}}, comm, {{"w", 40, comm.rank() == 0 ? 5 : 4}});
          }).find("low_rank(rows=5, rank=1)") != std::string::npos);
    // Rows that a compressor states are kept.
    fibers::run(1, [](auto& comm) {
        reducer reduce(error_feedback{low_rank{10, 1}}, comm, {{"w", 40, 5}});
        CHECK(reduce.layers()[0].reduction().compressor.rows == 10);
    });
}
