// SPDX-License-Identifier: Apache-2.0
// What gnuplot is asked to draw for charts. That a file stays as it was where gnuplot fails is in race_outputs.cpp.
#include "gnuplot.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "output.hpp"

namespace tests_of_gnuplot {
namespace {

/// The drawing as SVG; empty, with a message, where gnuplot is not installed.
std::string drawn(std::vector<output::chart> const& charts) {
    auto const file =
        (std::filesystem::temp_directory_path() / ("laconic_chart_" + std::to_string(getpid()) + ".svg")).string();
    if (!output::draw(file, charts)) {
        MESSAGE("skipped: gnuplot is not installed");
        return "";
    }
    std::ifstream in(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove(file);
    CHECK(text.ends_with("</svg>\n\n"));
    return text;
}
std::size_t count(std::string const& text, std::string const& part) {
    std::size_t n = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

}  // namespace

TEST_CASE("draw: only svg, png and pdf") {
    for (auto const* name : {"a.svg", "b.png", "c.d.pdf"}) CHECK(output::can_draw(name));
    for (auto const* name : {"a.txt", "svg", "a.svg ", ""}) CHECK(!output::can_draw(name));
}

TEST_CASE("draw: charts side by side, each with its titles and its curves' names") {
    auto const svg = drawn({{.title = "left", .x = "bits", .y = "gap", .curves = {{"it's", {{1, 1}, {10, 0.1}}}}},
                            {.title = "right", .x = "rounds", .y = "F", .curves = {{"one", {{1, 1}, {2, 0.1}}}}}});
    if (svg.empty()) return;
    for (auto const* text : {"left", "right", "bits", "gap", "rounds", "it's", "one"}) {
        CAPTURE(text);
        CHECK(count(svg, std::string(">") + text + "<") + count(svg, std::string("\t") + text) >= 1);
    }
    CHECK(svg.find("viewBox=\"0 0 1600 600\"") != std::string::npos);
}

TEST_CASE("draw: points without a place on logarithmic axes are left out, on others they are drawn") {
    output::chart chart{.title = "t",
                        .x = "x",
                        .y = "y",
                        .curves = {{"all", {{0, 1}, {1, -1}, {NAN, 1}}}, {"some", {{1, 1}, {2, -2}}}}};
    auto const logarithmic = drawn({chart});
    if (logarithmic.empty()) return;
    CHECK(count(logarithmic, "all, nowhere above 0") > 0);
    CHECK(count(logarithmic, "some, nowhere above 0") == 0);
    chart.logarithmic = false;
    auto const linear = drawn({chart});
    CHECK(count(linear, "nowhere above 0") == 0);
    CHECK(count(linear, "<use ") > count(logarithmic, "<use "));  // a mark for each point
    // Nothing at all, and one value only; beside others, where one kind of axes must not become the other's.
    for (bool const is : {true, false})
        CHECK(!drawn({{.title = "t", .x = "x", .y = "y", .curves = {{"none"}}, .logarithmic = is}}).empty());
    auto const powers = [](std::vector<output::chart> const& charts) {
        return count(drawn(charts), "font-size=\"11.2\"");
    };
    output::chart const none{.title = "t", .x = "x", .y = "y"};
    CHECK(powers({none}) > 0);
    CHECK(powers({none, chart}) == powers({none}));
    CHECK(!drawn({{.title = "t", .x = "x", .y = "y", .curves = {{"level", {{1, 2}, {10, 2}}}}}}).empty());
}

TEST_CASE("draw: a file that cannot be written is named") {
    CHECK_THROWS_AS(output::draw("/dev/null/here.svg", {{.title = "t", .x = "x", .y = "y"}}), output::lost);
}

}  // namespace tests_of_gnuplot
