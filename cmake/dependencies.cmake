# SPDX-License-Identifier: Apache-2.0
# Where each package comes from: this machine; else, where this repository builds programs of its own, its upstream git
# tag; else one error that names all that is missing. Only headers are taken from what is fetched: no build of theirs
# runs. A build that only installs the headers compiles nothing and goes on without.
include(FetchContent)

# The versions that are tested, the oldest and the newest major one; the test package.versions compares what else names
# them.
set(laconic_eigen 3.4)
set(laconic_eigen_to 5)
set(laconic_xsimd 8.1)
set(laconic_xsimd_to 14)

set(laconic_missing "") # packages that were neither found nor fetched
set(laconic_fetched "") # packages that were fetched
set(laconic_programs FALSE)
if(LACONIC_TESTS OR LACONIC_EXAMPLES OR LACONIC_BENCH OR LACONIC_FUZZ)
    set(laconic_programs TRUE)
endif()

# need(<target> <package> <include folder> <repository> <tag> [<arguments of find_package>...])
# Global targets, for a project that adds this one as a subdirectory links them too.
macro(need target package folder repository tag)
    if(NOT TARGET ${target})
        find_package(${package} ${ARGN} QUIET GLOBAL)
    endif()
    if(NOT TARGET ${target})
        if(PROJECT_IS_TOP_LEVEL AND NOT laconic_programs)
            message(STATUS "${package} is not installed: the headers can be, and programs that use them will need it")
        elseif(PROJECT_IS_TOP_LEVEL)
            message(STATUS "${package} is not installed (cmake/install-deps.sh does that): fetching ${repository} ${tag}")
            fetch(${target} ${package} ${folder} ${repository} ${tag})
            list(APPEND laconic_fetched ${package})
        else()
            list(APPEND laconic_missing ${package})
        endif()
    endif()
endmacro()

function(fetch target package folder repository tag)
    # A SOURCE_SUBDIR without a CMakeLists.txt: the sources are brought, and nothing of them is added to this build.
    FetchContent_Declare(
        ${package}
        GIT_REPOSITORY ${repository}
        GIT_TAG ${tag}
        GIT_SHALLOW ON
        SOURCE_SUBDIR no-build-of-its-own
    )
    FetchContent_MakeAvailable(${package})
    string(TOLOWER ${package} name)
    # Imported, so that its headers are system headers and give no warnings here.
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} INTERFACE "${${name}_SOURCE_DIR}/${folder}")
endfunction()

set(git_hub https://github.com)
need(Eigen3::Eigen Eigen3 . https://gitlab.com/libeigen/eigen.git 3.4.0)
need(laconic::xsimd Xsimd include ${git_hub}/xtensor-stack/xsimd.git 13.2.0 ${laconic_xsimd} MODULE)

if(LACONIC_TESTS)
    need(doctest::doctest doctest . ${git_hub}/doctest/doctest.git v2.4.11)
endif()
if(LACONIC_EXAMPLES OR LACONIC_BENCH)
    need(CLI11::CLI11 CLI11 include ${git_hub}/CLIUtils/CLI11.git v2.4.2)
    need(fmt::fmt fmt include ${git_hub}/fmtlib/fmt.git 10.2.1)
    if("fmt" IN_LIST laconic_fetched)
        target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
    endif()
endif()
if(LACONIC_BENCH)
    find_package(benchmark QUIET GLOBAL)
    if(NOT TARGET benchmark::benchmark)
        list(APPEND laconic_missing "Google Benchmark") # a library to link: its headers alone are no use
    endif()
endif()
if(LACONIC_TESTS OR LACONIC_EXAMPLES)
    need(nlohmann_json::nlohmann_json nlohmann_json single_include ${git_hub}/nlohmann/json.git v3.11.3)
endif()

if(laconic_missing)
    list(JOIN laconic_missing ", " laconic_missing)
    message(
        FATAL_ERROR
        "laconic needs packages that are not installed: ${laconic_missing}.\n"
        "Install them, with cmake/install-deps.sh of laconic for example, or name their place in CMAKE_PREFIX_PATH."
    )
endif()

if(NOT TARGET Threads::Threads)
    find_package(Threads REQUIRED GLOBAL)
endif()
