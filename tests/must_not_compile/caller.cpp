// SPDX-License-Identifier: Apache-2.0
// What a new user leaves out, and the line that says so. See CMakeLists.txt here.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "laconic/comm/threads.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/message/plain.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/ef21.hpp"
#include "laconic/reducer.hpp"
#include "laconic/run.hpp"

// expect WITHOUT_MESSAGE: C is not a compressor: it needs a type of message
// expect WITHOUT_CHECK (40): C is not a compressor: it needs void check.std::size_t d. const
// expect WITHOUT_CALL: C is not a compressor: it needs void operator
// expect WITHOUT_BLANK: C is not a compressor: it needs void blank
// expect WITHOUT_NAME (40): C is not a compressor: it needs friend std::string to_string.C const&.
// expect WITHOUT_EQUALITY: C is not a compressor: it needs bool operator==
// expect WITHOUT_DEFAULT: C is not a compressor: it needs a default constructor
// expect CHECK_NOT_CONST: C is not a compressor: it needs void check.std::size_t d. const
// expect DELTA_NOT_CONST: C has a delta: it is double delta.std::size_t d. const
// expect MESSAGE_OF_A_NUMBER: C is not a compressor: its message<T, B> needs std::size_t dimension.. const
// expect REDUCER_WITHOUT_NAME (60): C is not a compressor: it needs friend std::string to_string.C const&.
// expect RECURSION_WITHOUT_NAME (40): C is not a compressor: it needs friend std::string to_string.C const&.
// expect PIPE_WITHOUT_NAME: C is not a compressor: it needs friend std::string to_string.C const&.
// expect WITHOUT_DIMENSION: an objective needs std::size_t dimension.. const
// expect WITHOUT_VALUE: an objective needs T value.std::span<T const> x. const
// expect WITHOUT_GRADIENT (40): an objective needs void gradient.std::span<T const> x, std::span<T> g. const
// expect WITHOUT_SMOOTHNESS (40): the objective has strong_convexity.. and lacks double smoothness.. const
// expect WITHOUT_CONVEXITY: the objective has smoothness.. and lacks double strong_convexity.. const
// expect X_OF_FLOAT (40): x holds float, the objective takes double
// expect X_OF_DOUBLE: x holds double, the objective takes float
// expect X_OF_INT (40): x holds neither float nor double
// expect X_IS_CONST: x is const: descend.. moves it
// expect X_IS_A_NUMBER: x, the starting point, is a vector, array, span or Eigen vector
// expect NOT_A_COMMUNICATOR (40): the fourth argument is no communicator
// expect X_IS_A_TEMPORARY: x is a temporary, and descend.. moves it
// expect TEMPORARY_COMMUNICATOR: the communicator is a temporary
// expect MISSPELLED_SETTING (13): (what follows the communicator makes no run_settings|invalid use of brace-enclosed)
// expect SETTING_AS_A_NUMBER (12): what follows the communicator makes no run_settings
// expect NO_STEP_OF_A_METHOD: the first argument is no method

using namespace laconic;

