// SPDX-License-Identifier: Apache-2.0
// The kernels with AVX-512, compiled with -march=x86-64-v4 -O3. All of the library is in another namespace here, so
// that no linker takes an inline function of this source for one of the program's; of the standard library's, -O3
// leaves none that is not inlined (the test kernel_symbols).
namespace laconic::kernels::by_table {
void (*const* kernels_of_avx512(bool of_double))();
}

#if defined(__AVX512BW__)
#    define laconic laconic_avx512
#    include "kernels.hpp"
#    undef laconic
void (*const* laconic::kernels::by_table::kernels_of_avx512(bool of_double))() {
    using namespace laconic_avx512::kernels::by_table;
    return of_double ? table_of<double>() : table_of<float>();
}
#else
void (*const* laconic::kernels::by_table::kernels_of_avx512(bool))() { return nullptr; }
#endif
