# SPDX-License-Identifier: Apache-2.0
# cmake -D "MPIEXEC=<mpiexec>;<its flag before the number of ranks>" -D PROGRAM=<test_mpi> -P mpi_throws.cmake
# Whichever rank throws while the others wait for it, the whole job ends within seconds, fails, and names that rank.
cmake_minimum_required(VERSION 3.25)

foreach(rank IN ITEMS 0 2)
    execute_process(
        COMMAND ${MPIEXEC} 3 ${PROGRAM} --throw=${rank}
        RESULT_VARIABLE status
        OUTPUT_VARIABLE said
        ERROR_VARIABLE said
        TIMEOUT 60
    )
    if(NOT status MATCHES "^[1-9][0-9]*$" OR NOT said MATCHES "rank ${rank} of 3 failed: data:3:1: broken line")
        message(FATAL_ERROR "rank ${rank} throws and the job ends with status ${status}:\n${said}")
    endif()
endforeach()
