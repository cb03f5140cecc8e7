# SPDX-License-Identifier: Apache-2.0
# What is compiled once, in the project that links it and with its flags; read by this repository's build and by the
# installed package.
#   laconic::compiled_reducer  a static library: the reducers and lists of laconic/compiled.hpp
#   laconic::compiled          likewise: all that laconic/compiled.hpp declares, with the methods, which take as long again
#   laconic::c                 a shared library: the functions of laconic_c.h
if(NOT TARGET laconic::compiled)
    file(GLOB laconic_sources "${CMAKE_CURRENT_LIST_DIR}/compiled/*.cpp")
    set(laconic_methods ${laconic_sources})
    list(FILTER laconic_methods INCLUDE REGEX "/(descend|methods)\\.cpp$")
    list(REMOVE_ITEM laconic_sources ${laconic_methods})
    add_library(laconic_compiled_reducer STATIC EXCLUDE_FROM_ALL ${laconic_sources})
    add_library(laconic_compiled STATIC EXCLUDE_FROM_ALL ${laconic_methods})
    add_library(laconic_c SHARED EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/c/laconic_c.cpp")
    target_link_libraries(laconic_compiled_reducer PUBLIC laconic::laconic)
    target_link_libraries(laconic_compiled PUBLIC laconic_compiled_reducer)
    target_link_libraries(laconic_c PRIVATE laconic_compiled_reducer)
    target_include_directories(laconic_c PRIVATE "${CMAKE_CURRENT_LIST_DIR}/compiled")
    # Who uses it from C needs its header alone, and neither Eigen nor xsimd.
    target_include_directories(laconic_c INTERFACE "$<TARGET_PROPERTY:laconic::laconic,INTERFACE_INCLUDE_DIRECTORIES>")
    set_target_properties(laconic_compiled_reducer PROPERTIES POSITION_INDEPENDENT_CODE ON)
    # Only the functions of laconic_c.h are seen outside.
    set_target_properties(
        laconic_compiled_reducer laconic_c PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    )
    if(NOT APPLE AND NOT WIN32)
        target_link_options(laconic_c PRIVATE "LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/c/exports.map")
    endif()
    add_library(laconic::compiled_reducer ALIAS laconic_compiled_reducer)
    add_library(laconic::compiled ALIAS laconic_compiled)
    add_library(laconic::c ALIAS laconic_c)
    unset(laconic_sources)
    unset(laconic_methods)
endif()
