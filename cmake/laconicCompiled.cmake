# SPDX-License-Identifier: Apache-2.0
# What is compiled once, in the project that links it and with its flags; read by this repository's build and by the
# installed package.
#   laconic::compiled_reducer  a static library: the reducers and lists of laconic/compiled.hpp
#   laconic::compiled          likewise: all that laconic/compiled.hpp declares, with the methods, which take as long again
#   laconic::c                 a shared library: the functions of laconic_c.h
if(NOT TARGET laconic::compiled)
    file(GLOB laconic_sources "${CMAKE_CURRENT_LIST_DIR}/compiled/*.cpp")
    set(laconic_methods ${laconic_sources})
    list(FILTER laconic_methods INCLUDE REGEX "/(descend|methods|methods_on_host)\\.cpp$")
    list(REMOVE_ITEM laconic_sources ${laconic_methods})
    # Kernels for one instruction set each, of which the library chooses when a program runs.
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT CMAKE_OSX_ARCHITECTURES AND NOT LACONIC_SANITIZE
       AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
        # With AVX-512, g++ 12 warns about variables of its own intrinsics.
        set(laconic_quiet "$<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized;-Wno-maybe-uninitialized>")
        set_source_files_properties(
            "${CMAKE_CURRENT_LIST_DIR}/compiled/kernels_avx2.cpp" PROPERTIES COMPILE_OPTIONS "-march=x86-64-v3;-O3"
        )
        set_source_files_properties(
            "${CMAKE_CURRENT_LIST_DIR}/compiled/kernels_avx512.cpp"
            PROPERTIES COMPILE_OPTIONS "-march=x86-64-v4;${laconic_quiet};-O3"
        )
        # As the oldest compilers know a Zen 4: a Zen 3 with AVX-512.
        set_source_files_properties(
            "${CMAKE_CURRENT_LIST_DIR}/compiled/kernels_zen4.cpp"
            PROPERTIES
                COMPILE_OPTIONS
                "-march=znver3;-mavx512f;-mavx512cd;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vbmi;${laconic_quiet};-O3"
        )
        unset(laconic_quiet)
    endif()
    set_source_files_properties(
        "${CMAKE_CURRENT_LIST_DIR}/compiled/kernels_avx2.cpp" "${CMAKE_CURRENT_LIST_DIR}/compiled/kernels_avx512.cpp"
        "${CMAKE_CURRENT_LIST_DIR}/compiled/kernels_zen4.cpp"
        PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON
    )
    add_library(laconic_compiled_reducer STATIC EXCLUDE_FROM_ALL ${laconic_sources})
    add_library(laconic_compiled STATIC EXCLUDE_FROM_ALL ${laconic_methods})
    add_library(laconic_c SHARED EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/c/laconic_c.cpp")
    target_link_libraries(laconic_compiled_reducer PUBLIC laconic::laconic)
    target_link_libraries(laconic_compiled PUBLIC laconic_compiled_reducer)
    target_link_libraries(laconic_c PRIVATE laconic_compiled_reducer)
    target_include_directories(laconic_c PRIVATE "${CMAKE_CURRENT_LIST_DIR}/compiled")
    # Who uses it from C needs its header alone, and neither Eigen nor xsimd.
    target_include_directories(laconic_c INTERFACE "$<TARGET_PROPERTY:laconic::laconic,INTERFACE_INCLUDE_DIRECTORIES>")
    set_target_properties(laconic_compiled_reducer PROPERTIES POSITION_INDEPENDENT_CODE ON)
    # Only the functions of laconic_c.h are seen outside.
    set_target_properties(
        laconic_compiled_reducer laconic_c PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    )
    if(NOT APPLE AND NOT WIN32)
        target_link_options(laconic_c PRIVATE "LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/c/exports.map")
    endif()
    # With laconic_comm_mpi() where MPI was asked for, as the library then suits this MPI alone.
    if(TARGET laconic::mpi AND NOT LACONIC_MPI STREQUAL "AUTO")
        target_link_libraries(laconic_c PRIVATE laconic::mpi)
        target_compile_definitions(laconic_c PRIVATE LACONIC_C_OVER_MPI)
    endif()
    add_library(laconic::compiled_reducer ALIAS laconic_compiled_reducer)
    add_library(laconic::compiled ALIAS laconic_compiled)
    add_library(laconic::c ALIAS laconic_c)
    unset(laconic_sources)
    unset(laconic_methods)
endif()
