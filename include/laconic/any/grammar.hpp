// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "laconic/core/decimal.hpp"
#include "laconic/core/error.hpp"

/// The grammar of written compositions, which is that of the C++ expressions:
///
///     pipe  = call { "|" call }         call = name [ "(" [ item { "," item } ] ")" ]
///     item  = [ name "=" ] ( word | pipe )
///
/// where a word is a number or anything else without blanks and punctuation, such as 0.1, 1e-3, 1/L, inf.
namespace laconic::grammar {

/// A call, name(items...), and the position of its name in the text.
struct call;
using pipe = std::vector<call>;

/// An argument: `name` is empty where it is given by position. A word that is also a call's name, such as "natural", is
/// both: `word` has its text and `calls` the pipe.
struct item {
    std::string name;
    std::string word;
    std::size_t position = 0;
    pipe calls;
};
struct call {
    std::string name;
    std::size_t position = 0;
    bool parentheses = false;
    std::vector<item> items;
};

/// Reads one text.
class reader {
  public:
    explicit reader(std::string_view text) : text_(text) {}

    pipe all() {
        auto result = calls();
        blanks();
        if (at_ < text_.size()) refuse("this is left over");
        return result;
    }

  private:
    [[noreturn]] void refuse(char const* why) const { throw parse_error(std::string(text_), at_ + 1, why); }

    static constexpr int deepest = 32;

    pipe calls() {
        pipe result;
        do {
            if (result.size() == deepest) refuse("more than 32 pieces in one pipe");
            result.push_back(one_call());
        } while (take('|'));
        return result;
    }
    call one_call() {
        blanks();
        call c;
        c.position = at_;
        c.name = word();
        if (c.name.empty()) refuse("a name is expected here");
        if (take('(')) {
            c.parentheses = true;
            if (++depth_ > deepest) refuse("more than 32 parentheses deep");
            if (!take(')')) {
                do c.items.push_back(one_item());
                while (take(','));
                if (!take(')')) refuse("',' or ')' is expected here");
            }
            --depth_;
        }
        return c;
    }
    item one_item() {
        blanks();
        item i;
        auto const start = at_;
        auto const first = word();
        if (!first.empty() && take('=')) {
            i.name = first;
            blanks();
            i.position = at_;
        } else {
            i.position = at_ = start;
        }
        auto const value = at_;
        i.word = word();
        if (i.word.empty()) refuse("a number or a name is expected here");
        at_ = value;
        i.calls = calls();
        return i;
    }
    std::string word() {
        auto const start = at_;
        while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_])) &&
               std::string_view("()|,=").find(text_[at_]) == std::string_view::npos)
            ++at_;
        return std::string(text_.substr(start, at_ - start));
    }
    void blanks() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    }
    bool take(char c) {
        blanks();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

/// Reads a pipe of calls; throws parse_error with the place.
inline pipe read_pipe(std::string_view text) { return reader(text).all(); }

/// Reads the whole of a word as a finite number; returns false where it is none.
inline bool read_number(std::string_view word, double& value) {
    auto const r = read_decimal(word.data(), word.data() + word.size(), value);
    return r.ec == std::errc{} && r.ptr == word.data() + word.size() && std::isfinite(value);
}

/// "a, b or c".
inline std::string list(std::vector<std::string> const& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
    return text;
}

// The number of letters that must be inserted, removed or changed, or exchanged with the next, to turn a into b; '-'
// counts as '_' and capitals as small letters.
inline std::size_t edits_between(std::string_view a, std::string_view b) {
    auto const plain = [](char c) { return c == '-' ? '_' : std::tolower(static_cast<unsigned char>(c)); };
    auto const same = [&](std::size_t i, std::size_t j) { return plain(a[i]) == plain(b[j]); };
    // From the first i + 1 letters of a to each prefix of b; before, from one and two letters fewer.
    std::vector<std::size_t> row(b.size() + 1), above(b.size() + 1), two_above;
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < a.size(); ++i) {
        two_above = std::exchange(above, row);
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            row[j + 1] = std::min({above[j] + !same(i, j), row[j] + 1, above[j + 1] + 1});
            if (i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j))
                row[j + 1] = std::min(row[j + 1], two_above[j - 1] + 1);
        }
    }
    return row.back();
}

/// The error for an unknown name: there is no such `what`, the nearest name where a third of its letters or fewer
/// differ, and all valid names.
inline std::string no_such(std::string const& what, std::string const& name, std::vector<std::string> const& names) {
    std::string nearest;
    auto fewest = std::string::npos;
    for (auto const& known : names) {
        auto const longer = std::max(name.size(), known.size());
        if (longer > 3 * known.size()) continue;  // too long to be compared
        if (auto const n = edits_between(name, known); n <= longer / 3 && n < fewest) fewest = n, nearest = known;
    }
    return detail::concat({"there is no ", what, " '", name,
                           (nearest.empty() ? "'" : detail::concat({"' (did you mean ", nearest, "?)"})),
                           "; there are ", list(names)});
}

/// The arguments of one call, taken one by one by name or position; finish() refuses those that are left over.
class arguments {
  public:
    arguments(std::string_view text, call const& from) : text_(text), from_(&from), used_(from.items.size()) {}

    /// The argument called `name`, else the first unnamed one not yet taken (where by_position), else nullptr.
    item const* find(std::string const& name, bool by_position = true) {
        known_.push_back(name);
        auto const& items = from_->items;
        for (std::size_t i = 0; i < items.size(); ++i)
            if (!used_[i] && items[i].name == name) return used_[i] = true, &items[i];
        for (std::size_t i = 0; by_position && i < items.size(); ++i)
            if (!used_[i] && items[i].name.empty()) return used_[i] = true, &items[i];
        return nullptr;
    }

    /// The same where the argument is required: throws parse_error where it is absent. `article` is "a " for what is no
    /// number.
    item const& needed(std::string const& name, bool by_position = true, char const* article = "") {
        if (auto const* const i = find(name, by_position)) return *i;
        refuse(from_->position, {from_->name, " needs ", article, name, ": ", from_->name, "(", name, "=...)"});
    }

    bool all_taken() const { return std::find(used_.begin(), used_.end(), char(false)) == used_.end(); }

    /// Whether an argument is one word alone.
    static bool is_word(item const& i) { return i.calls.size() == 1 && !i.calls[0].parentheses; }

    [[noreturn]] void refuse(std::size_t position, detail::text_pieces why) const {
        throw parse_error(std::string(text_), position + 1, detail::concat(why));
    }
    /// Throws parse_error where an argument was not taken; the error lists the valid ones.
    void finish() const {
        for (std::size_t i = 0; i < used_.size(); ++i) {
            if (used_[i]) continue;
            auto const& name = from_->items[i].name;
            auto const extra = (name.empty() ? "; this is" : "; '" + name + "' is") + " none of them";
            refuse(from_->items[i].position,
                   {from_->name, " takes ", (known_.empty() ? "no arguments" : list(known_) + extra)});
        }
    }
    call const& from() const { return *from_; }
    std::string_view text() const { return text_; }

  private:
    std::string_view text_;
    call const* from_;
    std::vector<char> used_;
    std::vector<std::string> known_;
};

}  // namespace laconic::grammar
