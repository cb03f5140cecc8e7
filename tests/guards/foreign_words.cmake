# SPDX-License-Identifier: Apache-2.0
# cmake -D COMPILER=<compiler> -D STANDARD=<flag> -D INCLUDE=<include folder> -D INCLUDES=<folders> -D WORK=<folder>
#     -P foreign_words.cmake
# Fails if a header of the library does not compile after every word of words.txt is defined as what no program may hold.
# What the headers include from elsewhere stands before that.
cmake_minimum_required(VERSION 3.25)

file(READ "${CMAKE_CURRENT_LIST_DIR}/words.txt" words)
string(REGEX REPLACE "#[^\n]*" "" words "${words}")
string(REGEX MATCHALL "[A-Za-z0-9_]+" words "${words}")

# All headers but those that need a GPU, MPI or another processor.
file(GLOB_RECURSE headers RELATIVE "${INCLUDE}" "${INCLUDE}/laconic/*.hpp")
list(FILTER headers EXCLUDE REGEX "backend/device|comm/(mpi|nccl)|/impl/|compiled\\.hpp$")
set(foreign "")
set(own "")
foreach(header IN LISTS headers)
    file(STRINGS "${INCLUDE}/${header}" lines REGEX "^#include <")
    list(APPEND foreign ${lines})
    string(APPEND own "#include <${header}>\n")
endforeach()
list(REMOVE_DUPLICATES foreign)
list(JOIN foreign "\n" foreign)

set(text "${foreign}\n#include <xsimd/xsimd.hpp>\n#if defined(__x86_64__)\n#include <immintrin.h>\n#endif\n")
foreach(word IN LISTS words)
    string(APPEND text "#undef ${word}\n#define ${word} @\n")
endforeach()
file(WRITE "${WORK}/foreign_words.cpp" "${text}${own}")
list(TRANSFORM INCLUDES PREPEND -idirafter)
set(ENV{LC_ALL} C)
execute_process(
    COMMAND "${COMPILER}" ${STANDARD} -w -I "${INCLUDE}" ${INCLUDES} -fsyntax-only "${WORK}/foreign_words.cpp"
    RESULT_VARIABLE status
    ERROR_VARIABLE output
)
if(NOT status EQUAL 0)
    string(SUBSTRING "${output}" 0 4000 output)
    message(FATAL_ERROR "a header uses a word that others define as a macro (words.txt):\n${output}")
endif()
