# SPDX-License-Identifier: Apache-2.0
# The headers, and packages that find_package(laconic) and pkg-config read; they may be moved as a whole.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Not under lib/: nothing here depends on the processor.
set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/laconic")

install(TARGETS laconic EXPORT laconic FILE_SET HEADERS)
install(EXPORT laconic FILE laconicTargets.cmake NAMESPACE laconic:: DESTINATION "${package_dir}")

configure_package_config_file(
    "${CMAKE_CURRENT_LIST_DIR}/laconicConfig.cmake.in"
    "${CMAKE_CURRENT_BINARY_DIR}/laconicConfig.cmake"
    INSTALL_DESTINATION "${package_dir}"
    NO_SET_AND_CHECK_MACRO
)
write_basic_package_version_file(
    "${CMAKE_CURRENT_BINARY_DIR}/laconicConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion
    ARCH_INDEPENDENT
)
install(
    FILES
        "${CMAKE_CURRENT_BINARY_DIR}/laconicConfig.cmake"
        "${CMAKE_CURRENT_BINARY_DIR}/laconicConfigVersion.cmake"
        "${CMAKE_CURRENT_LIST_DIR}/FindXsimd.cmake"
        "${CMAKE_CURRENT_LIST_DIR}/laconicCompiled.cmake"
        "${CMAKE_CURRENT_LIST_DIR}/laconicDevice.cmake"
        "${CMAKE_CURRENT_LIST_DIR}/laconicMpi.cmake"
        "${CMAKE_CURRENT_LIST_DIR}/laconicNccl.cmake"
    DESTINATION "${package_dir}"
)

install(DIRECTORY "${CMAKE_CURRENT_LIST_DIR}/compiled" "${CMAKE_CURRENT_LIST_DIR}/c" DESTINATION "${package_dir}")

file(RELATIVE_PATH laconic_prefix "${CMAKE_INSTALL_FULL_DATADIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" laconic_prefix "${laconic_prefix}")
file(RELATIVE_PATH laconic_includes "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/laconic.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/laconic.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/laconic.pc" DESTINATION "${CMAKE_INSTALL_DATADIR}/pkgconfig")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/laconic")
