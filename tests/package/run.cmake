# SPDX-License-Identifier: Apache-2.0
# One test of the package, named by CASE; see CMakeLists.txt here.
cmake_minimum_required(VERSION 3.25)

# run(<program> [<argument>...]): stops the test unless the program exits 0; leaves what it said in `said`.
function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT status EQUAL 0)
        list(JOIN ARGV " " line)
        message(FATAL_ERROR "exit ${status}: ${line}\n${said}")
    endif()
    set(said "${said}" PARENT_SCOPE)
endfunction()

# Debug, for the fewest seconds.
set(configure "${CMAKE_COMMAND}" -B "${WORK}/build" -D "CMAKE_CXX_COMPILER=${COMPILER}" -D CMAKE_BUILD_TYPE=Debug)
set(consumer -S "${CMAKE_CURRENT_LIST_DIR}/consumer")

function(build_and_run)
    run("${CMAKE_COMMAND}" --build "${WORK}/build")
    run("${WORK}/build/consumer")
    if(NOT said STREQUAL "${VERSION}\n")
        message(FATAL_ERROR "the consumer says `${said}`, expected ${VERSION}")
    endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")

if(CASE STREQUAL "installed")
    # Installed here, then moved there: a package that remembers a path of this machine is not found, or is caught below.
    run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/here")
    file(RENAME "${WORK}/here" "${WORK}/there")
    file(GLOB_RECURSE files "${WORK}/there/*.cmake")
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
        if(NOT said MATCHES "^ranks: 1\n$|^refused: nccl")
            message(FATAL_ERROR "the consumer over NCCL says `${said}`, expected one rank, or that NCCL refuses")
        endif()
    else()
        message(STATUS "skipped: a consumer over NCCL, which this build has not found")
    endif()
    if(THRUST)
        run("${WORK}/build/consumer_device")
        if(NOT said STREQUAL "2\n3\n")
            message(FATAL_ERROR "the consumer on the device says `${said}`, expected the places 2 and 3")
        endif()
    endif()
elseif(CASE STREQUAL "subdirectory")
    run(${configure} ${consumer} -D "LACONIC_SOURCE=${SOURCE}")
    build_and_run()
elseif(CASE STREQUAL "missing")
    # As a subdirectory, a missing package is named and not fetched.
    execute_process(
        COMMAND
            ${configure} ${consumer} -D "LACONIC_SOURCE=${SOURCE}" -D CMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON -D
            CMAKE_DISABLE_FIND_PACKAGE_Xsimd=ON
        RESULT_VARIABLE status
        OUTPUT_VARIABLE said
        ERROR_VARIABLE said
    )
    if(status EQUAL 0 OR NOT said MATCHES "needs packages that are not installed: Eigen3,[ \n]+Xsimd")
        message(FATAL_ERROR "missing packages are not named; exit ${status}:\n${said}")
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
    run(${configure} -S "${SOURCE}" ${without} -D LACONIC_EXAMPLES=OFF)
    if(NOT said MATCHES "Eigen3 is not installed.*Xsimd is not installed.*doctest is not installed")
        message(FATAL_ERROR "nothing was fetched:\n${said}")
    endif()
    # One file that includes doctest, one that includes the others.
    run("${CMAKE_COMMAND}" --build "${WORK}/build" --target test_main must_not_compile_compress)
    run("${CMAKE_COMMAND}" --install "${WORK}/build" --prefix "${WORK}/there")
else()
    message(FATAL_ERROR "no such case: ${CASE}")
endif()
