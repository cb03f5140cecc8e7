// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// A string or a number that concat() writes. It refers to the string, which must live until then.
class text_piece {
  public:
    text_piece(char const* text) : text_piece(std::string_view(text)) {}
    text_piece(std::string const& text) : text_piece(std::string_view(text)) {}
    text_piece(std::string_view text) : text_(text.data()), size_(text.size()) {}
    text_piece(char one) : is_(kind::one), one_(one) {}
    text_piece(std::unsigned_integral auto x) : is_(kind::natural), natural_(x) {}
    text_piece(std::signed_integral auto x) : is_(kind::whole), whole_(x) {}
    text_piece(std::floating_point auto x) : is_(kind::real), real_(x) {}

    [[gnu::cold, gnu::noinline]] void add_to(std::string& text) const {
        char digits[32];
        auto const add = [&](auto x) { text.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr); };
        switch (is_) {
            case kind::text:
                return void(text.append(text_, size_));
            case kind::one:
                return text.push_back(one_);
            case kind::natural:
                return add(natural_);
            case kind::whole:
                return add(whole_);
            case kind::real:
                return add(real_);
        }
    }

  private:
    enum class kind : unsigned char { text, one, natural, whole, real } is_ = kind::text;
    union {
        char const* text_;
        char one_;
        std::uint64_t natural_;
        std::int64_t whole_;
        double real_;
    };
    std::size_t size_ = 0;
};

/// The argument of concat(), as a named type: nvcc does not deduce a braced list in a fully dependent context.
using text_pieces = std::initializer_list<text_piece>;

/// Joins the pieces: strings, and numbers in decimal (real ones as the shortest that reads back as the same). It is
/// compiled once, where each + between strings would be compiled anew.
[[gnu::cold, gnu::noinline]] inline std::string concat(text_pieces all) {
    std::string text;
    for (auto const& piece : all) piece.add_to(text);
    return text;
}

/// The shortest decimal number that reads back as x: 0.1, 100, 1e-12.
inline std::string shortest(double x) { return concat({x}); }

/// The text with a backslash before each of the characters `marks` and before each backslash, so that texts that are
/// joined by marks differ where the lists of texts do.
[[gnu::cold, gnu::noinline]] inline std::string escaped(std::string_view text, std::string_view marks) {
    std::string all;
    for (char const c : text) {
        if (c == '\\' || marks.find(c) != marks.npos) all += '\\';
        all += c;
    }
    return all;
}

/// use(line) for each line of a text.
void each_line(std::string_view text, auto use) {
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
        end = std::min(text.find('\n', at), text.size());
        use(text.substr(at, end - at));
    }
}
/// The lines of one text that the other lacks, each after `whose`.
[[gnu::cold, gnu::noinline]] inline std::string lines_without(std::string const& text, std::string const& other,
                                                              char const* whose) {
    std::vector<std::string_view> others;
    each_line(other, [&](std::string_view line) { others.push_back(line); });
    std::sort(others.begin(), others.end());
    std::string left;
    each_line(text, [&](std::string_view line) {
        if (!std::binary_search(others.begin(), others.end(), line)) left += concat({whose, line, "\n"});
    });
    return left;
}

/// The text of a part of a method, for error messages; a part without to_string has a general description.
std::string described(auto const& part) {
    if constexpr (requires { to_string(part); })
        return to_string(part);
    else
        return "of the user's own making";
}

}  // namespace laconic::detail