namespace {

#if defined(WITHOUT_DEFAULT)
struct with_a_number {
    int bits;
    explicit with_a_number(int n) : bits(n) {}
    bool operator==(with_a_number const&) const = default;
#else
struct with_a_number {
    bool operator==(with_a_number const&) const = default;
#endif
};

struct mine : with_a_number {
    using with_a_number::with_a_number;
#if defined(MESSAGE_OF_A_NUMBER)
    template <Scalar T, class>
    using message = T;
#elif !defined(WITHOUT_MESSAGE)
    template <Scalar T, class B>
    using message = messages::full_vector<T, B>;
#endif
#if defined(CHECK_NOT_CONST)
    void check(std::size_t) {}
#elif !defined(WITHOUT_CHECK)
    void check(std::size_t) const {}
#endif
#if !defined(WITHOUT_CALL)
    template <class B, Scalar T, class M>
    void operator()(B& on, std::span<T const> x, key from, M& m) const {
        identity{}(on, x, from, m);
    }
#endif
#if !defined(WITHOUT_BLANK)
    template <class B, class M>
    void blank(B& on, std::size_t d, key from, M& m) const {
        identity{}.blank(on, d, from, m);
    }
#endif
#if defined(DELTA_NOT_CONST)
    double delta(std::size_t) { return 1; }
#else
    double delta(std::size_t) const { return 1; }
#endif
#if defined(WITHOUT_EQUALITY)
    bool operator==(mine const&) const = delete;
#else
    bool operator==(mine const&) const = default;
#endif
#if !defined(WITHOUT_NAME) && !defined(REDUCER_WITHOUT_NAME) && !defined(RECURSION_WITHOUT_NAME) && \
    !defined(PIPE_WITHOUT_NAME)
    friend std::string to_string(mine const&) { return "mine"; }
#endif
};

#if defined(X_OF_DOUBLE)
using number = float;
#else
using number = double;
#endif

struct bowl {
#if !defined(WITHOUT_DIMENSION)
    std::size_t dimension() const { return 1; }
#endif
#if !defined(WITHOUT_VALUE)
    number value(std::span<number const> x) const { return x[0]; }
#endif
#if !defined(WITHOUT_GRADIENT)
    void gradient(std::span<number const>, std::span<number> g) const { g[0] = 1; }
#endif
#if !defined(WITHOUT_SMOOTHNESS)
    double smoothness() const { return 1; }
#endif
#if !defined(WITHOUT_CONVEXITY)
    double strong_convexity() const { return 1; }
#endif
};

#if defined(WITHOUT_DEFAULT)
inline mine const own{3};
#else
inline mine const own{};
#endif

[[maybe_unused]] void use(threads::member& comm) {
    bowl const f;
    std::vector<double> x(1);
#if defined(REDUCER_WITHOUT_NAME) || defined(DELTA_NOT_CONST) || defined(CHECK_NOT_CONST)
    reducer reduce(error_feedback{own}, comm, x);
    reduce(x);
#elif defined(RECURSION_WITHOUT_NAME)
    descend(recursion<mine>{}, f, x, comm);
#elif defined(PIPE_WITHOUT_NAME)
    descend(ef21{top_k{1} | own}, f, x, comm);
#elif defined(X_OF_FLOAT)
    std::vector<float> y(1);
    descend(gd{}, f, y, comm);
#elif defined(X_OF_INT)
    std::vector<int> y(1);
    descend(gd{}, f, y, comm);
#elif defined(X_IS_CONST)
    std::vector<double> const y(1);
    descend(gd{}, f, y, comm);
#elif defined(X_IS_A_NUMBER)
    double y = 1;
    descend(gd{}, f, y, comm);
#elif defined(X_IS_A_TEMPORARY)
    descend(gd{}, f, std::span(x), comm);
#elif defined(TEMPORARY_COMMUNICATOR)
    descend(gd{}, f, x, comm.duplicate());
#elif defined(MISSPELLED_SETTING)
    descend(gd{}, f, x, comm, {.round = 3});
#elif defined(SETTING_AS_A_NUMBER)
    std::span<double> y(x);
    descend(gd{}, f, y, comm, 1000);
#elif defined(NOT_A_COMMUNICATOR)
    int network = 3;
    descend(gd{}, f, x, network);
#elif defined(NO_STEP_OF_A_METHOD)
    descend(top_k{1}, f, x, comm, {.rounds = 3}, [](auto const&) {});
#else
    descend(ef21{own}, f, x, comm);
    descend(ef21{own}, f, x, comm, {.rounds = 3}, [](auto const&) {});
#    if !defined(WITHOUT_NAME) && !defined(WITHOUT_SMOOTHNESS) && !defined(WITHOUT_CONVEXITY)
    descend(dcgd{own, {.step = .1}}, problem{}, f, x, comm);
    reducer reduce(error_feedback{top_k{1} | own}, comm, x);
    reduce(x);
#    endif
#endif
}

}  // namespace
