# SPDX-License-Identifier: Apache-2.0
# cmake -D COMPILER=<compiler> -D FLAGS=<flags> -D STANDARD=<flag> -D INCLUDES=<folders> -D PREAMBLE=<header>
#     [-D SOURCES=<files> [-D CONTROL=ON]] -P check.cmake
# Without SOURCES it precompiles PREAMBLE. With one, it fails unless each section of that file does not compile, for the
# reason that the file states; with CONTROL, unless the files compile where no section is chosen. CMakeLists.txt here says
# how a section is written.
cmake_minimum_required(VERSION 3.25)

list(TRANSFORM INCLUDES PREPEND -I)
separate_arguments(FLAGS NATIVE_COMMAND "${FLAGS}")
set(compile "${COMPILER}" ${FLAGS} ${STANDARD} ${INCLUDES})

if(NOT DEFINED SOURCES)
    # g++ and clang++ look for it beside the header that is named; without it they read that.
    execute_process(
        COMMAND ${compile} -x c++-header "${PREAMBLE}" -o "${PREAMBLE}.gch" COMMAND_ERROR_IS_FATAL ANY
    )
    return()
endif()

# All that the compiler is to read, as one file.
set(theme control)
if(NOT CONTROL)
    get_filename_component(theme "${SOURCES}" NAME_WE)
endif()
get_filename_component(work "${PREAMBLE}" DIRECTORY)
string(APPEND work "/${theme}")
file(REMOVE_RECURSE "${work}")
set(batch "")
set(names "")
foreach(source IN LISTS SOURCES)
    file(READ "${source}" text)
    if(CONTROL)
        get_filename_component(sections "${source}" NAME_WE)
        string(PREPEND sections "of_")
    else()
        string(REGEX MATCHALL "defined\\([A-Z0-9_]+\\)|// expect [A-Z0-9_]+[: ]" sections "${text}")
        list(TRANSFORM sections REPLACE ".*[( ]([A-Z0-9_]+)[): ]$" "\\1")
        list(REMOVE_DUPLICATES sections)
    endif()
    list(APPEND names ${sections})
    foreach(section IN LISTS sections)
        configure_file("${source}" "${work}/section_${section}.cpp" COPYONLY)
        string(APPEND batch "#define ${section}\nnamespace section_${section} {\n#include \"section_${section}.cpp\"\n}\n"
                            "#undef ${section}\n")
    endforeach()
endforeach()
file(WRITE "${work}/batch.cpp" "${batch}")

# Messages in English and without curly quotes; without what g++ says of Eigen's packets.
set(ENV{LC_ALL} C)
execute_process(
    COMMAND ${compile} -Wno-ignored-attributes -include "${PREAMBLE}" -fsyntax-only "${work}/batch.cpp"
    RESULT_VARIABLE status
    ERROR_VARIABLE output
)
if(CONTROL)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "the control does not compile:\n${output}")
    endif()
    return()
endif()

# What the compiler prints, as messages of several lines: an error or a warning with its notes; where it was instantiated
# g++ prints before it, clang++ after it. A message that names no section follows from the one before it. By which headers an error is reached says how the preamble is
# ordered, and nothing of the message.
string(REGEX REPLACE "(In file included |  +)from [^\n]*\n" "" lines "${output}")
string(REGEX REPLACE "[][;\\]" " " lines "${lines}")
string(REPLACE "\n" ";" lines "${lines}")
set(message "")
set(before "")
set(section "")
foreach(line IN LISTS lines ITEMS ": error: the end")
    if(NOT line MATCHES ": (fatal )?(error|warning): ")
        if(line MATCHES "^[^ ].*: (In |At | +(required|recursively required|in ))")
            list(APPEND before "${line}")
        else()
            list(APPEND message ${before} "${line}")
            set(before "")
        endif()
        continue()
    endif()
    # The message before this line has ended.
    if(message MATCHES "section_([A-Z0-9_]+)(\\.cpp:|::)")
        set(section ${CMAKE_MATCH_1})
    endif()
    if(message AND section)
        if(NOT DEFINED error_of_${section} AND message MATCHES "error: [^;]*")
            set(error_of_${section} "${CMAKE_MATCH_0}")
        endif()
        list(APPEND lines_of_${section} ${message})
    endif()
    set(message ${before} "${line}")
    set(before "")
endforeach()

file(READ "${SOURCES}" text)
set(complaints "")
foreach(section IN LISTS names)
    if(NOT text MATCHES "// expect ${section}( \\(([0-9]+)\\))?: *([^\n]+)")
        list(APPEND complaints "${section} has no line `// expect ${section}: regex`")
        continue()
    endif()
    set(most "${CMAKE_MATCH_2}")
    set(expected "${CMAKE_MATCH_3}")
    list(LENGTH lines_of_${section} count)
    list(JOIN lines_of_${section} "\n" printed)
    if(NOT DEFINED error_of_${section})
        list(APPEND complaints "${section} compiles, and must not, or another section fails at the same function and types")
    elseif(NOT error_of_${section} MATCHES "${expected}")
        list(APPEND complaints "${section} does not compile, but the first error is not `${expected}`:\n${printed}")
    elseif(most AND count GREATER most)
        list(APPEND complaints "${section}: the compiler prints ${count} lines, more than ${most}:\n${printed}")
    endif()
    if(DEFINED ENV{F3})
        message("${section} ${count}")
    endif()
endforeach()
if(complaints)
    list(JOIN complaints "\n\n" complaints)
    message(FATAL_ERROR "${SOURCES}:\n${complaints}")
endif()
