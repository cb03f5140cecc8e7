# SPDX-License-Identifier: Apache-2.0
# cmake -D "MPIEXEC=<mpiexec>;<its flag before the number of ranks>" -D PROGRAM=<test_mpi> -P throws.cmake
# Whichever rank throws, or leaves, or comes no more while the others wait for it, the whole job ends within seconds,
# fails, and names that rank. A program that starts and ends MPI itself may destroy communicators after the end.
cmake_minimum_required(VERSION 3.25)

function(ends flag rank expected)
    execute_process(
        COMMAND ${MPIEXEC} 3 ${PROGRAM} --${flag}=${rank}
        RESULT_VARIABLE status
        OUTPUT_VARIABLE output
        ERROR_VARIABLE output
        TIMEOUT 60
    )
    if(NOT status MATCHES "^[1-9][0-9]*$" OR NOT output MATCHES "${expected}")
        message(FATAL_ERROR "--${flag}=${rank}: the job ends with status ${status}:\n${output}")
    endif()
endfunction()

foreach(rank IN ITEMS 0 2)
    ends(throw ${rank} "rank ${rank} of 3 failed: data:3:1: broken line")
    ends(leave ${rank} "rank [012] of 3 failed: rank ${rank} has ended, while others wait for it")
    ends(late ${rank} "rank [012] of 3 failed: rank ${rank} did not come within 300 ms")
    ends(survive ${rank} "rank [012] of 3 failed: rank ${rank} did not come within 300 ms")
endforeach()

foreach(serves_threads IN ITEMS 0 1)
    execute_process(
        COMMAND ${MPIEXEC} 3 ${PROGRAM} --own=${serves_threads}
        RESULT_VARIABLE status
        OUTPUT_VARIABLE output
        ERROR_VARIABLE output
        TIMEOUT 60
    )
    if(NOT status EQUAL 0 OR NOT output MATCHES "right until the end")
        message(FATAL_ERROR "--own=${serves_threads}: the job ends with status ${status}:\n${output}")
    endif()
endforeach()
