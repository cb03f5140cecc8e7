// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "laconic/comm/communicator.hpp"
#include "laconic/wire/failure.hpp"

namespace laconic::detail {

/// A 64-bit fingerprint of bytes (FNV-1a). It shows mistakes, not forgeries.
inline std::uint64_t fingerprint(std::span<std::byte const> bytes) {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (auto const b : bytes) h = (h ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3u;
    return h;
}
/// The same of words, as memory has them.
inline std::uint64_t fingerprint(std::initializer_list<std::uint64_t> words) {
    return fingerprint(std::as_bytes(std::span(words.begin(), words.size())));
}

/// The same, as 16 hexadecimal digits.
inline std::string digest(std::span<std::byte const> bytes) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(fingerprint(bytes)));
    return text;
}

/// Something that every rank must have the same: its name, and what this rank has. It refers to strings, which must
/// live until it is used.
struct agreed_item {
    text_piece name, value;
};

// That the text of a rank differs from that of the first one, with the first line in which it does.
[[gnu::cold, gnu::noinline]] inline failure disagreement_of(std::string_view of_0, std::string_view of_rank, int rank,
                                                            int first = 0) {
    auto at = static_cast<std::size_t>(std::mismatch(of_0.begin(), of_0.end(), of_rank.begin(), of_rank.end()).first -
                                       of_0.begin());
    at = at == 0 ? 0 : of_0.rfind('\n', at - 1) + 1;  // npos + 1 is 0
    auto const line = [&](std::string_view s) { return s.substr(std::min(at, s.size()), s.find('\n', at) - at); };
    return {.kind = failure_kind::agreement,
            .rank = rank,
            .other = first,
            .why = concat({"ranks disagree: rank ", failure::other_rank, " has \"", line(of_0), "\", rank ",
                           failure::its_rank, " has \"", line(of_rank), "\""})};
}

/// Such items, as text: a line `name: value` each, in which a new line or a backslash is written after a backslash, so
/// that different things have different texts.
class agreed_items {
  public:
    agreed_items() = default;
    [[gnu::cold, gnu::noinline]] agreed_items(std::initializer_list<agreed_item> all) {
        for (auto const& item : all) add(item);
    }
    [[gnu::cold, gnu::noinline]] void add(agreed_item const& item) {
        std::string line;
        item.name.add_to(line);
        line += ": ";
        item.value.add_to(line);
        for (char const c : line) c == '\n' ? lines_ += "\\n" : c == '\\' ? lines_ += "\\\\" : lines_ += c;
        lines_ += '\n';
    }
    void add(agreed_items const& others) { lines_ += others.lines_; }
    std::string const& lines() const { return lines_; }

  private:
    std::string lines_;
};

/// What ranks must agree on that run a recursion.
[[gnu::cold, gnu::noinline]] agreed_items composition_of(auto const& method) {
    return {{"the compressor", to_string(method.compressor)},
            {"the feedback", described(method.feedback)},
            {"the scale", method.scale},
            {"the step", described(method.step)},
            {"the level", described(method.level)},
            {"the estimator", described(method.estimator)},
            {"the transport", described(method.over)}};
}

}  // namespace laconic::detail

namespace laconic {

/// Throws agreement_error on every rank, naming the first item and rank that differs from rank 0, unless all ranks call
/// it with the same items. Returns rank 0's `note`; the others' may differ. When the ranks agree it costs 16 bytes a
/// rank, of which each compares all.
[[gnu::cold, gnu::noinline]] std::uint64_t require_agreement(Communicator auto& comm, detail::agreed_items const& items,
                                                             std::uint64_t note = 0) {
    struct agreed {
        std::uint64_t digest, note;
    };
    agreed const mine{detail::fingerprint(std::as_bytes(std::span(items.lines()))), note};
    agreed first = mine;
    bool alike = true;
    detail::from_all(comm, mine, "its digest", [&](int r, agreed theirs) {
        if (r == 0) first = theirs;
        alike = alike && theirs.digest == first.digest;
    });
    if (alike) return first.note;
    comm.all_gather({std::as_bytes(std::span(items.lines()))});
    auto const text_of = [&](int r) { return detail::text_of_bytes(comm.from(r).bytes); };
    for (int r = 1; r < comm.size(); ++r)
        if (text_of(r) != text_of(0)) detail::disagreement_of(text_of(0), text_of(r), r).raise();
    throw agreement_error(-1, "ranks disagree");  // equal texts, unequal digests: some rank's memory is broken
}

}  // namespace laconic
