// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "gnuplot.hpp"
#include "help.hpp"
#include "laconic/core/error.hpp"
#include "output.hpp"

/// What the programs of the examples do around their work.
namespace output {

/// Throws laconic::argument_error where an option has an empty value, such as that of a variable which a script has not
/// set: it would be taken for 0, or for an option that is not given.
inline void refuse_empty_values(CLI::App const& app) {
    for (auto const* const option : app.get_options())
        for (auto const& value : option->results())
            if (value.empty()) throw laconic::argument_error(option->get_name() + ": its value is empty");
}

/// The body of main(): reads the arguments and returns what work() does, the exit status. What goes wrong is printed in
/// one line that begins with the program's name; then the status is 2 for laconic's errors, wrong arguments among them,
/// else 1.
template <class Work>
int run_program(CLI::App& app, int argc, char** argv, Work work) {
    prepare();
    app.formatter(std::make_shared<narrow_help>());
    auto const fail = [&app](int status, std::exception const& e) {
        report(app.get_name() + ": " + e.what());
        return status;
    };
    try {
        int status = 0;
        try {
            app.parse(argc, argv);
            refuse_empty_values(app);
            status = work();
        } catch (CLI::ParseError const& e) {
            if (e.get_exit_code() != 0) throw laconic::argument_error(e.what());
            app.exit(e);  // --help
        }
        require_printed();
        return status;
    } catch (lost const& e) {
        return fail(1, e);
    } catch (laconic::error const& e) {
        return fail(2, e);
    } catch (std::exception const& e) {
        return fail(1, e);
    }
}

/// The same for a program with --plot FILE. Work is called with charts to fill in, and returns whether the program
/// succeeded: the status is then 0, else 1. The charts are drawn in either case; without gnuplot the status is 2.
template <class Work>
int run_and_draw(CLI::App& app, int argc, char** argv, Work work) {
    std::string file;
    app.add_option("--plot", file, "draw the results to FILE (.svg, .png, .pdf) with gnuplot");
    return run_program(app, argc, argv, [&] {
        if (!file.empty() && !can_draw(file))
            throw laconic::argument_error("--plot: " + file + " does not end in .svg, .png or .pdf");
        if (!file.empty()) require_writable(file);
        std::vector<chart> charts;
        bool const fine = work(charts);
        if (!file.empty() && !draw(file, charts))
            throw laconic::error("gnuplot is not installed; " + file + " is not written");
        return fine ? 0 : 1;
    });
}

}  // namespace output
