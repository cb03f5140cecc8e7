# SPDX-License-Identifier: Apache-2.0
# The programs in README.md and docs/ are those in examples/, line for line, so that what newcomers copy is what is tested.
cmake_minimum_required(VERSION 3.25)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)

function(shows page example)
    file(READ "${root}/${page}" text)
    file(READ "${root}/${example}" program)
    string(REGEX REPLACE "^// SPDX[^\n]*\n" "" program "${program}")
    string(FIND "${text}" "```cpp\n${program}```\n" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "${page} does not show ${example} as it is")
    endif()
endfunction()

shows(README.md examples/first.cpp)
shows(docs/reducer.md examples/checkpoint.cpp)
shows(docs/reducer.md examples/own_mpi_init.cpp)
shows(docs/compressors.md examples/own_compressors.cpp)
shows(docs/compressors.md examples/own_message.cpp)
