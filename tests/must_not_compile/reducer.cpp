// SPDX-License-Identifier: Apache-2.0
// Mistakes at a reducer, and the line that says what to change. See CMakeLists.txt here.
#include <Eigen/Core>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "laconic/any/reduction.hpp"
#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/hierarchy.hpp"
#include "laconic/reducer.hpp"

// expect TEMPORARY (20): x is a temporary that owns its numbers
// expect TEMPORARY_ARRAY: x is a temporary that owns its numbers
// expect TEMPORARY_OF_EIGEN: x is a temporary that owns its numbers
// expect MOVED: x is a temporary that owns its numbers
// expect TEMPORARY_IN_A_CALL: x is a temporary that owns its numbers
// expect TEMPORARY_IN_BIND: x is a temporary that owns its numbers
// expect TEMPORARY_OVER_NODES: x is a temporary that owns its numbers
// expect CONST (20): x is const: a reducer replaces its numbers by the estimate
// expect CONST_VIEW: x is const
// expect SCALED (20): an expression, such as 2 \* x of Eigen's, is first assigned to a vector
// expect ROW: a reducer takes a vector whose numbers lie one after another in memory
// expect POINTER: a reducer takes a vector whose numbers lie one after another in memory
// expect DOUBLE_INTO_FLOAT (20): x holds double, and this reducer computes in float: .*reducer_of<double>
// expect FLOAT_INTO_DOUBLE: a reducer of float takes float and numbers of 16 bits, one of double takes double
// expect INT_INTO_FLOAT: a reducer of float takes float and numbers of 16 bits, one of double takes double
// expect CONST_OVER_NODES: x is const
// expect OF_A_MATRIX_ROW: the third argument is neither a vector whose numbers lie one after another in memory
// expect OF_SCALED: an expression, such as 2 \* x of Eigen's, is first assigned to a vector
// expect OF_INT (30): the third argument holds numbers of another type than this reducer computes in
// expect OF_VECTORS: several vectors are layers: layers_of
// expect OF_NOTHING (30): a reducer needs a third argument
// expect OF_NOTHING_OVER_NODES: a reducer needs a third argument
// expect SWAPPED (60): the reduction comes before the communicator
// expect SWAPPED_TEMPORARIES: the reduction comes before the communicator
// expect POINTER_TO_COMMUNICATOR: the second argument is no communicator
// expect TEMPORARY_COMMUNICATOR: the communicator is a temporary, to which the reducer would refer: give it a name
// expect CONST_COMMUNICATOR: the communicator is const: a reducer sends over it
// expect TEMPORARY_NODES: a hierarchy refers to its communicators, and one of these is a temporary
// expect MISSPELLED_OPTION (20): what follows the third argument makes no reducer_options
// expect MISSPELLED_OPTION_OVER_NODES (20): what follows the third argument makes no reducer_options
// expect OPTIONS_OF_A_STEP: what follows the third argument makes no reducer_options
// expect OPTION_OF_ANOTHER_TYPE: (narrowing conversion|cannot be narrowed)
// expect COMPRESSOR_ALONE: a reduction is one of plain{C}, error_feedback{C}
// expect BIASED: no theorem covers this reduction
// expect OVER_IN_PLACE_OF_DECAY (30): the second value is decay, a number, and a collective is the third
// expect WITHOUT_ITS_HEADER: parse_reduction
// expect SCHEDULE_IN_ANY (20): put it into the schedule, as in scheduled{any_reduction<>.how., name, level}
// expect SCHEDULE_OF_ANY_IN_ANY: an any_reduction has one compressor for all steps

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
    [[maybe_unused]] auto const level = [](auto const& c, auto) { return c; };
    [[maybe_unused]] reducer by_step(scheduled{any_reduction<>(how), "the same", level}, comm, x);
#if defined(TEMPORARY)
    reduce.start(0, std::vector<float>(4));
#elif defined(TEMPORARY_ARRAY)
    reduce.start(0, std::array<float, 4>{});
#elif defined(TEMPORARY_OF_EIGEN)
    reduce.start(0, Eigen::VectorXf(4));
#elif defined(MOVED)
    std::array<float, 5> moved{};
    reduce.start(0, std::move(moved));
