// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/program.hpp"
#include "support/test.hpp"

/// A folder of this process's own, removed at the end.
inline std::string const& folder() {
    static struct once {
        std::string path = "race_test_" + std::to_string(getpid());
        once() { (void)std::system(("mkdir -p " + path).c_str()); }
        ~once() { (void)std::system(("rm -rf " + path).c_str()); }
    } const it;
    return it.path;
}
inline std::string file_with(std::string const& name, std::string const& text) {
    auto const path = folder() + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
}

inline outcome run_race(std::string const& arguments) { return run_program(LACONIC_RACE, arguments); }

/// What it writes with --json.
inline nlohmann::json race_json(std::string const& arguments) {
    auto const file = folder() + "/race.json";
    auto const run = run_race(arguments + " --quiet --json " + file);
    INFO(run.out);
    REQUIRE(run.status == 0);
    CHECK(run.out.empty());
    return nlohmann::json::parse(text_of(file));
}
