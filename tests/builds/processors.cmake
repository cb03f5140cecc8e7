# SPDX-License-Identifier: Apache-2.0
# Compiles processors.cpp, in `folder`, for many processors: which flags stand for a Zen 4, and which do not.
cmake_minimum_required(VERSION 3.25)

# What -march=native makes of a Zen 4 and of a Zen 5 with a compiler that knows neither: the newest Zen it knows, and
# what the processor has.
set(avx512 -mavx512f -mavx512cd -mavx512bw -mavx512dq -mavx512vl -mavx512bf16)
list(JOIN avx512 " " avx512)
set(zen4 "-march=znver3 ${avx512}" "-march=znver4")
set(others
    ""
    "-march=x86-64-v3"
    "-march=znver1"
    "-march=znver2"
    "-march=znver3"
    "-march=znver3 ${avx512} -mavxvnni"
    "-march=znver5"
    "-march=x86-64-v4"
    "-march=icelake-server"
    "-march=sapphirerapids"
)
set(seen 0)
foreach(expected IN ITEMS true false)
    if(expected)
        set(all "${zen4}")
    else()
        set(all "${others}")
    endif()
    foreach(flags IN LISTS all)
        separate_arguments(options UNIX_COMMAND "${flags}")
        execute_process(
            COMMAND "${compiler}" ${options} -fsyntax-only -x c++ /dev/null
            RESULT_VARIABLE unknown OUTPUT_QUIET ERROR_QUIET
        )
        if(NOT unknown EQUAL 0)
            message(STATUS "${flags}: skipped, this compiler does not know it")
            continue()
        endif()
        execute_process(
            COMMAND "${compiler}" -std=c++20 ${options} -DLACONIC_SCALAR -DEXPECTED=${expected} "-I${include}" -fsyntax-only
                    "${folder}/processors.cpp"
            RESULT_VARIABLE wrong ERROR_VARIABLE words
        )
        if(NOT wrong EQUAL 0)
            message(SEND_ERROR "\"${flags}\" should be a Zen 4: ${expected}\n${words}")
        endif()
        math(EXPR seen "${seen} + 1")
    endforeach()
endforeach()
if(seen LESS 6)
    message(FATAL_ERROR "only ${seen} processors were known to ${compiler}")
endif()
