// SPDX-License-Identifier: Apache-2.0
// The kernels with AVX-512 as a Zen 4 runs them fastest (instruction_set::is_zen4), compiled with its flags and -O3.
// Namespaces are as in kernels_avx512.cpp.
namespace laconic::kernels::by_table {
void (*const* kernels_of_zen4(bool of_double))();
}

#if defined(__AVX512VBMI__)
#    define laconic laconic_zen4
#    include "kernels.hpp"
#    undef laconic
void (*const* laconic::kernels::by_table::kernels_of_zen4(bool of_double))() {
    using namespace laconic_zen4::kernels::by_table;
    return of_double ? table_of<double>() : table_of<float>();
}
#else
void (*const* laconic::kernels::by_table::kernels_of_zen4(bool))() { return nullptr; }
#endif
