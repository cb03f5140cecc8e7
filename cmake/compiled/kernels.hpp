// SPDX-License-Identifier: Apache-2.0
// The tables of laconic/dispatched.hpp, for the instruction set that the including source is compiled for.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

// Members that are not inlined are those in kernels.cpp, which every processor can run.
extern template class std::vector<std::byte>;
extern template class std::vector<unsigned>;

#include "laconic/dispatched.hpp"

namespace laconic::kernels::by_table {
namespace {

template <Scalar T>
table table_of() {
    static std::array<any_function, static_cast<std::size_t>(place::count)> const all{
        reinterpret_cast<any_function>(+[]() -> void* { return new host; }),
        reinterpret_cast<any_function>(+[](void* on) { delete static_cast<host*>(on); }),
#define LACONIC_ENTRY(id, kernel, Result, parameters, arguments) \
    entry<Result(LACONIC_UNPACKED parameters)>::made_of(         \
        [](host& on, LACONIC_UNPACKED parameters) { return kernel(on, LACONIC_UNPACKED arguments); }),
        LACONIC_KERNELS_OF_NUMBERS(LACONIC_ENTRY) LACONIC_OTHER_KERNELS(LACONIC_ENTRY)
#undef LACONIC_ENTRY
    };
    return all.data();
}

}  // namespace
}  // namespace laconic::kernels::by_table
