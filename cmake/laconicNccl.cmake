# SPDX-License-Identifier: Apache-2.0
# laconic::nccl: the library with NCCL and CUDA's runtime, for laconic/comm/nccl.hpp. Read by this repository's build and
# by the installed package; there is no target where they are not found. NCCL has no package of its own for CMake: name
# its place in NCCL_ROOT, or in LACONIC_NCCL_INCLUDE_DIR and LACONIC_NCCL_LIBRARY, where it is neither beside CUDA nor
# where compilers look.
if(NOT TARGET laconic::nccl)
    find_package(CUDAToolkit QUIET GLOBAL)
    find_path(
        LACONIC_NCCL_INCLUDE_DIR nccl.h
        HINTS "${NCCL_ROOT}/include" "$ENV{NCCL_ROOT}/include" ${CUDAToolkit_INCLUDE_DIRS}
        DOC "The folder that holds nccl.h"
    )
    find_library(
        LACONIC_NCCL_LIBRARY nccl
        HINTS "${NCCL_ROOT}/lib" "$ENV{NCCL_ROOT}/lib" "${CUDAToolkit_LIBRARY_DIR}"
        DOC "NCCL's library"
    )
    mark_as_advanced(LACONIC_NCCL_INCLUDE_DIR LACONIC_NCCL_LIBRARY)
    if(TARGET CUDA::cudart AND LACONIC_NCCL_INCLUDE_DIR AND LACONIC_NCCL_LIBRARY)
        add_library(laconic::nccl INTERFACE IMPORTED GLOBAL)
        # Imported: CUDA's and NCCL's headers are system headers, and give no warnings.
        target_include_directories(laconic::nccl INTERFACE "${LACONIC_NCCL_INCLUDE_DIR}")
        target_link_libraries(laconic::nccl INTERFACE laconic::laconic "${LACONIC_NCCL_LIBRARY}" CUDA::cudart)
    endif()
endif()
