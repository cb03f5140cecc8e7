// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/from_all.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/objective/problem.hpp"
#include "laconic/objective/weighted.hpp"

namespace laconic {

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
    detail::text_piece name, value;
};

/// Such things, as text: a line `name: value` each, in which a new line or a backslash is written after a backslash, so
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

namespace detail {

inline std::string_view text_of_bytes(std::span<std::byte const> bytes) {
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}
// The first line in which the text of a rank differs from that of the first one.
[[gnu::cold]] inline std::string first_difference(std::string_view of_0, std::string_view of_rank, int rank,
                                                  int first = 0) {
    auto at = static_cast<std::size_t>(std::mismatch(of_0.begin(), of_0.end(), of_rank.begin(), of_rank.end()).first -
                                       of_0.begin());
    at = at == 0 ? 0 : of_0.rfind('\n', at - 1) + 1;  // npos + 1 is 0
    auto const line = [&](std::string_view s) { return s.substr(std::min(at, s.size()), s.find('\n', at) - at); };
    return concat(
        {"ranks disagree: rank ", first, " has \"", line(of_0), "\", rank ", rank, " has \"", line(of_rank), "\""});
}

}  // namespace detail

/// Throws agreement_error on every rank, naming the first item and rank that differs from rank 0, unless all ranks call
/// it with the same items. Returns rank 0's `note`; the others' may differ. When the ranks agree it costs 16 bytes a
/// rank, of which each compares all.
template <Communicator C>
[[gnu::cold, gnu::noinline]] std::uint64_t require_agreement(C& comm, agreed_items const& items,
                                                             std::uint64_t note = 0) {
    struct agreed {
        std::uint64_t digest, note;
    };
    agreed const mine{fingerprint(std::as_bytes(std::span(items.lines()))), note};
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
        if (text_of(r) != text_of(0)) throw agreement_error(r, detail::first_difference(text_of(0), text_of(r), r));
    throw agreement_error(-1, "ranks disagree");  // equal texts, unequal digests: some rank's memory is broken
}

/// The constants of f = mean f_i from those that each rank's f_i knows of itself: L is bounded by the mean of the L_i.
/// The same on all ranks but for own_smoothness, which is this rank's L_i. Where a rank's objective does not know its
/// own, those of f are unknown.
template <Communicator C, class F>
[[gnu::cold, gnu::noinline]] problem agree_on_problem(C& comm, F const& objective) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    struct constants {
        double smoothness = none, strong_convexity = none, samples = 0, sample_smoothness = 0;
    } mine;
    if constexpr (detail::has_constants<F>())
        mine.smoothness = objective.smoothness(), mine.strong_convexity = objective.strong_convexity();
    if constexpr (HasSamples<F>) mine.samples = static_cast<double>(objective.samples());
    if constexpr (HasSampleSmoothness<F>) mine.sample_smoothness = objective.sample_smoothness();
    problem p;
    p.dimension = static_cast<std::size_t>(objective.dimension());
    p.workers = comm.size();
    p.own_smoothness = mine.smoothness;
    double const share = 1.0 / comm.size();
    detail::from_all(comm, mine, "the constants of its objective", [&](int r, constants const& theirs) {
        double const l = theirs.smoothness, mu = theirs.strong_convexity;
        p.smoothness += share * l;
        p.strong_convexity += share * mu;
        p.least_strong_convexity = r == 0 ? mu : std::min(p.least_strong_convexity, mu);
        p.largest_smoothness = std::max(p.largest_smoothness, l);
        p.mean_square_smoothness += share * l * l;
        p.samples = std::max(p.samples, static_cast<std::size_t>(theirs.samples));
        p.largest_sample_smoothness = std::max(p.largest_sample_smoothness, theirs.sample_smoothness);
    });
    p.mean_square_smoothness = std::sqrt(p.mean_square_smoothness);
    if (std::isnan(p.smoothness))
        for (double* const unknown : {&p.smoothness, &p.strong_convexity, &p.least_strong_convexity,
                                      &p.largest_smoothness, &p.mean_square_smoothness, &p.own_smoothness})
            *unknown = 0;
    return p;
}

/// This rank's objective, of n_i samples, times n_i ranks / (sum of all n_i): the mean over the ranks, which all
/// methods minimise, is then the mean over all samples, and constants follow. Where all ranks have as many, the weight
/// is 1 and all bits are the same. objective must outlive what is returned. A collective call of 8 bytes. Throws
/// argument_error on all ranks where a rank has no samples.
template <Communicator C, HasSamples F>
weighted<F> by_samples(C& comm, F const& objective) {
    std::uint64_t const mine = objective.samples();
    double sum = 0;
    detail::from_all(comm, mine, "its number of samples", [&](int r, std::uint64_t theirs) {
        if (theirs == 0) throw argument_error(detail::concat({"rank ", r, " has no samples, and so no weight"}));
        sum += static_cast<double>(theirs);
    });
    return {objective, static_cast<double>(mine) * comm.size() / sum};
}

}  // namespace laconic
