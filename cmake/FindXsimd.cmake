# SPDX-License-Identifier: Apache-2.0
# Finds the headers of xsimd, 8.1 and later, and makes laconic::xsimd. Not xsimd's own package file, because Debian 12's
# links a library that its package does not bring, and because its versions 8 and 13 refuse each other there.
find_path(Xsimd_INCLUDE_DIR xsimd/xsimd.hpp)
mark_as_advanced(Xsimd_INCLUDE_DIR)

set(Xsimd_VERSION "")
if(Xsimd_INCLUDE_DIR AND EXISTS "${Xsimd_INCLUDE_DIR}/xsimd/config/xsimd_config.hpp")
    file(READ "${Xsimd_INCLUDE_DIR}/xsimd/config/xsimd_config.hpp" xsimd_config)
    string(REGEX MATCH "XSIMD_VERSION_MAJOR +([0-9]+)" xsimd_match "${xsimd_config}")
    set(Xsimd_VERSION "${CMAKE_MATCH_1}")
    string(REGEX MATCH "XSIMD_VERSION_MINOR +([0-9]+)" xsimd_match "${xsimd_config}")
    string(APPEND Xsimd_VERSION ".${CMAKE_MATCH_1}")
    string(REGEX MATCH "XSIMD_VERSION_PATCH +([0-9]+)" xsimd_match "${xsimd_config}")
    string(APPEND Xsimd_VERSION ".${CMAKE_MATCH_1}")
    unset(xsimd_config)
    unset(xsimd_match)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Xsimd REQUIRED_VARS Xsimd_INCLUDE_DIR VERSION_VAR Xsimd_VERSION)

if(Xsimd_FOUND AND NOT TARGET laconic::xsimd)
    add_library(laconic::xsimd INTERFACE IMPORTED)
    target_include_directories(laconic::xsimd INTERFACE "${Xsimd_INCLUDE_DIR}")
endif()
