# SPDX-License-Identifier: Apache-2.0
# Runs a program and looks for the bytes that it prints, as "30.0 bytes a step", in a page of docs/, so that figures there
# are what is sent: cmake -DPROGRAM=... -DPAGE=docs/reducer.md -P check_figures.cmake
cmake_minimum_required(VERSION 3.25)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)

file(READ "${root}/${PAGE}" text)
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE out ECHO_OUTPUT_VARIABLE COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[0-9.]+ bytes a step" figures "${out}")
if(NOT figures)
    message(FATAL_ERROR "${PROGRAM} prints no bytes a step")
endif()
foreach(figure IN LISTS figures)
    string(FIND "${text}" " ${figure}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "${PROGRAM} prints ${figure}, which ${PAGE} does not show")
    endif()
endforeach()
