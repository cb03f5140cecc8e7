# SPDX-License-Identifier: Apache-2.0
# laconic_dev: the library as this repository's own programs see it, with warnings. Users never meet this target.
set(CMAKE_CXX_EXTENSIONS OFF)

add_library(laconic_dev INTERFACE)
target_link_libraries(laconic_dev INTERFACE laconic::laconic)
# They compute on the host, also in what the parsers make (cmake/compiled/backend.hpp).
target_compile_definitions(laconic_dev INTERFACE LACONIC_BACKEND=host)
# clang++ counts changes of sign into -Wconversion, g++ does not; both shall ask for the same.
target_compile_options(
    laconic_dev INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wno-sign-conversion;-Wshadow>"
)
# The tests of laconic_c.h make a shared library of the objects that others link, too. CMake's own property would compile
# programs otherwise than these, and a precompiled header fits only one of both.
if(LACONIC_TESTS)
    target_compile_options(laconic_dev INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-fPIC;-fno-semantic-interposition>")
endif()
# Two flags with which g++ takes less time. By default it collects garbage so often that this takes a seventh of its time. Up
# to an eighth of the machine's memory it does not, and three compilers at a time fit in what there is. And where nothing is
# optimised it compiles std::move, std::forward and the like as functions, which takes a thirtieth of its time.
set(laconic_quicker "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    cmake_host_system_information(RESULT megabytes QUERY TOTAL_PHYSICAL_MEMORY)
    math(EXPR kilobytes "${megabytes} * 128")
    set(laconic_quicker --param=ggc-min-heapsize=${kilobytes} -ffold-simple-inlines)
endif()
target_compile_options(laconic_dev INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${laconic_quicker}>")
# Where a function leaves the upper halves of AVX's registers in use, each later call of libm, whose instructions are older,
# takes up to ten times as long. Below -O2 g++ clears them at a function's end only if told to.
target_compile_options(
    laconic_dev INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fexpensive-optimizations>"
)
# lld, where it is, links in a quarter of the time of the default linker.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -fuse-ld=lld)
check_cxx_source_compiles("int main() {}" LACONIC_LINKS_WITH_LLD)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(LACONIC_LINKS_WITH_LLD)
    target_link_options(laconic_dev INTERFACE "$<$<LINK_LANGUAGE:CXX>:-fuse-ld=lld>")
endif()
if(LACONIC_WERROR)
    target_compile_options(laconic_dev INTERFACE $<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-Werror>)
endif()

if(LACONIC_NATIVE)
    include(CheckCXXCompilerFlag)
    check_cxx_compiler_flag(-march=native LACONIC_HAVE_MARCH_NATIVE)
    if(LACONIC_HAVE_MARCH_NATIVE)
        target_compile_options(laconic_dev INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-march=native>")
        # With AVX-512, g++ 12 warns about variables of its own intrinsics. Builds that are not native keep the warning.
        if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
            target_compile_options(
                laconic_dev INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-uninitialized;-Wno-maybe-uninitialized>"
            )
        endif()
    endif()
endif()

if(LACONIC_SANITIZE)
    set(sanitize -fsanitize=${LACONIC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(laconic_dev INTERFACE ${sanitize})
    target_link_options(laconic_dev INTERFACE ${sanitize})
    target_compile_definitions(laconic_dev INTERFACE LACONIC_CONTRACTS=2)
endif()

# laconic_unpack: compressed files are read where the libraries are, and refused with a clear line where they are not.
# Found, never fetched.
add_library(laconic_unpack INTERFACE)
find_package(ZLIB QUIET)
if(ZLIB_FOUND)
    target_link_libraries(laconic_unpack INTERFACE ZLIB::ZLIB)
    target_compile_definitions(laconic_unpack INTERFACE LACONIC_HAVE_ZLIB)
endif()
find_package(LibLZMA QUIET)
if(LIBLZMA_FOUND)
    target_link_libraries(laconic_unpack INTERFACE LibLZMA::LibLZMA)
    target_compile_definitions(laconic_unpack INTERFACE LACONIC_HAVE_LZMA)
endif()
find_package(BZip2 QUIET)  # laconic_files links it, which alone reads bzip2

# find_headers(<file> <out>): the library's headers that a file includes, directly or through others, by their names in
# include/laconic/.
function(find_headers file out)
    get_property(known GLOBAL PROPERTY "headers_of_${file}" SET)
    if(NOT known)
        file(STRINGS "${file}" lines REGEX "^[ \t]*#[ \t]*include *[\"<]laconic/")
        set(all "")
        foreach(line IN LISTS lines)
            string(REGEX REPLACE ".*laconic/([^\">]*)[\">].*" "\\1" header "${line}")
            find_headers("${PROJECT_SOURCE_DIR}/include/laconic/${header}" more)
            list(APPEND all "${header}" ${more})
        endforeach()
        list(REMOVE_DUPLICATES all)
        set_property(GLOBAL PROPERTY "headers_of_${file}" "${all}")
    endif()
    get_property(all GLOBAL PROPERTY "headers_of_${file}")
    set(${out} "${all}" PARENT_SCOPE)
endfunction()
