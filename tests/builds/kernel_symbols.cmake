# SPDX-License-Identifier: Apache-2.0
# Fails where one of the objects in `folder` that have the kernels for one instruction set of AVX has an inline function
# that is not of that set's own namespace, laconic_<set>: the linker might take it for one that the rest of a program
# calls, on any processor.
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE objects "${folder}/*kernels_avx*.cpp.o")
set(seen 0)
foreach(object IN LISTS objects)
    if(NOT object MATCHES "kernels_([a-z0-9]+)\\.cpp")
        message(FATAL_ERROR "${object}: of which instruction set?")
    endif()
    set(own "laconic_${CMAKE_MATCH_1}")
    execute_process(COMMAND "${nm}" "${object}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
    if(NOT symbols MATCHES "${own}")
        message(SEND_ERROR "${object} has no kernels: which flags was it compiled with?")
    endif()
    string(REGEX REPLACE "[][;]" "_" symbols "${symbols}")
    string(REPLACE "\n" ";" symbols "${symbols}")
    list(FILTER symbols INCLUDE REGEX " [VWuvwi] ")
    # DW.ref.: the address of a function of the C++ runtime's, which is the same in all objects.
    list(FILTER symbols EXCLUDE REGEX "${own}| V DW\\.ref\\.")
    foreach(symbol IN LISTS symbols)
        message(SEND_ERROR "${object} defines a function that others may call: ${symbol}")
    endforeach()
    math(EXPR seen "${seen} + 1")
endforeach()
if(seen EQUAL 0)
    message(FATAL_ERROR "there are no objects")
endif()
