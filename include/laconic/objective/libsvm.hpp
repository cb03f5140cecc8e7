// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "laconic/core/decimal.hpp"
#include "laconic/core/term.hpp"
#include "laconic/objective/dataset.hpp"
#include "laconic/objective/read_all.hpp"

namespace laconic {

/// How LIBSVM text is to be read.
struct libsvm_format {
    std::size_t features = 0;       ///< the length of a row; 0: as the largest index in the text has it
    std::uint64_t first_index = 1;  ///< that of the first feature: 1, or 0 as scikit-learn's dump_svmlight_file writes
    std::string option = "libsvm_format::first_index = 0";  ///< how a program's user sets that: errors name it
    /// Receives, at most once, a sentence on what the text has and the data have not: the query ids.
    std::function<void(std::string const&)> on_ignored{};
};

namespace detail {

/// Reads LIBSVM text token by token and keeps track of its position.
template <Scalar T>
class libsvm_reader {
  public:
    libsvm_reader(std::string_view text, std::string const& name, libsvm_format const& how)
        : text_(text), name_(name), how_(how), bound_(how.features) {
        if (bound_ > most_features)
            throw argument_error({name, ": ", bound_, " features are more than a vector can hold"});
        if (how_.first_index > 1)
            throw argument_error({name, ": first_index = ", how_.first_index, " is neither 0 nor 1"});
    }

    dataset<T> read() {
        for (std::string_view const mark : {"\xff\xfe", "\xfe\xff"})
            if (text_.starts_with(mark))
                throw file_error(name_, 1, 1, "the text begins as UTF-16 does; UTF-8 or ASCII is expected");
        if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // UTF-8's byte-order mark
        for (std::size_t begin = 0; begin < text_.size(); ++line_) {
            auto const end = std::min(text_.find('\n', begin), text_.size());
            auto const line = text_.substr(begin, end - begin);
            read_line(line.substr(0, line.find('#')));
            begin = end + 1;
        }
        if (labels_.empty()) throw file_error(name_, 0, 0, "no rows");
        return finish();
    }

  private:
    static constexpr std::uint64_t most_features = largest_dimension - 1;

    static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

    static std::size_t end_of_token(std::string_view line, std::size_t at) {
        return static_cast<std::size_t>(std::find_if(line.begin() + at, line.end(), is_blank) - line.begin());
    }

    void read_line(std::string_view line) {
        std::uint64_t previous = 0;  // how many features there are up to that of the last term
        bool labelled = false, follows_label = false;
        for (std::size_t at = 0; at < line.size();) {
            if (is_blank(line[at])) {
                ++at;
                continue;
            }
            auto end = end_of_token(line, at);
            column_ = at + 1;
            if (labelled && line[end - 1] == ':') {  // blanks may stand between the colon and the value
                auto const value = std::find_if_not(line.begin() + end, line.end(), is_blank);
                if (value != line.end()) end = end_of_token(line, static_cast<std::size_t>(value - line.begin()));
            }
            auto const token = line.substr(at, end - at);
            if (follows_label && token.starts_with("qid:")) {
                skip_query(token);
            } else if (labelled) {
                previous = read_term(token, previous);
            } else {
                labels_.push_back(read_number(token, token, "the label"));
            }
            follows_label = !labelled;
            labelled = true;
            at = end;
        }
        if (labelled) row_ends_.push_back(values_.size());
    }

    // What follows the colon of a term, or of a query id.
    static std::string_view after(std::string_view token, std::size_t colon) {
        auto rest = token.substr(colon + 1);
        while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
        return rest;
    }

    // A query id, which ranking needs and the objectives here do not.
    void skip_query(std::string_view token) {
        auto const id = after(token, 3);
        std::int64_t number = 0;
        auto const r = std::from_chars(id.data(), id.data() + id.size(), number);
        if (r.ec != std::errc() || r.ptr != id.data() + id.size())
            fail(token, {"has a query id that is no whole number of 64 bits"});
        if (how_.on_ignored && !ignored_)
            how_.on_ignored(
                concat({name_, ":", line_, ":", column_, ": the query ids (qid:) of the rows are ignored"}));
        ignored_ = true;
    }

    std::uint64_t read_term(std::string_view token, std::uint64_t previous) {
        auto const colon = token.find(':');
        if (colon == std::string_view::npos) fail(token, {"has no colon, index:value is expected"});
        if (token.starts_with("qid:")) fail(token, {"is a query id, which may only follow the label"});
        std::uint64_t const shift = 1 - how_.first_index, largest_index = most_features - shift;
        std::uint64_t index = 0;
        auto const r = std::from_chars(token.data(), token.data() + colon, index);
        if (r.ec == std::errc::invalid_argument || r.ptr != token.data() + colon)
            fail(token, {"does not start with an index"});
        if (r.ec != std::errc() || index > largest_index) fail(token, {"has an index above ", largest_index});
        if (index < how_.first_index)
            fail(token, {"has the index 0, indices count from 1; where they count from 0, as scikit-learn "
                         "writes them, give ",
                         how_.option});
        std::uint64_t const count = index + shift;
        if (count <= previous) fail(token, {"has an index that is not above the one before, ", previous - shift});
        if (bound_ && count > bound_)
            fail(token, {"has an index above ", bound_ - shift, ", the last one of ", bound_, " features"});

        T const value = read_number(after(token, colon), token, "the value");
        features_ = std::max(features_, count);
        if (value != T(0)) {
            columns_.push_back(static_cast<std::int64_t>(count - 1));
            values_.push_back(value);
        }
        return count;
    }

