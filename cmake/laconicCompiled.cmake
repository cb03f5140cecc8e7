# SPDX-License-Identifier: Apache-2.0
# laconic::compiled: a static library of what laconic/compiled.hpp declares, compiled once, in the project that links it and
# with its flags. Read by this repository's build and by the installed package.
if(NOT TARGET laconic::compiled)
    file(GLOB laconic_sources "${CMAKE_CURRENT_LIST_DIR}/compiled/*.cpp")
    add_library(laconic_compiled STATIC EXCLUDE_FROM_ALL ${laconic_sources})
    target_link_libraries(laconic_compiled PUBLIC laconic::laconic)
    add_library(laconic::compiled ALIAS laconic_compiled)
    unset(laconic_sources)
endif()
