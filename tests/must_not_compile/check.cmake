# SPDX-License-Identifier: Apache-2.0
# cmake -D COMPILER=<compiler> -D FLAGS=<flags> -D STANDARD=<flag> -D INCLUDES=<folders> -D PREAMBLE=<header>
#     [-D SOURCE=<file> -D SECTION=<name>] -P check.cmake
# Without SOURCE it precompiles PREAMBLE. With it, it fails unless that section of the file does not compile, for the reason
# that the file states, or the section is `control`, and compiles. CMakeLists.txt here says how a section is written.
cmake_minimum_required(VERSION 3.25)

list(TRANSFORM INCLUDES PREPEND -I)
separate_arguments(FLAGS NATIVE_COMMAND "${FLAGS}")
set(compile "${COMPILER}" ${FLAGS} ${STANDARD} ${INCLUDES})

if(NOT DEFINED SOURCE)
    # g++ and clang++ look for it beside the header that is named; without it they read that.
    execute_process(
        COMMAND ${compile} -x c++-header "${PREAMBLE}" -o "${PREAMBLE}.gch" COMMAND_ERROR_IS_FATAL ANY
    )
    return()
endif()

set(define "")
if(NOT SECTION STREQUAL "control")
    set(define -D${SECTION})
    file(READ "${SOURCE}" text)
    if(NOT text MATCHES "// expect ${SECTION}: *([^\n]+)")
        message(FATAL_ERROR "${SOURCE} has no line `// expect ${SECTION}: regex`")
    endif()
    set(expected "${CMAKE_MATCH_1}")
    set(most "")
    if(text MATCHES "// at most ${SECTION}: *([0-9]+)")
        set(most "${CMAKE_MATCH_1}")
    endif()
endif()

# Messages in English and without curly quotes; without what g++ says of Eigen's packets.
set(ENV{LC_ALL} C)
execute_process(
    COMMAND ${compile} -Wno-ignored-attributes ${define} -include "${PREAMBLE}" -fsyntax-only "${SOURCE}"
    RESULT_VARIABLE status
    ERROR_VARIABLE output
)
if(SECTION STREQUAL "control")
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "the control does not compile:\n${output}")
    endif()
elseif(status EQUAL 0)
    message(FATAL_ERROR "${SECTION} compiles, and must not")
else()
    string(REGEX MATCH "error: [^\n]*" first "${output}")
    if(NOT first MATCHES "${expected}")
        message(FATAL_ERROR "${SECTION} does not compile, but the first error is not `${expected}`:\n${output}")
    endif()
    # By which headers the first error is reached says how the preamble is ordered, and nothing of the message.
    string(REGEX REPLACE "(In file included |                 )from [^\n]*\n" "" message "${output}")
    string(REGEX MATCHALL "\n" lines "${message}")
    list(LENGTH lines lines)
    if(most AND lines GREATER most)
        message(FATAL_ERROR "${SECTION}: the compiler prints ${lines} lines, more than ${most}:\n${output}")
    endif()
endif()
