// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <concepts>
#include <limits>
#include <string>
#include <system_error>

#include "laconic/core/error.hpp"

/// Adds an option that takes a decimal whole number from `least` to `most` into `value`, which is its default. (CLI11
/// itself takes 010 for 8 and moves what is out of range to the range's end.) Parsing throws laconic::argument_error
/// where the text is none of that.
template <std::integral T>
CLI::Option* add_whole_number(CLI::App& app, std::string const& name, T& value, T least, std::string const& about,
                              T most = std::numeric_limits<T>::max()) {
    auto const read = [&value, name, least, most](std::string const& text) {
        T number{};
        auto const* const end = text.data() + text.size();
        auto const r = std::from_chars(text.data(), end, number);
        if (r.ec != std::errc() || r.ptr != end || number < least || number > most)
            throw laconic::argument_error(name + ": " + text + " is no whole number from " + std::to_string(least) +
                                          " to " + std::to_string(most));
        value = number;
    };
    return app.add_option_function<std::string>(name, read, about)
        ->type_name("INT")
        ->default_str(std::to_string(value));
}
