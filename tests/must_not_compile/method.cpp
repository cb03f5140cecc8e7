// SPDX-License-Identifier: Apache-2.0
// Mistakes at a method and what it is made of, and the line that says so. See CMakeLists.txt here.
#include <vector>

#include "laconic/collective/dense/ring.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/estimate/variance_reduced.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/ef21.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/reducer.hpp"
#include "laconic/run.hpp"
#include "laconic/transport/served.hpp"

// expect DIANA_WITH_A_THRESHOLD: this method needs an unbiased compressor
// expect EF21_WITH_A_THRESHOLD: ef21 needs a contractive compressor
// expect DCGD_OF_A_NUMBER: C is not a compressor
// expect EF_SGD_OF_A_NUMBER: C is not a compressor
// expect DESCEND_WITHOUT_A_METHOD: the first argument is no method, such as ef21
// expect MEMORY_OF_ANOTHER_TYPE: the recursion.s feedback is none for these numbers
// expect SAGA_WITHOUT_SAMPLES: SAGA also outputs, slopes and add_row
// expect OBJECTIVE_OF_A_NUMBER: an objective needs std::size_t dimension
// expect TRANSPORT_OF_A_NUMBER: this is no transport for these numbers
// expect COLLECTIVE_WITHOUT_PAIRS: this collective is not for this communicator: most need one that is PointToPoint
// expect STATE_OF_A_LIST: a range that is no array of numbers has no state.archive.
// expect REDUCER_WITHOUT_AN_OMEGA: shifted.C. has its alpha from omega.d., which C does not have
// expect REDUCER_WITH_A_SERVER: a reducer has no server: .over is gather_all

namespace {

struct bare {
    std::size_t dimension() const { return 1; }
    double value(std::span<double const> x) const { return x[0]; }
    void gradient(std::span<double const>, std::span<double> g) const { g[0] = 1; }
};

struct bare_in_float {
    std::size_t dimension() const { return 1; }
    float value(std::span<float const> x) const { return x[0]; }
    void gradient(std::span<float const>, std::span<float> g) const { g[0] = 1; }
};
struct collectives_only {
    int rank() const { return 0; }
    int size() const { return 1; }
    void all_gather(laconic::payload) {}
    void gather(int, laconic::payload) {}
    void broadcast(int, laconic::payload) {}
    laconic::payload from(int) const { return {}; }
};
struct remembers_a_list {
    std::vector<std::vector<double>> rows;
    template <class Archive>
    void state(Archive& archive) {
        archive(rows);
    }
};

[[maybe_unused]] void use(laconic::threads::member& comm) {
    using namespace laconic;
    std::vector<double> x(1);
    [[maybe_unused]] bare const f;
#if defined(DIANA_WITH_A_THRESHOLD)
    diana<threshold<>> const method{};
#elif defined(EF21_WITH_A_THRESHOLD)
    ef21<threshold<>> const method{};
#elif defined(DCGD_OF_A_NUMBER)
    dcgd<int> const method{};
#elif defined(EF_SGD_OF_A_NUMBER)
    ef_sgd<float> const method{};
#elif defined(DESCEND_WITHOUT_A_METHOD)
    gd const method{};
    descend(3.0, f, x, comm);
#elif defined(MEMORY_OF_ANOTHER_TYPE)
    recursion<identity> const method{};
    std::vector<float> y(1);
    descend(method, bare_in_float{}, y, comm);
#elif defined(SAGA_WITHOUT_SAMPLES)
    auto const method = recursion<identity>{}.with_estimator(saga<>(1));
    descend(method, f, x, comm);
#elif defined(OBJECTIVE_OF_A_NUMBER)
    recursion<identity> const method{};
    descend(method, 3.0, x, comm);
#elif defined(TRANSPORT_OF_A_NUMBER)
    auto const method = recursion<identity>{}.with_over(3);
    descend(method, f, x, comm);
#elif defined(COLLECTIVE_WITHOUT_PAIRS)
    auto const method = recursion<identity>{}.with_over(ring{});
    collectives_only alone;
    descend(method, f, x, alone);
#elif defined(REDUCER_WITHOUT_AN_OMEGA)
    reducer method(unproved{shifted{top_k{1}}}, comm, x);
#elif defined(REDUCER_WITH_A_SERVER)
    struct mine : identity {};
    reducer method(plain<identity, served<mine>>{}, comm, x);
#elif defined(STATE_OF_A_LIST)
    remembers_a_list method;
    wire::state_writer archive("");
    archive(method);
#else
    ef21<top_k<natural>> const method{};
    diana<rand_k<natural>> const unbiased{};
    dcgd<threshold<>> const stepped{{}, {.step = .1}};
    descend(method, problem{1, 1, 1, 0, 1, 1}, f, x, comm);
    descend(unbiased, problem{1, 1, 1, 0, 1, 1}, f, x, comm);
    descend(stepped, problem{}, f, x, comm);
    descend(stepped, f, x, comm);
    descend(recursion<identity>{}.with_over(ring{}), f, x, comm);
    collectives_only alone;
    descend(recursion<identity>{}, f, x, alone);
    reducer reduce(unproved{plain{top_k{1}}}, comm, x);
    reduce(x);
    std::vector<float> y(1);
    descend(recursion<identity, memory<float>>{}, bare_in_float{}, y, comm);
#endif
    static_cast<void>(method);
}

}  // namespace
