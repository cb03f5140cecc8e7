// SPDX-License-Identifier: Apache-2.0
// What gnuplot is asked to draw for charts. That a file stays as it was where gnuplot fails is in race_outputs.cpp.
#include "common/gnuplot.hpp"

#include <unistd.h>

#include <filesystem>

#include "common/output.hpp"
#include "support/program.hpp"
#include "support/test.hpp"

/// The drawing as SVG; empty, with a message, where gnuplot is not installed.
std::string drawn(std::vector<output::chart> const& charts) {
    auto const file =
        (std::filesystem::temp_directory_path() / ("laconic_chart_" + std::to_string(getpid()) + ".svg")).string();
    if (!output::draw(file, charts)) {
        MESSAGE("skipped: gnuplot is not installed");
        return "";
    }
    auto const text = text_of(file);
    std::filesystem::remove(file);
    CHECK(text.ends_with("</svg>\n\n"));
    return text;
}
std::size_t count(std::string const& text, std::string const& part) {
    std::size_t n = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}
// How often this is all of a text, except for a space, or its beginning where gnuplot puts it on a line of its own.
std::size_t labels(std::string const& svg, std::string const& text) {
    return count(svg, ">" + text + "<") + count(svg, "> " + text + "<") + count(svg, "\t" + text);
}

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
        CHECK(labels(svg, text) >= 1);
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
    chart.curves.push_back({"empty", {{NAN, 1}}});
    auto const linear = drawn({chart});
    CHECK(count(linear, "nowhere above 0") == 0);
    CHECK(count(linear, "empty, no points") > 0);
    CHECK(count(linear, "<use ") > count(logarithmic, "<use "));  // a mark for each point
    // Nothing at all, and one value only. Beside each other one kind of axes must not become the other's: of those from
    // 1 to 10 the linear ones alone have a 4.
    output::chart const powers{.title = "t", .x = "x", .y = "y"};
    output::chart const even{.title = "t", .x = "x", .y = "y", .curves = {{"none"}}, .logarithmic = false};
    auto const fours = labels(drawn({even}), "4");
    CHECK(fours > 0);
    CHECK(labels(drawn({powers}), "4") == 0);
    CHECK(labels(drawn({powers, even}), "4") == fours);
    CHECK(labels(drawn({even, powers}), "4") == fours);
    CHECK(!drawn({{.title = "t", .x = "x", .y = "y", .curves = {{"level", {{1, 2}, {10, 2}}}}}}).empty());
}

TEST_CASE("draw: few rounds are marked one by one, fractions are not") {
    output::chart chart{
        .title = "t", .x = "x", .y = "y", .curves = {{"a", {{0, 1}, {1, 2}, {2, 4}}}}, .logarithmic = false};
    auto const rounds = drawn({chart});
    if (rounds.empty()) return;
    CHECK(labels(rounds, "0.5") == 0);
    chart.curves[0].points[1].first = 0.5;
    CHECK(labels(drawn({chart}), "0.5") > 0);
}

TEST_CASE("draw: a file that cannot be written is named") {
    CHECK_THROWS_AS(output::draw("/dev/null/here.svg", {{.title = "t", .x = "x", .y = "y"}}), output::lost);
}
