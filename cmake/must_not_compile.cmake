# SPDX-License-Identifier: Apache-2.0
# Programs that must not compile, for the stated reason. A file holds sections
#     #if defined(SECTION_NAME)   or   #elif defined(SECTION_NAME)   or with   !defined(SECTION_NAME)   what it leaves out
# each with a line that gives a regular expression for the compiler's first error, and, where it matters, how many lines
# the compiler may print in all:
#     // expect SECTION_NAME: regex
#     // at most SECTION_NAME: 40
# Each section is a test that compiles the file with that name defined. One more, `control`, defines none and must
# compile: else a section could fail for a reason of its own. What the file includes is precompiled first. Included, this
# file gives the function must_not_compile(<source>); run with -P, it is one such test.

if(NOT CMAKE_SCRIPT_MODE_FILE)
    function(must_not_compile source)
        get_filename_component(theme "${source}" NAME_WE)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
        # It collects the flags; built by package.fetched alone.
        set(flags must_not_compile_${theme})
        add_library(${flags} OBJECT EXCLUDE_FROM_ALL "${source}")
        target_link_libraries(${flags} PRIVATE laconic_dev)

        # The headers are read once, for all sections.
        set(preamble "${CMAKE_CURRENT_BINARY_DIR}/must_not_compile_${theme}.hpp")
        set(run
            "${CMAKE_COMMAND}" -D "COMPILER=${CMAKE_CXX_COMPILER}" -D "SOURCE=${source}" -D "PREAMBLE=${preamble}" -D
            "FLAGS=${CMAKE_CXX_FLAGS}" -D "STANDARD=${CMAKE_CXX20_STANDARD_COMPILE_OPTION}" -D
            "INCLUDES=$<TARGET_PROPERTY:${flags},INCLUDE_DIRECTORIES>"
        )
        set(script "${PROJECT_SOURCE_DIR}/cmake/must_not_compile.cmake")
        add_test(NAME must_not_compile.${theme}.preamble COMMAND ${run} -P "${script}")
        set_tests_properties(
            must_not_compile.${theme}.preamble PROPERTIES LABELS must_not_compile FIXTURES_SETUP must_not_compile.${theme}
        )

        file(READ "${source}" text)
        string(REGEX MATCHALL "#[ \t]*(if|elif)[ \t]+defined\\([A-Za-z0-9_]+\\)|// expect [A-Za-z0-9_]+:" sections "${text}")
        list(TRANSFORM sections REPLACE ".*[( ]([A-Za-z0-9_]+)[):]$" "\\1")
        list(REMOVE_DUPLICATES sections)
        foreach(section IN ITEMS control LISTS sections)
            set(name must_not_compile.${theme}.${section})
            add_test(NAME ${name} COMMAND ${run} -D "SECTION=${section}" -P "${script}")
            set_tests_properties(
                ${name} PROPERTIES LABELS must_not_compile FIXTURES_REQUIRED must_not_compile.${theme}
            )
        endforeach()
    endfunction()
    return()
endif()

list(TRANSFORM INCLUDES PREPEND -I)
separate_arguments(FLAGS NATIVE_COMMAND "${FLAGS}")
set(compile "${COMPILER}" ${FLAGS} ${STANDARD} ${INCLUDES})

if(NOT DEFINED SECTION)
    # What the file includes, precompiled. g++ and clang++ look for it beside the header that is named; without it they
    # read that.
    file(STRINGS "${SOURCE}" includes REGEX "^#include")
    list(JOIN includes "\n" includes)
    file(WRITE "${PREAMBLE}" "${includes}\n")
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

# Messages in English and without curly quotes.
set(ENV{LC_ALL} C)
execute_process(
    COMMAND ${compile} ${define} -include "${PREAMBLE}" -fsyntax-only "${SOURCE}"
    RESULT_VARIABLE status
    ERROR_VARIABLE said
)
if(SECTION STREQUAL "control")
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "the control does not compile:\n${said}")
    endif()
elseif(status EQUAL 0)
    message(FATAL_ERROR "${SECTION} compiles, and must not")
else()
    string(REGEX MATCH "error: [^\n]*" first "${said}")
    if(NOT first MATCHES "${expected}")
        message(FATAL_ERROR "${SECTION} does not compile, but the first error is not `${expected}`:\n${said}")
    endif()
    string(REGEX MATCHALL "\n" lines "${said}")
    list(LENGTH lines lines)
    if(most AND lines GREATER most)
        message(FATAL_ERROR "${SECTION}: the compiler prints ${lines} lines, more than ${most}:\n${said}")
    endif()
endif()
