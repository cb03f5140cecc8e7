// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What --help prints.
namespace output {

/// The words of a text in lines of at most 80 columns, each after `indent` spaces.
inline std::string wrapped(std::string_view text, std::size_t indent) {
    std::string lines;
    std::size_t column = 0;
    while (!text.empty()) {
        auto const word = text.substr(0, text.find(' '));
        text.remove_prefix(word.size() < text.size() ? word.size() + 1 : word.size());
        bool const fits = column > 0 && column + 1 + word.size() <= 80;
        if (!fits) {
            if (column > 0) lines += '\n';
            lines.append(indent, ' ');
            column = indent;
        } else {
            lines += ' ';
            ++column;
        }
        lines += word;
        column += word.size();
    }
    return lines + '\n';
}

/// Help of at most 80 columns: an option's description begins beside its name, or below one that is long.
class narrow_help : public CLI::Formatter {
  public:
    std::string make_description(CLI::App const* app) const override { return wrapped(app->get_description(), 0); }
    std::string make_usage(CLI::App const* app, std::string name) const override {
        return Formatter::make_usage(app, std::move(name)) + "\n";
    }
    std::string make_positionals(CLI::App const* app) const override {
        auto const group = Formatter::make_positionals(app);
        return group.empty() ? group : group + "\n";
    }
    std::string make_group(std::string name, bool is_positional,
                           std::vector<CLI::Option const*> options) const override {
        return Formatter::make_group(std::move(name), is_positional, std::move(options))
            .substr(1);  // less an empty line
    }
    std::string make_option(CLI::Option const* option, bool is_positional) const override {
        constexpr std::size_t indent = 26;
        auto name = "  " + make_option_name(option, is_positional) + make_option_opts(option);
        auto const about = wrapped(make_option_desc(option), indent);
        if (name.size() + 2 > indent) return name + "\n" + about;
        return name + about.substr(name.size());
    }
};

}  // namespace output
