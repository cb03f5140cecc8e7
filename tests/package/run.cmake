# SPDX-License-Identifier: Apache-2.0
# One test of the package, named by CASE; see CMakeLists.txt here.
cmake_minimum_required(VERSION 3.25)

# run(<program> [<argument>...]): stops the test unless the program exits 0; leaves its output in `output`.
function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT status EQUAL 0)
        list(JOIN ARGV " " line)
        message(FATAL_ERROR "exit ${status}: ${line}\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

# Debug, but without what only debuggers read, for the fewest seconds.
set(configure "${CMAKE_COMMAND}" -B "${WORK}/build" -D "CMAKE_CXX_COMPILER=${COMPILER}" -D CMAKE_BUILD_TYPE=Debug
    -D "CMAKE_CXX_FLAGS_DEBUG=${FLAGS}")
set(consumer -S "${CMAKE_CURRENT_LIST_DIR}/consumer")

set(program "${CMAKE_CURRENT_LIST_DIR}/consumer/main.cpp")

function(must_say_version program)
    run("${program}")
    if(NOT output STREQUAL "${VERSION}\n")
        message(FATAL_ERROR "the consumer says `${output}`, expected ${VERSION}")
    endif()
endfunction()
function(build_and_run)
    run("${CMAKE_COMMAND}" --build "${WORK}/build" ${ARGN})
    must_say_version("${WORK}/build/consumer")
endfunction()

# skip(<why>): CMakeLists.txt here has the words that ctest looks for.
macro(skip why)
    message(STATUS "package.${CASE} is skipped: ${why}")
    return()
endmacro()

file(REMOVE_RECURSE "${WORK}")

if(CASE STREQUAL "installed")
    # Installed here, then moved there: a package that remembers a path of this machine is not found, or is caught below.
    run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/here")
    file(RENAME "${WORK}/here" "${WORK}/there")
    file(GLOB_RECURSE files "${WORK}/there/share/*")
    foreach(file IN LISTS files)
        file(READ "${file}" text)
        foreach(place IN ITEMS "${SOURCE}" "${BUILD}" "${WORK}")
            string(FIND "${text}" "${place}" found)
            if(NOT found EQUAL -1)
                message(FATAL_ERROR "${file} names ${place}")
            endif()
        endforeach()
    endforeach()
    run(
        ${configure} ${consumer} -D "CMAKE_PREFIX_PATH=${WORK}/there" -D "LACONIC_VERSION=${VERSION}" -D
        "LACONIC_THRUST_INCLUDE_DIR=${THRUST}" -D LACONIC_DEVICE_SYSTEM=CPP
    )
    build_and_run()
    if(MPI AND NOT EXISTS "${WORK}/build/consumer_mpi")
        message(FATAL_ERROR "the package does not find the MPI that this build has found")
    endif()
    if(NCCL)
        if(NOT EXISTS "${WORK}/build/consumer_nccl")
            message(FATAL_ERROR "the package does not find the NCCL that this build has found")
        endif()
        run("${WORK}/build/consumer_nccl")
        if(NOT output MATCHES "^ranks: 1\n$|^refused: nccl")
            message(FATAL_ERROR "the consumer over NCCL says `${output}`, expected one rank, or that NCCL refuses")
        endif()
    else()
        message(STATUS "skipped: a consumer over NCCL, which this build has not found")
    endif()
    if(THRUST)
        run("${WORK}/build/consumer_device")
        if(NOT output STREQUAL "2\n3\n")
            message(FATAL_ERROR "the consumer on the device says `${output}`, expected the places 2 and 3")
        endif()
    endif()
elseif(CASE STREQUAL "copied")
    # The headers alone, and the compiler alone; two units of a program include everything, so nothing is defined twice.
    file(COPY "${SOURCE}/include/laconic" DESTINATION "${WORK}/copied")
    run(
        "${COMPILER}" -std=c++20 -I "${WORK}/copied" -isystem "${EIGEN}" -idirafter "${XSIMD}" -pthread -include
        laconic/laconic.hpp "${program}" "${CMAKE_CURRENT_LIST_DIR}/consumer/second.cpp" -o "${WORK}/consumer"
    )
    must_say_version("${WORK}/consumer")
elseif(CASE STREQUAL "pkg_config")
    find_program(PKG_CONFIG NAMES pkg-config pkgconf)
    if(NOT PKG_CONFIG)
        skip("pkg-config is not installed")
    endif()
    execute_process(COMMAND "${PKG_CONFIG}" --exists eigen3 xsimd RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        skip("eigen3 or xsimd are not installed with a file for pkg-config")
    endif()
    run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/here")
    file(RENAME "${WORK}/here" "${WORK}/there")
    if(EXISTS "${WORK}/there/lib")
        message(FATAL_ERROR "headers are installed, and a folder lib")
    endif()
    set(ENV{PKG_CONFIG_PATH} "${WORK}/there/share/pkgconfig:$ENV{PKG_CONFIG_PATH}")
    run("${PKG_CONFIG}" --validate laconic)
    run("${PKG_CONFIG}" --modversion laconic)
    if(NOT output STREQUAL "${VERSION}\n")
        message(FATAL_ERROR "pkg-config says `${output}`, expected ${VERSION}")
    endif()
    run("${PKG_CONFIG}" --cflags laconic)
    separate_arguments(flags UNIX_COMMAND "${output}")
    run("${PKG_CONFIG}" --libs laconic)
    string(STRIP "${output}" libs)
    if(NOT libs STREQUAL "-pthread")
        message(FATAL_ERROR "pkg-config links with `${libs}`, expected -pthread")
    endif()
    run("${COMPILER}" -std=c++20 ${flags} -c "${program}" -o "${WORK}/consumer.o")
    run("${COMPILER}" "${WORK}/consumer.o" ${libs} -o "${WORK}/consumer")
    must_say_version("${WORK}/consumer")
elseif(CASE STREQUAL "conan")
    find_program(CONAN conan)
    if(NOT CONAN)
        skip("conan is not installed")
    endif()
    # No remote and nobody's home: eigen and xsimd are packages of this machine's headers.
    set(ENV{CONAN_HOME} "${WORK}/home")
    set(ENV{CXX} "${COMPILER}")
    run("${CONAN}" profile detect)
    run("${CONAN}" remote disable "*")
    set(settings -s compiler.cppstd=20 -s build_type=Debug -c tools.build:jobs=1)
    foreach(package IN ITEMS eigen xsimd)
        string(TOUPPER ${package} name)
        set(ENV{HEADERS} "${${name}}")
        run(
            "${CONAN}" create "${CMAKE_CURRENT_LIST_DIR}/conan" --name ${package} --version "${${name}_VERSION}"
            ${settings}
        )
    endforeach()
    set(folder -c "tools.cmake.cmake_layout:test_folder=${WORK}/build" -c tools.cmake.cmaketoolchain:user_presets=)
    run("${CONAN}" create "${SOURCE}" ${settings} ${folder})
    # The consumer's word, and that both packages came with the library: this machine's xsimd would be found without.
    foreach(words IN ITEMS "\n${VERSION}\n" "\n    eigen/${EIGEN_VERSION}#" "\n    xsimd/${XSIMD_VERSION}#")
        string(FIND "${output}" "${words}" found)
        if(found EQUAL -1)
            message(FATAL_ERROR "conan does not say `${words}`:\n${output}")
        endif()
    endforeach()
    # What cannot compile is refused, and what nobody has tried is said.
    foreach(
        refused IN
        ITEMS "-s compiler.cppstd=17|Invalid"
              "-s compiler=gcc -s compiler.version=11 -s compiler.libcxx=libstdc++11|laconic needs C.*20 as gcc 12 has it"
              "-s compiler=clang -s compiler.version=13 -s compiler.libcxx=libc++|laconic needs C.*20 as clang 14 has it"
    )
        string(REGEX MATCH "^([^|]*)[|](.*)$" refused "${refused}")
        separate_arguments(others UNIX_COMMAND "${CMAKE_MATCH_1}")
        set(words "${CMAKE_MATCH_2}")
        execute_process(
            COMMAND "${CONAN}" create "${SOURCE}" --test-folder= ${settings} ${others}
            RESULT_VARIABLE status
            OUTPUT_VARIABLE output
            ERROR_VARIABLE output
        )
        if(status EQUAL 0 OR NOT output MATCHES "${words}")
            message(FATAL_ERROR "${others} is not refused; exit ${status}:\n${output}")
        endif()
    endforeach()
elseif(CASE STREQUAL "vcpkg")
    # A checkout elsewhere, whose port can be broken.
    foreach(file IN ITEMS CMakeLists.txt LICENSE cmake include)
        file(MAKE_DIRECTORY "${WORK}/checkout")
        file(CREATE_LINK "${SOURCE}/${file}" "${WORK}/checkout/${file}" SYMBOLIC)
    endforeach()
    file(COPY "${SOURCE}/packaging" DESTINATION "${WORK}/checkout")
    set(port "${WORK}/checkout/packaging/vcpkg/ports/laconic")
    set(vcpkg "${CMAKE_COMMAND}" -D "PORT_DIR=${port}" -D "PACKAGE=${WORK}/package" -D "WORK=${WORK}/work" -D
        "COMPILER=${COMPILER}" -D "VERSION=${VERSION}" -P "${CMAKE_CURRENT_LIST_DIR}/vcpkg.cmake"
    )
    # What is put in place of what in which file, and the complaint.
    set(mistakes
        "portfile.cmake|set(VCPKG_BUILD_TYPE release)||debug/include"
        "portfile.cmake|share/cmake/laconic|share/laconic|share/cmake/laconic/laconicConfig.cmake is misplaced"
        "portfile.cmake|vcpkg_install_copyright(|set(unused |no share/laconic/copyright"
        "portfile.cmake|vcpkg_fixup_pkgconfig()|file(MAKE_DIRECTORY \${CURRENT_PACKAGES_DIR}/bin)|bin is an empty folder"
        "portfile.cmake|LACONIC_NCCL|LACONIC_NICKEL|LACONIC_NICKEL"
        "vcpkg.json|\"version\": \"|\"version\": \"9.|version is 9."
        "vcpkg.json|\"xsimd\"|\"zlib\"|depends on"
        "vcpkg.json|\"supports\"|\"supported\"|supports is"
        "portfile.cmake|/usage|/vcpkg.json|no share/laconic/usage"
    )
    # Once from nothing; what cmake has found out of the compiler then holds for the others.
    run(${vcpkg})
    file(RENAME "${WORK}/package" "${WORK}/installed")
    foreach(mistake IN LISTS mistakes)
        string(REGEX MATCH "^([^|]*)[|]([^|]*)[|]([^|]*)[|](.*)$" mistake "${mistake}")
        set(file "${CMAKE_MATCH_1}")
        set(right "${CMAKE_MATCH_2}")
        set(wrong "${CMAKE_MATCH_3}")
        set(complaint "${CMAKE_MATCH_4}")
        file(READ "${port}/${file}" as_it_is)
        string(REPLACE "${right}" "${wrong}" broken "${as_it_is}")
        file(WRITE "${port}/${file}" "${broken}")
        execute_process(COMMAND ${vcpkg} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
        file(WRITE "${port}/${file}" "${as_it_is}")
        string(FIND "${output}" "${complaint}" found)
        if(status EQUAL 0 OR found EQUAL -1)
            message(FATAL_ERROR "a port with `${wrong}` for `${right}`: exit ${status}, and no `${complaint}`:\n${output}")
        endif()
    endforeach()
    run(${configure} ${consumer} -D "CMAKE_PREFIX_PATH=${WORK}/installed" -D "LACONIC_VERSION=${VERSION}")
    build_and_run(--target consumer)  # the others are in the test `installed`
elseif(CASE STREQUAL "spack")
    find_program(PYTHON NAMES python3)
    if(NOT PYTHON)
        skip("python3 is not installed")
    endif()
    set(recipe "${SOURCE}/packaging/spack/spack_repo/laconic/packages/laconic/package.py")
    run("${PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/spack.py" "${recipe}")
    foreach(
        line IN
        ITEMS "license('Apache-2.0')"
              "version('${VERSION}')"
              "depends_on('cxx', type='build')"
              "depends_on('eigen@${EIGEN_LEAST}:${EIGEN_MOST}')"
              "depends_on('xsimd@${XSIMD_LEAST}:${XSIMD_MOST}')"
              "depends_on('mpi', when='+mpi')"
              "depends_on('cuda', when='+device')"
    )
        string(FIND "${output}" "${line}\n" found)
        if(found EQUAL -1)
            message(FATAL_ERROR "the recipe has no ${line}:\n${output}")
        endif()
    endforeach()
    if(NOT output MATCHES "builds in [^\n]*/laconic-0123abcd\n")
        message(FATAL_ERROR "the recipe builds in the checkout:\n${output}")
    endif()
    # With what it gives cmake, the library is installed, and every variable that it names is one.
    if(NOT output MATCHES "\ncmake ([^\n]*)\ncmake with mpi and tests ([^\n]*)\n$")
        message(FATAL_ERROR "the recipe gives cmake nothing:\n${output}")
    endif()
    separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_1}")
    if(NOT CMAKE_MATCH_2 MATCHES "LACONIC_TESTS:BOOL=ON.*LACONIC_MPI:BOOL=ON")
        message(FATAL_ERROR "neither tests nor MPI are asked for: ${CMAKE_MATCH_2}")
    endif()
    run(${configure} -S "${SOURCE}" ${arguments})
    if(output MATCHES "CMake Warning")
        message(FATAL_ERROR "${output}")
    endif()
    run("${CMAKE_COMMAND}" --build "${WORK}/build")
    run("${CMAKE_COMMAND}" --install "${WORK}/build" --prefix "${WORK}/installed")
    if(NOT EXISTS "${WORK}/installed/include/laconic/laconic.hpp")
        message(FATAL_ERROR "nothing is installed")
    endif()
elseif(CASE STREQUAL "debian")
    find_program(BUILD_PACKAGE dpkg-buildpackage)
    find_program(LINTIAN lintian)
    set(checkout "${WORK}/laconic-${VERSION}")
    foreach(file IN ITEMS CMakeLists.txt LICENSE cmake include)
        file(COPY "${SOURCE}/${file}" DESTINATION "${checkout}")
    endforeach()
    file(COPY "${SOURCE}/packaging/debian" DESTINATION "${checkout}")
    execute_process(
        COMMAND dpkg-checkbuilddeps "${checkout}/debian/control" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET
    )
    if(NOT BUILD_PACKAGE OR NOT status EQUAL 0)
        skip("what builds a package of Debian is not installed: dpkg-dev, debhelper, libeigen3-dev and libxsimd-dev")
    endif()
    run("${CMAKE_COMMAND}" -E chdir "${checkout}" "${BUILD_PACKAGE}" -b -us -uc)
    file(GLOB changes "${WORK}/*.changes")
    if(LINTIAN)
        # There is no bug that a first upload would close.
        run("${LINTIAN}" --pedantic --suppress-tags initial-upload-closes-no-bugs --fail-on error,warning,info,pedantic "${changes}")
    else()
        message(STATUS "lintian is not installed")
    endif()
    run(dpkg-deb -x "${WORK}/liblaconic-dev_${VERSION}-1_all.deb" "${WORK}/installed")
    run(${configure} ${consumer} -D "CMAKE_PREFIX_PATH=${WORK}/installed/usr" -D "LACONIC_VERSION=${VERSION}")
    build_and_run(--target consumer)
elseif(CASE STREQUAL "versions")
    # What names the versions of Eigen and xsimd agrees with cmake/dependencies.cmake, and what names ours with its header.
    math(EXPR eigen_end "${EIGEN_MOST} + 1")
    math(EXPR xsimd_end "${XSIMD_MOST} + 1")
    foreach(
        pair IN
        ITEMS "conanfile.py|eigen/[>=${EIGEN_LEAST}.0 <${eigen_end}]"
              "conanfile.py|xsimd/[>=${XSIMD_LEAST}.0 <${xsimd_end}]"
              "README.md|Eigen (${EIGEN_LEAST} or ${EIGEN_MOST})"
              "README.md|xsimd (${XSIMD_LEAST} to ${XSIMD_MOST})"
              "docs/install.md|Eigen (${EIGEN_LEAST} or ${EIGEN_MOST})"
              "docs/install.md|xsimd (${XSIMD_LEAST} to ${XSIMD_MOST})"
              "docs/install.md|requires(\"laconic/${VERSION}\")"
              "docs/install.md|laconic@${VERSION}"
              "packaging/README.md|laconic@${VERSION}"
              "packaging/debian/changelog|laconic (${VERSION}-1)"
              "CHANGELOG.md|${VERSION}"
              "CITATION.cff|version: ${VERSION}"
              "CONTRIBUTING.md|laconic-${VERSION}.tar.gz"
    )
        string(REPLACE "|" ";" pair "${pair}")
        list(GET pair 0 file)
        list(GET pair 1 words)
        file(READ "${SOURCE}/${file}" text)
        string(FIND "${text}" "${words}" found)
        if(found EQUAL -1)
            message(FATAL_ERROR "${file} does not say `${words}`")
        endif()
    endforeach()
elseif(CASE STREQUAL "subdirectory")
    run(${configure} ${consumer} -D "LACONIC_SOURCE=${SOURCE}")
    build_and_run()
elseif(CASE STREQUAL "fetch_content")
    run(${configure} ${consumer} -D LACONIC_FETCH=ON -D "FETCHCONTENT_SOURCE_DIR_LACONIC=${SOURCE}")
    build_and_run(--target consumer)  # the others are in the test `subdirectory`
elseif(CASE STREQUAL "missing")
    # As a subdirectory, a missing package is named and not fetched.
    execute_process(
        COMMAND
            ${configure} ${consumer} -D "LACONIC_SOURCE=${SOURCE}" -D CMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON -D
            CMAKE_DISABLE_FIND_PACKAGE_Xsimd=ON
        RESULT_VARIABLE status
        OUTPUT_VARIABLE output
        ERROR_VARIABLE output
    )
    if(status EQUAL 0 OR NOT output MATCHES "needs packages that are not installed: Eigen3,[ \n]+Xsimd")
        message(FATAL_ERROR "missing packages are not named; exit ${status}:\n${output}")
    endif()
    if(EXISTS "${WORK}/build/_deps")
        message(FATAL_ERROR "something was fetched")
    endif()
elseif(CASE STREQUAL "fetched")
    # This repository's own build where Eigen, xsimd and doctest are not installed. Links stand for the repositories.
    foreach(place IN ITEMS eigen3 xsimd/include doctest)
        get_filename_component(folder "${WORK}/${place}" DIRECTORY)
        file(MAKE_DIRECTORY "${folder}")
    endforeach()
    file(CREATE_LINK "${EIGEN}" "${WORK}/eigen3" SYMBOLIC)
    file(CREATE_LINK "${XSIMD}" "${WORK}/xsimd/include" SYMBOLIC)
    file(CREATE_LINK "${DOCTEST}" "${WORK}/doctest" SYMBOLIC)
    set(without "")
    foreach(package IN ITEMS Eigen3 Xsimd doctest)
        string(TOLOWER "${package}" folder)
        string(TOUPPER "${package}" name)
        list(APPEND without -D CMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
        list(APPEND without -D "FETCHCONTENT_SOURCE_DIR_${name}=${WORK}/${folder}")
    endforeach()
    run(${configure} -S "${SOURCE}" ${without} -D LACONIC_EXAMPLES=OFF -D LACONIC_GUARDS=ON)
    if(NOT output MATCHES "Eigen3 is not installed.*Xsimd is not installed.*doctest is not installed")
        message(FATAL_ERROR "nothing was fetched:\n${output}")
    endif()
    # One file that includes doctest, one that includes the others.
    run("${CMAKE_COMMAND}" --build "${WORK}/build" --target test_main must_not_compile)
    run("${CMAKE_COMMAND}" --install "${WORK}/build" --prefix "${WORK}/there")
elseif(CASE STREQUAL "headers_only")
    # An installation compiles nothing, and needs none of what the library's programs or its users need.
    set(without "")
    foreach(package IN ITEMS Eigen3 Xsimd doctest CLI11 fmt nlohmann_json benchmark)
        list(APPEND without -D CMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
    endforeach()
    run(${configure} -S "${SOURCE}" ${without} -D LACONIC_TESTS=OFF)
    run("${CMAKE_COMMAND}" --install "${WORK}/build" --prefix "${WORK}/there")
    if(EXISTS "${WORK}/build/_deps")
        message(FATAL_ERROR "something was fetched")
    endif()
    # The package serves as one that was made where all was installed.
    run(${configure} ${consumer} -B "${WORK}/use" -D "CMAKE_PREFIX_PATH=${WORK}/there" -D "LACONIC_VERSION=${VERSION}")
elseif(CASE STREQUAL "components")
    run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/there")
    file(WRITE "${WORK}/asks/CMakeLists.txt"
         "cmake_minimum_required(VERSION 3.25)\nproject(asks CXX)\n"
         "find_package(laconic COMPONENTS nonsense OPTIONAL_COMPONENTS more)\n"
         "find_package(laconic REQUIRED OPTIONAL_COMPONENTS nonsense)\n"
         "find_package(laconic REQUIRED COMPONENTS nonsense)\n"
    )
    execute_process(
        COMMAND ${configure} -S "${WORK}/asks" -D "CMAKE_PREFIX_PATH=${WORK}/there"
        RESULT_VARIABLE status
        OUTPUT_VARIABLE output
        ERROR_VARIABLE output
    )
    string(REGEX MATCHALL "laconic has no component nonsense: its components are compiled,[ \n]+compiled_reducer,[ \n]+c,[ \n]+mpi,[ \n]+device,[ \n]+nccl" lines "${output}")
    list(LENGTH lines count)
    if(status EQUAL 0 OR NOT count EQUAL 2)
        message(FATAL_ERROR "the components are not named twice; exit ${status}:\n${output}")
    endif()

    # laconic::compiled and laconic::c are compiled in the project that links them, from the installed sources; so are the
    # programs that tests/builds/ runs.
    file(WRITE "${WORK}/linked/CMakeLists.txt"
         "cmake_minimum_required(VERSION 3.25)\nproject(linked C CXX)\n"
         "find_package(laconic REQUIRED COMPONENTS compiled c)\n"
         "add_executable(linked \"${CMAKE_CURRENT_LIST_DIR}/consumer/compiled.cpp\")\n"
         "target_link_libraries(linked PRIVATE laconic::compiled)\n"
         "add_executable(in_c \"${CMAKE_CURRENT_LIST_DIR}/consumer/c.c\")\n"
         "target_link_libraries(in_c PRIVATE laconic::c)\n"
         "add_executable(print_digests \"${SOURCE}/tests/builds/print_digests.cpp\")\n"
         "add_executable(dispatched \"${SOURCE}/tests/dispatched.cpp\")\n"
         "target_sources(dispatched PRIVATE \"${SOURCE}/tests/support/main.cpp\" \"${SOURCE}/tests/support/draws.cpp\")\n"
         "foreach(program IN ITEMS print_digests dispatched)\n"
         "    target_link_libraries(\${program} PRIVATE laconic::compiled_reducer)\n"
         "    target_include_directories(\${program} PRIVATE \"${SOURCE}/tests\" \"${SOURCE}/cmake/compiled\")\n"
         "    target_include_directories(\${program} SYSTEM PRIVATE \"${DOCTEST}\")\n"
         "    set_target_properties(\${program} PROPERTIES UNITY_BUILD OFF)\n"
         "endforeach()\n"
         "target_compile_options(dispatched PRIVATE -O1)\n"  # it takes ten times as long to run without
    )
    # As one file, but for the kernels for one instruction set each: most of what its sources instantiate is the same.
    run(${configure} -S "${WORK}/linked" -B "${WORK}/with" -D "CMAKE_PREFIX_PATH=${WORK}/there" -D CMAKE_UNITY_BUILD=ON -D
        CMAKE_UNITY_BUILD_BATCH_SIZE=0
    )
    run("${CMAKE_COMMAND}" --build "${WORK}/with")
    run("${WORK}/with/linked")
    if(NOT output STREQUAL "1.5\n")
        message(FATAL_ERROR "the consumer of laconic::compiled says `${output}`, expected 1.5")
    endif()
    run("${WORK}/with/in_c")
    if(NOT output STREQUAL "0 -5 0\n")
        message(FATAL_ERROR "the consumer of laconic::c says `${output}`, expected 0 -5 0")
    endif()
else()
    message(FATAL_ERROR "no such case: ${CASE}")
endif()
