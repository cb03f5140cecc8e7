# SPDX-License-Identifier: Apache-2.0
# The program in README.md is examples/first.cpp, line for line, so that what newcomers copy is what is tested.
cmake_minimum_required(VERSION 3.25)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)

file(READ "${root}/README.md" readme)
file(READ "${root}/examples/first.cpp" program)
string(REGEX REPLACE "^// SPDX[^\n]*\n" "" program "${program}")
string(FIND "${readme}" "```cpp\n${program}```\n" at)
if(at EQUAL -1)
    message(FATAL_ERROR "README.md does not show examples/first.cpp as it is")
endif()
