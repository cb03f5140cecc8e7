# SPDX-License-Identifier: Apache-2.0
# cmake [-D ROOT=<checkout>] -P check_layers.cmake
# Reads every header as text and fails, with file and line, where one breaks a rule of the house:
#   - it includes only rows below its own (layers.txt) and its own folder;
#   - it includes headers of a folder impl/ only if it is under the folder that holds this one, and those of a processor
#     (impl/x86/, impl/arm/, impl/xsimd_pack.hpp, which needs them) only where the instruction set is chosen;
#   - it starts with the SPDX line, says #pragma once, has at most 300 lines, no #if except where layers.txt allows it, and no
#     intrinsics but in impl/x86/ and impl/arm/;
#   - it includes a header of the library, so that core/contract.hpp, which is under all of them, refuses older languages;
#   - it includes the standard header of every std:: name that it uses, which the list below has, Eigen's where it uses
#     Eigen:: and xsimd's where it uses xsimd:: (tests are compiled with a precompiled header that has many of these, so
#     compilers do not miss them), and so do small examples;
#   - include/laconic/x/y.hpp has tests/x/y.cpp, whose first include it is, and that test has that header; or a test in
#     tests/x/ is a table for several headers, and says `// Also tests y.hpp, z.hpp`. Headers under impl/ may do without: the tests of the kernels that are made of them run them, for each instruction set that the
#     compiler's flags allow (tests/builds).
cmake_minimum_required(VERSION 3.25)