#elif defined(TEMPORARY_IN_A_CALL)
    reduce(std::array<float, 6>{});
#elif defined(TEMPORARY_IN_BIND)
    reduce.bind(0, std::array<float, 7>{});
#elif defined(TEMPORARY_OVER_NODES)
    over_nodes.start(0, std::array<float, 8>{});
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
#elif defined(CONST_OVER_NODES)
    std::array<float, 4> const same{};
    over_nodes(same);
#elif defined(SCHEDULE_IN_ANY)
    any_reduction<> const made(scheduled{how, "the same", level});
#elif defined(SCHEDULE_OF_ANY_IN_ANY)
    any_reduction<> const made(scheduled{any_reduction<>(how), "the same", level});
#elif defined(OF_A_MATRIX_ROW)
    reducer made(how, comm, w.row(1));
#elif defined(OF_SCALED)
    reducer made(how, nodes, 2 * v);
#elif defined(OF_INT)
    reducer made(how, comm, n);
    made(n);
#elif defined(OF_VECTORS)
    reducer made(how, comm, std::vector{x, x});
#elif defined(OF_NOTHING)
    reducer made(how, comm);
    made(x);
#elif defined(OF_NOTHING_OVER_NODES)
    reducer made(how, nodes);
#elif defined(SWAPPED)
    error_feedback mine{top_k{0.01}};
    reducer made(comm, mine, x);
#elif defined(SWAPPED_TEMPORARIES)
    reducer made(comm, error_feedback{top_k{0.01}}, x);
#elif defined(POINTER_TO_COMMUNICATOR)
    reducer made(how, &comm, x);
#elif defined(TEMPORARY_COMMUNICATOR)
    reducer made(how, comm.split(0, 0), x);
#elif defined(CONST_COMMUNICATOR)
    reducer made(how, std::as_const(comm), x);
#elif defined(TEMPORARY_NODES)
    hierarchy made{comm.split(0, 0), comm.split(1, 0)};
#elif defined(MISSPELLED_OPTION)
    reducer made(how, comm, x, {.verify_evry = 3});
    made(x);
#elif defined(MISSPELLED_OPTION_OVER_NODES)
    reducer made(how, nodes, x, {.verify_evry = 3});
    made(x);
#elif defined(OPTIONS_OF_A_STEP)
    reducer made(how, comm, v, step_options{.weight = 3});
#elif defined(OPTION_OF_ANOTHER_TYPE)
    reducer made(how, comm, x, {.verify_every = 3.5});
#elif defined(COMPRESSOR_ALONE)
    reducer made(top_k{0.01}, comm, x);
#elif defined(BIASED)
    reducer made(plain{top_k{0.01}}, comm, x);
#elif defined(OVER_IN_PLACE_OF_DECAY)
    reducer made(error_feedback{top_k{0.01}, gtop_k{0.01}}, comm, x);
#elif defined(WITHOUT_ITS_HEADER)
    reducer made(parse_reduction("error_feedback(top_k(0.01))"), comm, x);
#else
    // Whatever a reducer is made of.
    reducer of_a_matrix(how, comm, w);
    reducer of_a_view(how, nodes, std::span(x));
    reducer of_a_number(how, comm, v.size(), {.verify_every = 3});
    reducer of_a_literal(how, nodes, 4);
    std::vector<std::size_t> sizes{3, 4};
    reducer of_sizes(how, comm, sizes);
    reducer of_listed_sizes(how, nodes, {v.size(), w.rows()}, {.seed = 3});
    reducer of_mixed_sizes(how, comm, {v.size(), x.size(), std::ptrdiff_t{4}});
    reducer of_sizes_of_eigen(how, comm, std::vector{v.size(), v.size()});
    reducer of_layers(how, comm, layers_of({3, v.size()}));
    reducer of_named(how, comm, {{"w", w.size()}, {"b", x.size()}});
    auto layers = layers_of({3, 4});
    reducer of_named_layers(how, nodes, layers);
    reducer by_rule([&](layer const&) { return how; }, comm, layers, {.dense_below = 10});
    reducer with_backend(how, comm, x, {}, host{});
    reducer over{error_feedback{top_k{0.01}, 1, gtop_k{0.01}}, comm, x};
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
