# SPDX-License-Identifier: Apache-2.0
# The target `site`: build/site/html, from mkdocs.yml, docs/ and, for the reference, what Doxygen finds in the public
# headers. Any warning is an error. mkdocs is installed by pip into the build folder; Doxygen must be there.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
find_program(LACONIC_DOXYGEN doxygen REQUIRED)
set(laconic_mkdocs "${PROJECT_BINARY_DIR}/python/bin/mkdocs")
add_custom_command(
    OUTPUT "${laconic_mkdocs}"
    COMMAND "${Python3_EXECUTABLE}" -m venv "${PROJECT_BINARY_DIR}/python"
    COMMAND "${PROJECT_BINARY_DIR}/python/bin/pip" --quiet --retries 1 --timeout 20 install "mkdocs-material==9.8.*"
    VERBATIM
)
add_custom_target(mkdocs DEPENDS "${laconic_mkdocs}")
configure_file(cmake/Doxyfile.in Doxyfile @ONLY)
add_custom_target(
    site
    COMMAND "${LACONIC_DOXYGEN}" "${PROJECT_BINARY_DIR}/Doxyfile"
    COMMAND
        "${CMAKE_COMMAND}" -E env NO_MKDOCS_2_WARNING=1 "LACONIC_API=${PROJECT_BINARY_DIR}/api" "${laconic_mkdocs}" build
        --strict --site-dir "${PROJECT_BINARY_DIR}/html"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    USES_TERMINAL
    VERBATIM
)
add_dependencies(site mkdocs)
