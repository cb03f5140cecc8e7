# SPDX-License-Identifier: Apache-2.0
# laconic::mpi: the library with MPI, for laconic/comm/mpi.hpp. Read by this repository's build and by the installed
# package; there is no target where no MPI for C++ is found.
if(NOT TARGET laconic::mpi)
    # The old C++ bindings, which MPI-3 has removed, are neither compiled nor asked for.
    set(MPI_CXX_SKIP_MPICXX ON)
    find_package(MPI QUIET GLOBAL COMPONENTS CXX)
    if(MPI_CXX_FOUND)
        add_library(laconic::mpi INTERFACE IMPORTED GLOBAL)
        target_link_libraries(laconic::mpi INTERFACE laconic::laconic MPI::MPI_CXX)
    endif()
endif()
