# SPDX-License-Identifier: Apache-2.0
# cmake -D COMPILER=<compiler> -D ID=<its id> -D PROCESSOR=<its target>
#     -D INCLUDE=<include folder> -D WORK=<folder> -P refused_flags.cmake
# Fails unless core/contract.hpp refuses the flags that change what floating-point arithmetic means, with words that name
# them, takes those that do not, and refuses what the library cannot do without.
cmake_minimum_required(VERSION 3.25)

file(WRITE "${WORK}/refused_flags.cpp" "#include \"laconic/core/contract.hpp\"\n")
set(ENV{LC_ALL} C)
set(broken 0)

# compile(<flag>...): leaves `status` and the compiler's output in `output`.
macro(compile)
    execute_process(
        COMMAND "${COMPILER}" -std=c++20 ${ARGN} -I "${INCLUDE}" -fsyntax-only "${WORK}/refused_flags.cpp"
        RESULT_VARIABLE status
        OUTPUT_QUIET
        ERROR_VARIABLE output
    )
endmacro()

set(refused -ffast-math "-O2 -ffast-math" -ffinite-math-only)
set(taken -O0 "-O3" -ffp-contract=fast -ffp-contract=off -fno-math-errno -fno-trapping-math "-ffast-math -fno-fast-math")
if(ID STREQUAL "GNU")
    # clang++ 14 defines nothing that tells these.
    list(APPEND refused -Ofast -funsafe-math-optimizations "-fassociative-math -fno-signed-zeros -fno-trapping-math"
         -freciprocal-math -fno-signed-zeros
    )
endif()
if(ID STREQUAL "GNU" AND PROCESSOR MATCHES "^(x86_64|AMD64)$")
    list(APPEND refused -mfpmath=387)
endif()
foreach(flags IN LISTS refused)
    separate_arguments(each UNIX_COMMAND "${flags}")
    compile(${each})
    if(status EQUAL 0)
        message(NOTICE "${flags}: compiles, and must not")
        math(EXPR broken "${broken} + 1")
    elseif(NOT output MATCHES "laconic: [^\n]*(compile without -f|compile with -msse2)")
        message(NOTICE "${flags}: the compiler does not say what to change:\n${output}")
        math(EXPR broken "${broken} + 1")
    endif()
endforeach()
foreach(flags IN LISTS taken)
    separate_arguments(each UNIX_COMMAND "${flags}")
    compile(${each})
    if(NOT status EQUAL 0)
        message(NOTICE "${flags}: is harmless, and refused:\n${output}")
        math(EXPR broken "${broken} + 1")
    endif()
endforeach()

# refuse_at_once(<words> <flag>...): the first line is what to change, and few come after it.
function(refuse_at_once words)
    execute_process(
        COMMAND "${COMPILER}" ${ARGN} -I "${INCLUDE}" -fsyntax-only -include laconic/core/key.hpp -include
                laconic/backend/host/lists.hpp "${WORK}/refused_flags.cpp"
        RESULT_VARIABLE status
        OUTPUT_QUIET
        ERROR_VARIABLE output
    )
    string(REGEX MATCHALL "\n" lines "${output}")
    list(LENGTH lines lines)
    string(REGEX MATCH "error: [^\n]*" first "${output}")
    if(status EQUAL 0 OR NOT first MATCHES "${words}" OR lines GREATER 15)
        message(NOTICE "${ARGN}: the compiler does not say what to change, or too much:\n${output}")
        math(EXPR broken "${broken} + 1")
        set(broken ${broken} PARENT_SCOPE)
    endif()
endfunction()
# Another language, and what windows.h does to the standard library.
refuse_at_once("laconic needs C..20: compile with -std=c..20" -std=c++17)
refuse_at_once("laconic needs C..20: compile with -std=c..20" -std=gnu++14)
refuse_at_once("laconic reports what fails by exceptions: compile without -fno-exceptions" -std=c++20 -fno-exceptions)
file(WRITE "${WORK}/like_windows.h" "#include <algorithm>\n#include <limits>\n#define max(a, b) (((a) > (b)) ? (a) : (b))\n")
refuse_at_once("laconic: min and max are macros here: define NOMINMAX" -std=c++20 -include "${WORK}/like_windows.h")
if(broken GREATER 0)
    message(FATAL_ERROR "${broken} sets of flags are not treated as core/contract.hpp says")
endif()
