// SPDX-License-Identifier: Apache-2.0
// What the small examples draw with --plot. That they reach what they compare is in the tests example.*.
#include <unistd.h>

#include <filesystem>

#include "support/program.hpp"
#include "support/test.hpp"

struct drawing {
    std::string program;
    std::vector<std::string> names;  // of axes and curves
};

TEST_CASE("the examples draw with --plot what their tables have") {
    std::vector<drawing> const all = {
        {LACONIC_DECENTRALIZED, {"f - f*", "distance from the mean model", "q_gadmm, a chain", "choco, a ring, 2 num"}},
        {LACONIC_VERTICAL, {"f - f*", "kB sent by the bank", "p, 1 local step", "top 10 %"}},
        {LACONIC_SECOND_ORDER, {"f - f*", "kB sent per worker", "diana(natural)", "fednl(natural)", "ds_lsr1(mem"}},
        {LACONIC_ADANET, {"round", "F, on the training rows", "error on the test rows"}}};
    namespace fs = std::filesystem;
    auto const file = (fs::temp_directory_path() / ("laconic_plot_" + std::to_string(getpid()) + ".svg")).string();
    for (auto const& each : all) {
        auto const run = run_program(each.program, "--plot " + file);
        INFO(each.program << ": " << run.out);
        if (run.status == 2 && run.out.find("gnuplot is not installed") != std::string::npos) {
            MESSAGE("skipped: gnuplot is not installed");
            return;
        }
        CHECK(run.status == 0);
        auto const svg = text_of(file);
        CHECK(svg.ends_with("</svg>\n\n"));
        for (auto const& name : each.names) {
            CAPTURE(name);
            CHECK(svg.find(name) != std::string::npos);
        }
        CHECK(svg.find("nowhere above 0") == std::string::npos);
        fs::remove(file);
    }
}

TEST_CASE("the examples say what is wrong with --plot, and what is missing for it") {
    check_refusals(LACONIC_VERTICAL, "vertical",
                   {{"--plot here.txt", "--plot: here.txt does not end in .svg, .png or .pdf"},
                    {"--plot /dev/null/here.svg", "/dev/null/here.svg"},
                    {"--plt here.svg", "--plt"}});
    check_refusals(LACONIC_ADANET, "adanet", {{"/nowhere/data", "/nowhere/data"}});
    auto const none = run_program("PATH=/nowhere " LACONIC_VERTICAL, "--plot plot_without_gnuplot.svg");
    CHECK(none.status == 2);
    CHECK(none.out.find("vertical: gnuplot is not installed; plot_without_gnuplot.svg is not written\n") !=
          std::string::npos);
    CHECK(std::count(none.out.begin(), none.out.end(), '\n') == 7);  // the table is there
    CHECK(!std::filesystem::exists("plot_without_gnuplot.svg"));
    CHECK(run_program(LACONIC_DECENTRALIZED, "--help").out.find("--plot") != std::string::npos);
}
