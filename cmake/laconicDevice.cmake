# SPDX-License-Identifier: Apache-2.0
# laconic::device: the library with Thrust, for laconic/backend/device.hpp. Read by this repository's build and by the
# installed package; there is no target where Thrust is not found. LACONIC_DEVICE_SYSTEM says which of Thrust's device
# systems runs the kernels: CUDA (sources in CUDA C++, compiled by nvcc, which brings its own Thrust), OMP or CPP. Left
# out, it is CUDA where CUDA is an enabled language, else OMP where OpenMP is, else CPP.

# laconic_device(<target> <system>) makes an imported target; nothing where what it needs is not here.
function(laconic_device target system)
    if(system STREQUAL "CUDA")
        get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
        if(NOT "CUDA" IN_LIST languages)
            return()
        endif()
    else()
        find_path(
            LACONIC_THRUST_INCLUDE_DIR thrust/version.h
            HINTS "$ENV{CUDA_HOME}/include/cccl" "$ENV{CUDA_HOME}/include" /usr/local/cuda/include/cccl
                  /usr/local/cuda/include
            DOC "The folder that holds thrust/version.h"
        )
        mark_as_advanced(LACONIC_THRUST_INCLUDE_DIR)
        if(NOT LACONIC_THRUST_INCLUDE_DIR)
            return()
        endif()
        if(system STREQUAL "OMP")
            find_package(OpenMP QUIET GLOBAL COMPONENTS CXX)
            if(NOT OpenMP_CXX_FOUND)
                return()
            endif()
        endif()
    endif()
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_link_libraries(${target} INTERFACE laconic::laconic)
    target_compile_definitions(${target} INTERFACE THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_${system})
    if(system STREQUAL "CUDA")
        # CMake 3.25 does not know nvcc's C++20. Constexpr functions and lambdas run on the device, and no product is fused with
        # a sum.
        set(options --expt-relaxed-constexpr --extended-lambda -fmad=false)
        if(NOT "cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
            list(APPEND options -std=c++20)
        else()
            target_compile_features(${target} INTERFACE cuda_std_20)
        endif()
        target_compile_options(${target} INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:${options}>")
        # nvcc takes no xsimd above 8, and kernels of the host are not what it is for.
        target_compile_definitions(${target} INTERFACE EIGEN_NO_CUDA "$<$<COMPILE_LANGUAGE:CUDA>:LACONIC_SCALAR>")
    else()
        target_include_directories(${target} INTERFACE "${LACONIC_THRUST_INCLUDE_DIR}")
        if(system STREQUAL "OMP")
            target_link_libraries(${target} INTERFACE OpenMP::OpenMP_CXX)
        endif()
    endif()
endfunction()

if(NOT TARGET laconic::device)
    if(LACONIC_DEVICE_SYSTEM)
        laconic_device(laconic::device ${LACONIC_DEVICE_SYSTEM})
    else()
        foreach(system IN ITEMS CUDA OMP CPP)
            if(NOT TARGET laconic::device)
                laconic_device(laconic::device ${system})
            endif()
        endforeach()
    endif()
endif()
