// SPDX-License-Identifier: Apache-2.0
#include "laconic/comm/threads.hpp"
#include "laconic/method/parse.hpp"

// Sections that a compiler must refuse, see cmake/must_not_compile.cmake.
// expect DIANA_WITH_A_BIASED_COMPRESSOR: diana needs an unbiased compressor
// expect DIANA_WITH_A_THRESHOLD: diana needs an unbiased compressor
// expect DIANA_WITH_A_BIASED_PIPE: diana needs an unbiased compressor
// expect EF21_WITH_AN_UNBIASED_COMPRESSOR: ef21 needs a contractive compressor
// expect EF21_WITH_A_THRESHOLD: ef21 needs a contractive compressor
// expect DCGD_OF_A_NUMBER: dcgd.C.: C is not a compressor
// expect EF_OF_A_NUMBER: ef.C.: C is not a compressor
// expect DESCEND_WITHOUT_A_METHOD: no matching function for call to .descend
// expect DESCEND_WITHOUT_CONSTANTS: constraints not satisfied|SmoothObjective|no matching function for call to .descend

namespace {

struct bare {
    std::size_t dimension() const { return 1; }
    double value(std::span<double const> x) const { return x[0]; }
    void gradient(std::span<double const>, std::span<double> g) const { g[0] = 1; }
};

[[maybe_unused]] void use(laconic::threads::member& comm) {
    using namespace laconic;
    std::vector<double> x(1);
    [[maybe_unused]] bare const f;
#if defined(DIANA_WITH_A_BIASED_COMPRESSOR)
    diana<top_k<>> const method{};
#elif defined(DIANA_WITH_A_THRESHOLD)
    diana<threshold<>> const method{};
#elif defined(DIANA_WITH_A_BIASED_PIPE)
    diana<rand_k<top_k<>>> const method{};
#elif defined(EF21_WITH_AN_UNBIASED_COMPRESSOR)
    ef21<rand_k<>> const method{};
#elif defined(EF21_WITH_A_THRESHOLD)
    ef21<threshold<>> const method{};
#elif defined(DCGD_OF_A_NUMBER)
    dcgd<int> const method{};
#elif defined(EF_OF_A_NUMBER)
    ef<int> const method{};
#elif defined(DESCEND_WITHOUT_A_METHOD)
    gd const method{};
    descend(3.0, f, x, comm);
#elif defined(DESCEND_WITHOUT_CONSTANTS)
    gd const method{};
    descend(gd{}, f, x, comm);
#else
    ef21<top_k<natural>> const method{};
    diana<rand_k<natural>> const unbiased{};
    dcgd<threshold<>> const stepped{{}, {.step = .1}};
    descend(method, problem{1, 1, 1, 0, 1, 1}, f, x, comm);
    descend(unbiased, problem{1, 1, 1, 0, 1, 1}, f, x, comm);
    descend(stepped, problem{}, f, x, comm);
#endif
    static_cast<void>(method);
}

}  // namespace
