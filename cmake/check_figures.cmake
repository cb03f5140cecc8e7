# SPDX-License-Identifier: Apache-2.0
# Runs a program and looks in a page of docs/ for each line that it prints, or for each part of its output that matches
# FIGURES, so that what the page shows is what is printed:
# cmake -DPROGRAM=... -DPAGE=docs/reducer.md ["-DFIGURES=[0-9.]+ bytes a step"] -P check_figures.cmake
cmake_minimum_required(VERSION 3.25)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)

if(NOT FIGURES)
    set(FIGURES "[^\n]+")
endif()
file(READ "${root}/${PAGE}" text)
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE out ECHO_OUTPUT_VARIABLE COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "${FIGURES}" figures "${out}")
if(NOT figures)
    message(FATAL_ERROR "${PROGRAM} prints nothing that matches ${FIGURES}")
endif()
foreach(figure IN LISTS figures)
    string(FIND "${text}" "${figure}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "${PROGRAM} prints ${figure}, which ${PAGE} does not show")
    endif()
endforeach()