if(NOT DEFINED ROOT)
    get_filename_component(ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
endif()
set(include "${ROOT}/include/laconic")
set(longest 300)
set(complaints 0)

function(complain place text)
    message(NOTICE "${place}: ${text}")
    math(EXPR complaints "${complaints} + 1")
    set(complaints ${complaints} PARENT_SCOPE)
endfunction()

# A standard header, and what it is needed for.
set(standard
    "algorithm: adjacent_find all_of any_of binary_search clamp copy copy_backward copy_n count count_if equal equal_range fill fill_n find find_first_of find_if find_if_not for_each generate includes inplace_merge is_sorted is_sorted_until lexicographical_compare lower_bound max max_element merge min min_element minmax minmax_element mismatch move_backward none_of nth_element partial_sort partition remove_if replace reverse reverse_copy rotate search set_difference set_intersection set_union shuffle sort stable_sort swap_ranges transform unique unique_copy upper_bound"
    "array: array"
    "atomic: atomic atomic_ref atomic_thread_fence memory_order_acquire memory_order_relaxed"
    "barrier: barrier"
    "bit: bit_cast bit_ceil bit_floor bit_width countl_one countl_zero countr_one countr_zero endian has_single_bit popcount rotl rotr"
    "cctype: isspace tolower"
    "charconv: chars_format from_chars from_chars_result to_chars"
    "chrono: chrono"
    "cmath: abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor fma fmax fmin fmod frexp hypot ilogb isfinite isinf isnan ldexp lgamma llround log log10 log1p log2 lround modf nan nearbyint nextafter pow remainder rint round scalbn signbit sin sinh sqrt tan tanh tgamma trunc"
    "concepts: convertible_to copy_constructible copyable default_initializable derived_from equality_comparable floating_point integral invocable movable same_as semiregular signed_integral unsigned_integral"
    "condition_variable: condition_variable"
    "cstddef: byte ptrdiff_t size_t to_integer"
    "cstdint: int16_t int32_t int64_t int8_t uint16_t uint32_t uint64_t uint8_t uintptr_t"
    "cstdio: fflush fprintf printf snprintf"
    "cstdlib: abort atoi strtoull"
    "cstring: memcmp memcpy memset strerror strlen"
    "deque: deque"
    "exception: current_exception exception exception_ptr make_exception_ptr rethrow_exception uncaught_exceptions"
    "fstream: ifstream ofstream"
    "functional: function greater identity invoke less minus multiplies plus reference_wrapper"
    "initializer_list: initializer_list"
    "istream: istream"
    "iterator: back_inserter distance next prev"
    "limits: numeric_limits"
    "list: list"
    "locale: locale"
    "map: map multimap"
    "memory: make_shared make_unique shared_ptr unique_ptr"
    "mutex: call_once lock_guard mutex once_flag unique_lock"
    "new: bad_array_new_length"
    "numbers: numbers"
    "numeric: accumulate exclusive_scan gcd inclusive_scan inner_product iota lcm midpoint partial_sum reduce transform_reduce"
    "optional: nullopt optional"
    "queue: priority_queue"
    "random: mt19937 normal_distribution random_device"
    "set: set"
    "span: as_bytes as_writable_bytes span"
    "sstream: istringstream ostringstream"
    "stdexcept: runtime_error"
    "streambuf: streambuf"
    "string: string to_string"
    "string_view: string_view"
    "thread: jthread this_thread thread"
    "tuple: apply tie tuple tuple_element_t tuple_size_v"
    "type_traits: bool_constant conditional_t false_type integral_constant invoke_result_t is_arithmetic_v is_const_v is_empty_v is_enum_v is_integral_v is_lvalue_reference_v is_member_object_pointer_v is_pointer_v is_same_v is_signed_v is_trivially_copyable_v is_unsigned_v make_signed_t make_unsigned_t remove_const_t remove_cv_t remove_cvref_t remove_pointer_t remove_reference_t true_type type_identity type_identity_t"
    "unordered_map: unordered_map"
    "utility: as_const declval exchange forward index_sequence make_index_sequence move pair swap"
    "variant: holds_alternative monostate variant visit"
    "vector: vector"
)
set(of_several_headers begin data end erase errc get streamsize)
foreach(line IN LISTS standard)
    string(REGEX MATCH "^[a-z_]+" home "${line}")
    string(REGEX REPLACE "^[a-z_]+: " "" names "${line}")
    string(REPLACE " " ";" names "${names}")
    foreach(name IN LISTS names)
        set(home_of_${name} ${home})
    endforeach()
endforeach()

# Complains of each standard header that a file uses and does not include; those that are named further it need not.
function(check_standard_includes place path)
    file(READ "${path}" text)
    foreach(header IN LISTS ARGN)
        string(APPEND text "#include <${header}>\n")
    endforeach()
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    string(REGEX MATCHALL "std::[a-z_0-9]+" names "${text}")
    list(REMOVE_DUPLICATES names)
    foreach(name IN LISTS names)
        string(REPLACE "std::" "" name "${name}")
        if(name IN_LIST of_several_headers)
            continue()
        elseif(NOT DEFINED home_of_${name})
            complain("${place}:1" "std::${name}: add it to the list of standard headers in cmake/check_layers.cmake")
        elseif(NOT text MATCHES "#include <${home_of_${name}}>")
            complain("${place}:1" "std::${name} without #include <${home_of_${name}}>")
        endif()
    endforeach()
    if(text MATCHES "Eigen::" AND NOT text MATCHES "#include <Eigen/|namespace Eigen {")
        complain("${place}:1" "Eigen:: without #include <Eigen/...>")
    endif()
    if(text MATCHES "[^a-z_:]xsimd::" AND NOT text MATCHES "#include <xsimd/")
        complain("${place}:1" "xsimd:: without #include <xsimd/...>")
    endif()
    set(complaints ${complaints} PARENT_SCOPE)
endfunction()

# The lines of a file as a list. What CMake's lists take for syntax is replaced; no rule here looks at it.
function(read_lines file out)
    file(READ "${file}" text)
    string(REGEX REPLACE "\n$" "" text "${text}")
    string(REGEX REPLACE "[][;\\]" "_" text "${text}")
    string(REPLACE "\n" ";" text "${text}")
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

# The rows: row_all.hpp = 1, row_laconic.hpp = 2, ...
set(row 0)
set(may_use_if "")
set(not_in_all "")
read_lines("${ROOT}/cmake/layers.txt" lines)
foreach(line IN LISTS lines)
    if(line MATCHES "^may use #if: (.*)$")
        string(REPLACE " " ";" may_use_if "${CMAKE_MATCH_1}")
    elseif(line MATCHES "^not in all.hpp: (.*)$")
        string(REPLACE " " "|" not_in_all "${CMAKE_MATCH_1}")
    elseif(NOT line MATCHES "^(#.*)?$")
        math(EXPR row "${row} + 1")
        string(REPLACE " " ";" units "${line}")
        foreach(unit IN LISTS units)
            set(row_${unit} ${row})
        endforeach()
    endif()
endforeach()

# What stands in a row: a folder, or a header of the root such as descent.hpp. compress.hpp belongs to compress/.
function(unit_of path out)
    string(REGEX REPLACE "/.*" "" unit "${path}")
    string(REGEX REPLACE "[.]hpp$" "" folder "${unit}")
    if(DEFINED row_${folder})
        set(unit "${folder}")
    endif()
    set(${out} "${unit}" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE headers RELATIVE "${include}" "${include}/*.hpp")
if(NOT headers)
    complain("${include}" "no header here")
endif()
# The headers of the methods that method/methods.hpp lists, and the first of the tables with their tests.
set(methods "")
set(rows_of_methods "")
if(EXISTS "${include}/method/methods.hpp")
    file(STRINGS "${include}/method/methods.hpp" methods REGEX "^#include \"laconic/method/")
    list(TRANSFORM methods REPLACE "^#include \"laconic/(method/.*)\"$" "\\1")
    file(READ "${ROOT}/tests/method/methods.cpp" rows_of_methods)
endif()

foreach(header IN LISTS headers)
    set(file "include/laconic/${header}")
    unit_of("${header}" unit)
    if(NOT DEFINED row_${unit})
        complain("${file}:1" "${unit} stands in no row of cmake/layers.txt")
        continue()
    endif()

    read_lines("${include}/${header}" lines)
    list(LENGTH lines length)
    if(length GREATER longest)
        complain("${file}:${length}" "longer than ${longest} lines")
    endif()
    list(GET lines 0 first)
    if(NOT first STREQUAL "// SPDX-License-Identifier: Apache-2.0")
        complain("${file}:1" "the first line is not the SPDX line")
    endif()

    set(may_if FALSE)
    foreach(allowed IN LISTS may_use_if)
        if(header STREQUAL allowed OR (allowed MATCHES "/$" AND header MATCHES "^${allowed}"))
            set(may_if TRUE)
        endif()
    endforeach()
    string(REGEX MATCH "/impl/(x86|arm)/" of_processor "/${header}")

    set(number 0)
    set(once FALSE)
    set(guarded FALSE)
    foreach(line IN LISTS lines)
        math(EXPR number "${number} + 1")
        string(REGEX REPLACE "//.*" "" code "${line}")
        if(NOT of_processor AND code MATCHES "_mm[0-9]*_[a-z]|__m(128|256|512)|<([a-z0-9]*intrin|arm_neon)[.]h>")
            complain("${file}:${number}" "intrinsics outside impl/x86/ and impl/arm/")
        endif()
        if(NOT line MATCHES "^[ \t]*#[ \t]*(.*)$")
            continue()
        endif()
        set(directive "${CMAKE_MATCH_1}")
        if(directive MATCHES "^pragma +once")
            set(once TRUE)
        elseif(directive MATCHES "^if" AND NOT may_if)
            complain("${file}:${number}" "#if, which cmake/layers.txt does not allow here")
        elseif(directive MATCHES "^include *[\"<]laconic/([^\">]*)[\">]")
            set(other "${CMAKE_MATCH_1}")
            set(guarded TRUE)
            list(APPEND "includes_of_${header}" "${other}")
            unit_of("${other}" other_unit)
            string(REGEX REPLACE "impl/.*" "" holder "${other}")
            if(NOT DEFINED row_${other_unit})
                complain("${file}:${number}" "includes ${other}, but ${other_unit} stands in no row of cmake/layers.txt")
            elseif(NOT unit STREQUAL other_unit AND NOT row_${other_unit} GREATER row_${unit})
                complain("${file}:${number}" "forbidden edge ${unit} -> ${other_unit}: includes ${other}")
            elseif(other MATCHES "^backend/[a-z]+/" AND NOT unit STREQUAL "backend" AND NOT row_${unit} EQUAL 1)
                complain("${file}:${number}" "includes ${other}, which is for headers of backend/ alone")
            elseif(other MATCHES "/impl/" AND NOT header MATCHES "^${holder}")
                complain("${file}:${number}" "includes ${other}, which is for headers of its own folder alone")
            elseif(other MATCHES "/impl/((x86|arm)/|xsimd_pack)" AND NOT of_processor AND NOT may_if)
                complain("${file}:${number}" "includes ${other}, which impl/instruction_set.hpp alone does")
            endif()
        elseif(directive MATCHES "^include *<([a-z_/A-Z]+)>")
            list(APPEND "others_of_${header}" "${CMAKE_MATCH_1}")
        elseif(directive MATCHES "^include *\"")
            complain("${file}:${number}" "include headers of the library as \"laconic/...\", so that this check sees the edge")
        endif()
    endforeach()
    if(NOT once)
        complain("${file}:1" "no #pragma once")
    endif()
    if(NOT guarded AND NOT header STREQUAL "core/contract.hpp")
        complain("${file}:1" "includes no header of the library: core/contract.hpp refuses what is older than C++20")
    endif()
    check_standard_includes("${file}" "${include}/${header}")

    string(REGEX REPLACE "[.]hpp$" ".cpp" test "tests/${header}")
    if(EXISTS "${ROOT}/${test}")
        read_lines("${ROOT}/${test}" lines)
        list(FILTER lines INCLUDE REGEX "^[ \t]*#[ \t]*include")
        list(SUBLIST lines 0 1 first)
        if(NOT first MATCHES "[\"<]laconic/${header}[\">]")
            complain("${test}:1" "the first include is not laconic/${header}")
        endif()
    elseif("${header}" IN_LIST methods)
        # The methods that are listed there share tables, tests/method/methods_*.cpp; each has a row in the first.
        get_filename_component(name "${header}" NAME_WE)
        if(NOT rows_of_methods MATCHES "\"${name}[(\"]")
            complain("${file}:1" "has no ${test}, nor a row in tests/method/methods.cpp")
        endif()
    elseif(NOT header MATCHES "/impl/")
        # A table of tests for several headers of a folder names each of them.
        string(REGEX MATCH "^(.*)/([^/]*)[.]cpp$" found "${test}")
        file(GLOB tables "${ROOT}/${CMAKE_MATCH_1}/*.cpp")
        set(name "${CMAKE_MATCH_2}")
        set(named "")
        foreach(table IN LISTS tables)
            file(STRINGS "${table}" lines REGEX "^// Also tests (.* )?${name}[.]hpp")
            list(APPEND named ${lines})
        endforeach()
        if(NOT named)
            complain("${file}:1" "has no ${test}")
        endif()
    endif()
endforeach()

# These folders of tests have a CMakeLists.txt of their own, or hold helpers.
set(families additions builds device examples fuzz guards mpi must_not_compile nccl package support)
# The other way round: a test in a folder of the library has its header; x_on_device.cpp tests x.hpp with a device.
file(GLOB_RECURSE tests RELATIVE "${ROOT}/tests" "${ROOT}/tests/*.cpp")
foreach(test IN LISTS tests)
    string(REGEX REPLACE "/.*" "" folder "${test}")
    string(REGEX REPLACE "(_on_device)?[.]cpp$" ".hpp" header "${test}")
    string(REGEX REPLACE "^method/methods_.*" "method/methods.hpp" header "${header}")
    if(test MATCHES "/" AND NOT IS_DIRECTORY "${include}/${folder}" AND NOT folder IN_LIST families)
        complain("tests/${test}:1" "is compiled by nothing: ${folder} is neither a folder of include/laconic nor a family of tests")
    endif()
    if(DEFINED row_${folder} AND NOT EXISTS "${include}/${header}")
        complain("tests/${test}:1" "has no include/laconic/${header}")
    endif()
endforeach()

# Small examples are compiled behind others (examples/CMakeLists.txt): of standard headers each includes those that it needs
# and that no header of the library that it includes does.
file(GLOB examples "${ROOT}/examples/first/*.cpp" "${ROOT}/examples/how_to/*.cpp" "${ROOT}/examples/own/*.cpp" "${ROOT}/examples/reduce/*.cpp")
foreach(example IN LISTS examples)
    file(STRINGS "${example}" next REGEX "^#include .laconic/")
    list(TRANSFORM next REPLACE "^#include .laconic/(.*).$" "\\1")
    set(all "")
    set(others "")
    while(next)
        list(POP_FRONT next header)
        if(NOT header IN_LIST all)
            list(APPEND all "${header}")
            list(APPEND next ${includes_of_${header}})
            list(APPEND others ${others_of_${header}})
        endif()
    endwhile()
    file(RELATIVE_PATH place "${ROOT}" "${example}")
    check_standard_includes("${place}" "${example}" ${others})
endforeach()

# Everything is in all.hpp: asked last, of headers that are otherwise good.
set(next all.hpp)
while(next)
    list(POP_FRONT next header)
    foreach(other IN LISTS "includes_of_${header}")
        if(NOT DEFINED "reached_${other}")
            set("reached_${other}" TRUE)
            list(APPEND next "${other}")
        endif()
    endforeach()
endwhile()
foreach(header IN LISTS headers)
    if(complaints EQUAL 0 AND NOT DEFINED "reached_${header}" AND NOT header MATCHES "^(all.hpp|${not_in_all})|/impl/")
        complain("include/laconic/${header}:1" "all.hpp does not include it")
    endif()
endforeach()

list(LENGTH headers count)
if(complaints GREATER 0)
    message(FATAL_ERROR "${complaints} complaints about ${count} headers")
endif()
message(STATUS "${count} headers keep the rules")
