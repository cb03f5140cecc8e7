# SPDX-License-Identifier: Apache-2.0
# cmake -D WORK=<folder to write in> -P check_layers_test.cmake
# Proves that check_layers.cmake complains: a small good tree passes, and with one fault put in, that fault is named.
cmake_minimum_required(VERSION 3.25)
set(here "${CMAKE_CURRENT_LIST_DIR}/../../cmake")
set(tree "${WORK}/tree")
set(spdx "// SPDX-License-Identifier: Apache-2.0\n")
set(contract "#include \"laconic/core/contract.hpp\"\n")

function(header path text)
    if(NOT path STREQUAL "core/contract.hpp")
        string(APPEND text "${contract}")
    endif()
    file(WRITE "${tree}/include/laconic/${path}" "${spdx}#pragma once\n${text}")
    string(REGEX REPLACE "[.]hpp$" ".cpp" test "tests/${path}")
    file(WRITE "${tree}/${test}" "// A test.\n#include \"laconic/${path}\"\n#include <vector>\n")
endfunction()

function(good_tree)
    file(REMOVE_RECURSE "${tree}")
    file(COPY "${here}/layers.txt" DESTINATION "${tree}/cmake")
    header(all.hpp "#include \"laconic/compress.hpp\"\n#include \"laconic/laconic.hpp\"\n")
    header(laconic.hpp "#include \"laconic/descent.hpp\"\n#include \"laconic/wire/stream.hpp\"\n")
    header(descent.hpp "#include \"laconic/compress/top_k.hpp\"\n#include \"laconic/core/key.hpp\"\n")
    header(compress.hpp "#include \"laconic/compress/top_k.hpp\"\n")
    header(compress/compressor.hpp "")
    header(compress/top_k.hpp "#include \"laconic/compress/compressor.hpp\"\n#include <laconic/message/sparse.hpp>\n")
    header(wire/stream.hpp "#include \"laconic/core/key.hpp\"\nint x[3]; // [ ; \\\n")
    header(message/sparse.hpp "#include \"laconic/backend/host.hpp\"\n")
    header(backend/host.hpp "#include \"laconic/backend/host/simd.hpp\"\n")
    header(backend/host/simd.hpp "#include \"laconic/backend/host/impl/instruction_set.hpp\"\n")
    header(backend/host/impl/instruction_set.hpp "#if X\n#include \"laconic/backend/host/impl/x86/avx.hpp\"\n#endif\n")
    header(backend/host/impl/x86/avx.hpp "#include <immintrin.h>\ninline __m256 f() { return _mm256_setzero_ps(); }\n")
    header(backend/device/system.hpp "#if X\n#endif\n")
    file(REMOVE "${tree}/tests/backend/host/impl/x86/avx.cpp")
    header(core/contract.hpp "#ifndef Y\n#endif\n")
    header(core/key.hpp "")
    file(WRITE "${tree}/tests/main.cpp" "")
    file(WRITE "${tree}/tests/package/main.cpp" "")
endfunction()

# Runs the checker; `expected` is a regular expression for the complaint, or empty where there must be none.
function(expect expected)
    execute_process(
        COMMAND "${CMAKE_COMMAND}" -D "ROOT=${tree}" -P "${here}/check_layers.cmake"
        RESULT_VARIABLE status
        OUTPUT_VARIABLE output
        ERROR_VARIABLE output
    )
    if(expected STREQUAL "" AND NOT status EQUAL 0)
        message(SEND_ERROR "the good tree does not pass:\n${output}")
    elseif(NOT expected STREQUAL "" AND (status EQUAL 0 OR NOT output MATCHES "${expected}" OR NOT output MATCHES "1 complaints"))
        message(SEND_ERROR "expected only: ${expected}\nthe checker exited ${status} and printed:\n${output}")
    endif()
endfunction()

good_tree()
expect("")

good_tree()
header(core/key.hpp "\n#include \"laconic/wire/stream.hpp\"\n")
expect("include/laconic/core/key.hpp:4: forbidden edge core -> wire: includes wire/stream.hpp")

good_tree()
header(compress/compressor.hpp "#  include <laconic/wire/stream.hpp>\n")
expect("include/laconic/compress/compressor.hpp:3: forbidden edge compress -> wire")

good_tree()
header(compress/compressor.hpp "#include \"laconic/descent.hpp\"\n")
expect("forbidden edge compress -> descent.hpp")

good_tree()
header(descent.hpp "#include \"laconic/laconic.hpp\"\n")
expect("forbidden edge descent.hpp -> laconic.hpp")

good_tree()
header(wire/stream.hpp "#include \"laconic/compress.hpp\"\n")
expect("forbidden edge wire -> compress")

good_tree()
header(core/key.hpp "#include \"laconic/misc/tool.hpp\"\n")
expect("core/key.hpp:3: includes misc/tool.hpp, but misc stands in no row")

good_tree()
header(misc/tool.hpp "")
expect("include/laconic/misc/tool.hpp:1: misc stands in no row")

good_tree()
header(core/key.hpp "#include \"contract.hpp\"\n")
expect("core/key.hpp:3: include headers of the library as")

good_tree()
header(core/key.hpp "\n  # ifdef X\n#endif\n")
expect("core/key.hpp:4: #if, which cmake/layers.txt does not allow here")

