// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>

#include "laconic/wire/described.hpp"
#include "support/bits.hpp"
#include "support/own_file.hpp"
#include "support/program.hpp"
#include "support/test.hpp"

#ifndef LACONIC_PYTHON
#    define LACONIC_PYTHON ""  // where no build says where it is
#endif

/// decoder.py, which reads files by the page docs/wire-format.md alone, and the lists that it checks.
namespace decoder {

using bytes = std::vector<std::byte>;

inline std::string hex(std::span<std::byte const> all) {
    std::string text;
    char digits[3];
    for (auto const b : all) {
        std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(b));
        text += digits;
    }
    return text.empty() ? "-" : text;
}
inline bytes from_hex(std::string const& text) {
    bytes all;
    if (text == "-") return all;
    for (std::size_t i = 0; i < text.size(); i += 2)
        all.push_back(std::byte(std::stoul(text.substr(i, 2), nullptr, 16)));
    return all;
}

/// What a file means: "5 0:0x1.8p+1 3:-0x1p+0", its dimension and its terms; or "refused".
template <class... C>
std::string meaning(std::span<std::byte const> file, laconic::reading_limits limits,
                    laconic::detail::user_messages_t<C...> users = {}) {
    laconic::unpacked read;
    try {
        read = laconic::read_described(file, limits, users);
    } catch (laconic::wire_error const&) {
        return "refused";
    }
    std::string text = std::to_string(read.dimension);
    char term[64];
    for (std::size_t j = 0; j < read.values.size(); ++j) {
        // The sign of a zero means nothing.
        std::snprintf(term, sizeof term, " %llu:%a", static_cast<unsigned long long>(read.dense ? j : read.at[j]),
                      read.values[j] + 0.0);
        text += term;
    }
    return text;
}

/// A line of a list: a name, the bytes in hex, what they mean.
struct line {
    std::string name, data, meant;
};
inline std::string text_of(line const& l) { return l.name + " " + l.data + " " + l.meant + "\n"; }

inline std::filesystem::path folder() { return std::filesystem::path(__FILE__).parent_path() / "../wire"; }

inline std::vector<line> golden() {
    std::ifstream in(folder() / "golden.txt");
    REQUIRE(in);
    std::vector<line> all;
    for (std::string text; std::getline(in, text);) {
        if (text.empty() || text[0] == '#') continue;
        std::istringstream words(text);
        line l;
        words >> l.name >> l.data >> std::ws;
        std::getline(words, l.meant);
        all.push_back(l);
    }
    return all;
}

/// Runs decoder.py, after `first` in the shell; nothing, and a message, where there is no Python.
inline std::optional<outcome> run(std::string const& arguments, std::string const& first = "") {
    std::string const python = LACONIC_PYTHON;
    if (python.empty()) {
        MESSAGE("skipped: LACONIC_PYTHON names no Python 3");
        return std::nullopt;
    }
    return run_program(first + "\"" + python + "\" \"" + (folder() / "decoder.py").string() + "\"", arguments);
}

using by_hand::word;

/// A header with no checksum, then words.
inline bytes by_hand(unsigned flags, std::uint64_t dimension, std::vector<word> const& words) {
    laconic::wire::bit_writer sink;
    sink.put(laconic::detail::described_magic, 32);
    sink.put(1, 8);
    sink.put(flags, 8);
    laconic::wire::put_whole(sink, dimension);
    std::uint64_t bits = 0;
    for (auto const& w : words) bits += w.width;
    laconic::wire::put_whole(sink, bits);
    for (auto const& w : words) sink.put(w.value, w.width);
    return ::by_hand::bytes_of(sink);
}

/// What the library reads from a file and what decoder.py reads, of many files.
class both_readers {
  public:
    /// users: a Python file with decoders for users' kinds, if there is one.
    explicit both_readers(laconic::reading_limits limits = {.dimension = 1000}, std::filesystem::path const& users = {})
        : limits_(limits), users_(users.empty() ? "" : " --users \"" + users.string() + "\"") {}

    template <class... C>
    void read(std::string const& name, std::span<std::byte const> file,
              laconic::detail::user_messages_t<C...> users = {}) {
        line const l{name, hex(file), meaning(file, limits_, users)};
        list_ += text_of(l);
        ++files_;
        refused_ += l.meant == "refused";
    }
    void agree() const {
        own_file const list(list_);
        auto const ran = run("--dimension " + std::to_string(limits_.dimension) + " --work " +
                             std::to_string(limits_.work) + users_ + " --check \"" + list.path() + "\"");
        if (!ran) return;
        INFO(ran->out.substr(0, 4000));
        CHECK(ran->status == 0);
        CHECK(ran->out.ends_with(std::to_string(files_ - refused_) + " read, " + std::to_string(refused_) +
                                 " refused, 0 wrong\n"));
    }
    std::size_t refused() const { return refused_; }
    std::size_t accepted() const { return files_ - refused_; }
    laconic::reading_limits const& limits() const { return limits_; }

  private:
    laconic::reading_limits limits_;
    std::string users_, list_;
    std::size_t files_ = 0, refused_ = 0;
};

}  // namespace decoder
