// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <fstream>

#include "support/test.hpp"

// A program as its users run it: what it prints and returns.

struct outcome {
    int status;
    std::string out;  // standard output and error together
};

inline outcome run_program(std::string command, std::string const& arguments) {
    command.append(" ").append(arguments).append(" 2>&1");
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe);
    std::string text;
    char piece[4096];
    for (std::size_t n; (n = std::fread(piece, 1, sizeof piece, pipe)) > 0;) text.append(piece, n);
    int const status = pclose(pipe);
    REQUIRE(WIFEXITED(status));
    return {WEXITSTATUS(status), text};
}

inline std::string text_of(std::string const& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Arguments that are wrong, and part of the one line "name: ..." that must name the mistake, with status 2.
struct refusal {
    std::string arguments, expected;
};
inline void check_refusals(std::string const& command, std::string const& name, std::vector<refusal> const& cases) {
    for (auto const& c : cases) {
        auto const run = run_program(command, c.arguments);
        INFO(c.arguments << " -> " << run.out);
        CHECK(run.status == 2);
        CHECK(run.out.starts_with(name + ": "));
        CHECK(run.out.find(c.expected) != std::string::npos);
        CHECK(run.out.find('\n') == run.out.size() - 1);
    }
}