foreach(header IN ITEMS backend/host.hpp backend/host/simd.hpp backend/host/impl/fetch.hpp backend/host/impl/x86/avx.hpp)
    good_tree()
    header(${header} "#if defined(X)\n#endif\n")
    expect("include/laconic/${header}:3: #if, which cmake/layers.txt does not allow here")
endforeach()

foreach(line IN ITEMS "#include <emmintrin.h>" "#include <arm_neon.h>" "auto const x = f(_mm_sfence())" "__m128i x")
    foreach(header IN ITEMS wire/stream.hpp backend/host/simd.hpp backend/host/impl/instruction_set.hpp)
        good_tree()
        header(${header} "${line}\n// like _mm_sfence()\n")
        expect("include/laconic/${header}:3: intrinsics outside impl/x86/ and impl/arm/")
    endforeach()
endforeach()

good_tree()
header(compress/top_k.hpp "#include \"laconic/backend/host/simd.hpp\"\n")
expect("compress/top_k.hpp:3: includes backend/host/simd.hpp, which is for headers of backend/ alone")

good_tree()
header(core/forgotten.hpp "")
expect("core/forgotten.hpp:1: all.hpp does not include it")

foreach(header IN ITEMS backend/array.hpp backend/device/system.hpp)
    good_tree()
    header(${header} "#include \"laconic/backend/host/impl/instruction_set.hpp\"\n")
    expect("${header}:3: includes backend/host/impl/instruction_set.hpp, which is for headers of its own folder alone")
endforeach()

foreach(header IN ITEMS backend/host/simd.hpp backend/host/impl/fetch.hpp)
    good_tree()
    header(${header} "#include \"laconic/backend/host/impl/x86/avx.hpp\"\n")
    expect("${header}:3: includes backend/host/impl/x86/avx.hpp, which impl/instruction_set.hpp alone does")
endforeach()

good_tree()
file(WRITE "${tree}/include/laconic/core/key.hpp" "${spdx}${contract}")
expect("core/key.hpp:1: no #pragma once")

good_tree()
file(WRITE "${tree}/include/laconic/core/key.hpp" "#pragma once\n${contract}")
expect("core/key.hpp:1: the first line is not the SPDX line")

good_tree()
string(REPEAT "\n" 297 lines)
header(core/key.hpp "${lines}")
expect("")
header(core/key.hpp "${lines}\n")
expect("core/key.hpp:301: longer than 300 lines")

good_tree()
file(WRITE "${tree}/include/laconic/core/key.hpp" "${spdx}#pragma once\n#include <vector>\n")
expect("core/key.hpp:1: includes no header of the library: core/contract.hpp refuses what is older than C..20")

good_tree()
file(REMOVE "${tree}/tests/backend/host/simd.cpp")
expect("include/laconic/backend/host/simd.hpp:1: has no tests/backend/host/simd.cpp")

good_tree()
file(REMOVE "${tree}/tests/compress/compressor.cpp")
expect("include/laconic/compress/compressor.hpp:1: has no tests/compress/compressor.cpp")
file(APPEND "${tree}/tests/compress/top_k.cpp" "// Also tests other.hpp, compressor.hpp.\n")
expect("")

good_tree()
file(WRITE "${tree}/tests/backend/host/impl/x86/avx.cpp" "#include <vector>\n")
expect("tests/backend/host/impl/x86/avx.cpp:1: the first include is not laconic/backend/host/impl/x86/avx.hpp")

good_tree()
file(REMOVE "${tree}/tests/descent.cpp")
expect("include/laconic/descent.hpp:1: has no tests/descent.cpp")

good_tree()
file(WRITE "${tree}/tests/core/key.cpp" "#include <vector>\n#include \"laconic/core/key.hpp\"\n")
expect("tests/core/key.cpp:1: the first include is not laconic/core/key.hpp")

good_tree()
file(WRITE "${tree}/tests/core/key.cpp" "")
expect("tests/core/key.cpp:1: the first include is not laconic/core/key.hpp")

good_tree()
header(core/key.hpp "#include <cstddef>\n#include <Eigen/Core>\nstd::size_t n; Eigen::VectorXd v; // std::vector\n")
expect("")
header(core/key.hpp "#include <vector>\nstd::vector<std::size_t> n;\n")
expect("core/key.hpp:1: std::size_t without #include <cstddef>")
header(core/key.hpp "std::vectr<int> n;\n")
expect("core/key.hpp:1: std::vectr: add it to the list of standard headers in cmake/check_layers.cmake")
header(core/key.hpp "xsimd::batch<float> b;\n")
expect("core/key.hpp:1: xsimd:: without #include <xsimd/")
header(core/key.hpp "Eigen::VectorXd v;\n")
expect("core/key.hpp:1: Eigen:: without #include <Eigen/")

good_tree()
file(WRITE "${tree}/tests/core/lost.cpp" "")
expect("tests/core/lost.cpp:1: has no include/laconic/core/lost.hpp")

good_tree()
file(WRITE "${tree}/tests/nowhere/lost.cpp" "")
expect("tests/nowhere/lost.cpp:1: is compiled by nothing: nowhere is neither a folder of include/laconic nor a family")