    // Whether the magnitude of a decimal number other than 0, in the grammar of from_chars, is below 1: so one outside
    // the range of T is too small or too large.
    static bool is_below_one(std::string_view number) {
        std::int64_t power = 0;  // of the first digit that is not 0
        bool started = false, in_fraction = false;
        std::size_t at = 0;
        for (; at < number.size() && number[at] != 'e' && number[at] != 'E'; ++at) {
            char const c = number[at];
            if (c == '.') in_fraction = true;
            if (c < '0' || c > '9') continue;
            if (!in_fraction && started) ++power;
            if (in_fraction && !started) --power;
            started = started || c != '0';
        }
        if (at == number.size()) return power < 0;
        bool const minus = number[++at] == '-';
        if (minus || number[at] == '+') ++at;
        std::int64_t exponent = 0;
        for (; at < number.size() && exponent < std::int64_t{1} << 56; ++at)
            exponent = 10 * exponent + number[at] - '0';
        return power + (minus ? -exponent : exponent) < 0;
    }

    // Reads one number, which must be all of `digits`; errors show `token`.
    T read_number(std::string_view digits, std::string_view token, std::string const& what) const {
        auto begin = digits.data(), end = begin + digits.size();
        if (digits.size() > 1 && begin[0] == '+' && begin[1] != '-') ++begin;  // from_chars knows no plus
        T value{};
        auto const r = read_decimal(begin, end, value);
        if (r.ec == std::errc::invalid_argument) fail(token, {what, " is not a number"});
        if (r.ptr != end) fail(token, {what, " has something after its number"});
        if (r.ec == std::errc::result_out_of_range) {
            if (is_below_one(std::string_view(begin, static_cast<std::size_t>(end - begin)))) return T(0);
            fail(token, {what, " is out of range"});
        }
        if (!std::isfinite(value)) fail(token, {what, " is not finite"});
        return value;
    }

    [[noreturn]] void fail(std::string_view token, text_pieces why) const {
        std::string shown(token.substr(0, 40));
        for (auto& c : shown)
            if (c < ' ' || c > '~') c = '?';
        throw file_error(name_, line_, column_,
                         concat({"'", shown, (token.size() > 40 ? "...'" : "'"), ": ", concat(why)}));
    }

    dataset<T> finish() {
        dataset<T> data{name_, {}, std::move(labels_)};
        auto const numbers = static_cast<std::ptrdiff_t>(values_.size());
        data.rows.resize(static_cast<std::ptrdiff_t>(row_ends_.size()),
                         static_cast<std::ptrdiff_t>(bound_ ? bound_ : features_));
        data.rows.resizeNonZeros(numbers);
        std::copy(values_.begin(), values_.end(), data.rows.valuePtr());
        std::copy(columns_.begin(), columns_.end(), data.rows.innerIndexPtr());
        data.rows.outerIndexPtr()[0] = 0;
        std::transform(row_ends_.begin(), row_ends_.end(), data.rows.outerIndexPtr() + 1,
                       [](std::size_t end) { return static_cast<std::int64_t>(end); });
        return data;
    }

    std::string_view text_;
    std::string const& name_;
    libsvm_format const& how_;
    std::uint64_t bound_, features_ = 0;
    bool ignored_ = false;
    std::size_t line_ = 1, column_ = 1;
    std::vector<T> labels_, values_;
    std::vector<std::int64_t> columns_;
    std::vector<std::size_t> row_ends_;
};

}  // namespace detail

/// Reads LIBSVM text, `label index:value index:value ...` a line, indices from 1, or from how.first_index, and strictly
/// increasing; blanks may follow a colon, '#' starts a comment, lines without a label are skipped, lines may end in CR
/// LF, and a byte-order mark of UTF-8 may come first. A query id, `qid:` and a whole number, may follow the label; it
/// is ignored. Numbers are decimal, read alike in every locale, and rounded correctly, to zero where they are too small
/// for T; zeros are not stored. Throws file_error with `name`, line and column (both from 1) of the first token that is
/// none of this, is not finite, or has an index that how.features or a dimension of 2^32 - 2 has no place for;
/// file_error without a place where there is no row at all; argument_error where how.features itself is above 2^32 - 2,
/// or first_index above 1. A file from 0 without a number at 0 passes as one from 1.
template <Scalar T = double>
dataset<T> read_libsvm(std::string_view text, std::string const& name, libsvm_format const& how = {}) {
    return detail::libsvm_reader<T>(text, name, how).read();
}

/// The same from a stream, read to its end by detail::read_all. Throws file_error too where the stream cannot be read.
template <Scalar T = double>
dataset<T> read_libsvm(std::istream& in, std::string const& name, libsvm_format const& how = {}) {
    return read_libsvm<T>(std::string_view(detail::read_all(in, name)), name, how);
}

}  // namespace laconic
