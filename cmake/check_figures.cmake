# SPDX-License-Identifier: Apache-2.0
# Runs a program and looks in pages of docs/ for each line that it prints, as a line of an indented block or between
# backquotes, where a table has \| for |, or for each part of its output that matches FIGURES, after a space, so that what the pages
# show is what is printed:
# cmake -DPROGRAM=... -DPAGE=docs/first.md,docs/examples.md [-DARGUMENT=--help]
# ["-DFIGURES=[0-9.]+ bytes a step"] -P check_figures.cmake
cmake_minimum_required(VERSION 3.25)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)

set(frames " |")
if(NOT FIGURES)
    set(FIGURES "[^\n]+")
    set(frames "\n    |\n" "`|`")
endif()
execute_process(COMMAND "${PROGRAM}" ${ARGUMENT} OUTPUT_VARIABLE out ECHO_OUTPUT_VARIABLE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "<semicolon>" out "${out}")
string(REGEX MATCHALL "${FIGURES}" figures "${out}")
if(NOT figures)
    message(FATAL_ERROR "${PROGRAM} prints nothing that matches ${FIGURES}")
endif()
string(REPLACE "," ";" pages "${PAGE}")
foreach(page IN LISTS pages)
    file(READ "${root}/${page}" text)
    string(REPLACE ";" "<semicolon>" text "${text}")
    string(REPLACE "\\|" "|" text "${text}")
    foreach(figure IN LISTS figures)
        set(shown FALSE)
        foreach(frame IN LISTS frames)
            string(REPLACE "|" "${figure}" framed "${frame}")
            string(FIND "${text}" "${framed}" at)
            if(NOT at EQUAL -1)
                set(shown TRUE)
            endif()
        endforeach()
        if(NOT shown)
            message(FATAL_ERROR "${PROGRAM} prints ${figure}, which ${page} does not show")
        endif()
    endforeach()
endforeach()
