// SPDX-License-Identifier: Apache-2.0
//
// Toy problems whose optimum is known in closed form: the theorem of each family of methods, beside what the methods do
// there. Returns 1 where a run breaks its bound.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "common/output.hpp"
#include "common/program.hpp"
#include "line.hpp"
#include "picture.hpp"

namespace {

using namespace convergence;

struct asked {
    std::vector<std::string> names;
    std::string out;
    options how;
    double spoil = 1;
    bool list = false;
};

std::vector<family> chosen(std::vector<std::string> const& names) {
    std::vector<family> result;
    for (auto const& f : families())
        if (names.empty() ? !f.is_by_name_only : std::ranges::find(names, f.name) != names.end()) result.push_back(f);
    for (auto const& name : names)
        if (std::ranges::none_of(families(), [&](family const& f) { return f.name == name; }))
            throw laconic::argument_error("there is no family '" + name + "'; --list has them all");
    return result;
}

void make_folder(std::string const& name) {
    std::error_code failed;
    std::filesystem::create_directories(name, failed);
    if (failed) throw laconic::file_error(name, 0, 0, "cannot be made: " + failed.message());
}

int prove(asked const& a) {
    if (a.list) {
        for (auto const& f : families()) output::print(fmt::format("{:<14} {}\n", f.name, f.about));
        return 0;
    }
    if (a.how.runs < 2) throw laconic::argument_error("--seeds: at least 2 are needed for a standard error");
    if (!(a.spoil > 0)) throw laconic::argument_error(fmt::format("--spoil: {} is not above 0", a.spoil));
    auto const families = chosen(a.names);
    if (!a.out.empty()) make_folder(a.out);
    std::vector<line> all;
    bool drawn = true;
    for (auto const& f : families) {
        auto lines = f.lines(a.how);
        for (auto& l : lines) l.bound = spoiled(l.bound, a.spoil);
        if (!a.out.empty()) drawn = convergence::draw(a.out, f, lines) && drawn;
        std::ranges::move(lines, std::back_inserter(all));
    }
    output::print(table(all));
    if (!drawn) throw laconic::error("gnuplot is not installed, so there are no pictures");
    return std::ranges::all_of(all, [](line const& l) { return judge(l).holds; }) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    asked a;
    CLI::App app("Toy problems with known optimum: every theorem's bound beside what the method does.", "convergence");
    app.add_option("FAMILY", a.names, "Families of methods; all that hold where none is named");
    app.add_flag("--list", a.list, "Print the families and stop");
    app.add_option("--out", a.out, "A folder for the pictures, FAMILY.svg; it is made where there is none");
    app.add_option("--seeds", a.how.runs, "Runs over which random methods are averaged")->capture_default_str();
    app.add_option("--spoil", a.spoil, "Bounds fall by so many times as much as the theorems say")
        ->capture_default_str();
    return output::run_program(app, argc, argv, [&] { return prove(a); });
}
