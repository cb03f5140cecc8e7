// SPDX-License-Identifier: Apache-2.0
// Mistakes at a reducer, and the line that says what to change. See CMakeLists.txt here.
#include <Eigen/Core>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "laconic/comm/threads.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/hierarchy.hpp"
#include "laconic/reducer.hpp"

// expect TEMPORARY: x is a temporary that owns its numbers
// expect TEMPORARY_ARRAY: x is a temporary that owns its numbers
// expect TEMPORARY_OF_EIGEN: x is a temporary that owns its numbers
// expect MOVED: x is a temporary that owns its numbers
// expect TEMPORARY_IN_A_CALL: x is a temporary that owns its numbers
// expect TEMPORARY_OVER_NODES: x is a temporary that owns its numbers
// expect CONST: x is const: a reducer replaces its numbers by the estimate
// expect CONST_VIEW: x is const
// expect SCALED: an expression, such as 2 \* x of Eigen's, is first assigned to a vector
// expect ROW: a reducer takes a vector whose numbers lie one after another in memory
// expect POINTER: a reducer takes a vector whose numbers lie one after another in memory
// expect DOUBLE_INTO_FLOAT: x holds double, and this reducer computes in float: .*reducer_of<double>
// expect FLOAT_INTO_DOUBLE: a reducer of float takes float and numbers of 16 bits, one of double takes double
// expect INT_INTO_FLOAT: a reducer of float takes float and numbers of 16 bits, one of double takes double

// at most TEMPORARY: 20
// at most CONST: 20
// at most SCALED: 20
// at most DOUBLE_INTO_FLOAT: 20

using namespace laconic;

namespace {

[[maybe_unused]] void use(threads::member& comm, hierarchy<threads::member, threads::member> nodes) {
    std::vector<float> x(4);
    Eigen::VectorXf v(4);
    Eigen::MatrixXf w(2, 2);
    [[maybe_unused]] std::vector<float> const c(4);
    [[maybe_unused]] std::vector<double> y(4);
    [[maybe_unused]] std::vector<int> n(4);
    error_feedback const how{top_k{0.01}};
    reducer reduce(how, comm, x);
    reducer over_nodes(how, nodes, x);
    reducer of_double(how, comm, y);
#if defined(TEMPORARY)
    reduce.start(0, std::vector<float>(4));
#elif defined(TEMPORARY_ARRAY)
    reduce.start(0, std::array<float, 4>{});
#elif defined(TEMPORARY_OF_EIGEN)
    reduce.start(0, Eigen::VectorXf(4));
#elif defined(MOVED)
    reduce.start(0, std::move(x));
#elif defined(TEMPORARY_IN_A_CALL)
    reduce(std::vector<float>(4));
#elif defined(TEMPORARY_OVER_NODES)
    over_nodes.start(0, std::vector<float>(4));
#elif defined(CONST)
    reduce(c);
#elif defined(CONST_VIEW)
    reduce(std::span<float const>(x));
#elif defined(SCALED)
    reduce(2 * v);
#elif defined(ROW)
    reduce(w.row(1));
#elif defined(POINTER)
    reduce(x.data());
#elif defined(DOUBLE_INTO_FLOAT)
    reduce(y);
#elif defined(FLOAT_INTO_DOUBLE)
    of_double(x);
#elif defined(INT_INTO_FLOAT)
    reduce(n);
#else
    // Views of any kind, temporary or not, and what has a name.
    reduce(x);
    reduce(std::span(x));
    reduce(std::span<float, 4>(x));
    reduce(Eigen::Map<Eigen::VectorXf>(x.data(), 4));
    reduce(Eigen::Map<Eigen::MatrixXf>(x.data(), 2, 2));
    reduce(Eigen::Ref<Eigen::VectorXf>(v));
    reduce(v.segment(0, 2));
    reduce(w.col(1));
    reduce(w);
    over_nodes(std::span(x));
    of_double(y);
#endif
}

}  // namespace
