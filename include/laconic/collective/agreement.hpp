// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/objective/problem.hpp"

namespace laconic {

/// A 64-bit fingerprint of bytes (FNV-1a). It shows mistakes, not forgeries.
inline std::uint64_t fingerprint(std::span<std::byte const> bytes) {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (auto const b : bytes) h = (h ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3u;
    return h;
}
/// The same, as 16 hexadecimal digits.
inline std::string digest(std::span<std::byte const> bytes) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(fingerprint(bytes)));
    return text;
}

/// Something that every rank must have the same: its name, and what this rank has.
using agreed_item = std::pair<std::string, std::string>;

/// Throws shape_error on every rank, naming the first item and rank that differs from rank 0, unless all ranks call it
/// with the same items. When they do it costs 16 bytes a rank, of which each compares all.
template <Communicator C>
void require_agreement(C& comm, std::vector<agreed_item> const& items) {
    std::string all;
    for (auto const& [name, value] : items) all += detail::concat({name, ": ", value, "\n"});
    auto const bytes = [](std::string const& s) { return std::as_bytes(std::span(s.data(), s.size())); };
    auto const received = [&](int r) {
        auto const b = comm.from(r).bytes;
        return std::string(reinterpret_cast<char const*>(b.data()), b.size());
    };
    std::string const mine = digest(bytes(all));
    comm.all_gather({bytes(mine)});
    auto const digest_of_0 = comm.from(0).bytes;
    bool same = true;
    for (int r = 1; same && r < comm.size(); ++r) {
        auto const other = comm.from(r).bytes;
        same = std::equal(other.begin(), other.end(), digest_of_0.begin(), digest_of_0.end());
    }
    if (same) return;
    comm.all_gather({bytes(all)});
    std::string const first = received(0);
    for (int r = 1; r < comm.size(); ++r) {
        std::string const other = received(r);
        if (other == first) continue;
        auto at = static_cast<std::size_t>(std::mismatch(first.begin(), first.end(), other.begin(), other.end()).first -
                                           first.begin());
        at = at == 0 ? 0 : first.rfind('\n', at - 1) + 1;  // npos + 1 is 0
        auto const line = [&](std::string const& s) { return s.substr(std::min(at, s.size()), s.find('\n', at) - at); };
        throw shape_error(detail::concat(
            {"ranks disagree: rank 0 has \"", line(first), "\", rank ", r, " has \"", line(other), "\""}));
    }
    throw shape_error("ranks disagree");  // equal texts, unequal digests: some rank's memory is broken
}

/// The constants of f = mean f_i from those that each rank's f_i knows of itself: L is bounded by the mean of the L_i.
/// The same on all ranks but for own_smoothness, which is this rank's L_i. Where a rank's objective does not know its
/// own, those of f are unknown.
template <Communicator C, class F>
problem agree_on_problem(C& comm, F const& objective) {
    double mine[4] = {NAN, NAN, 0, 0};
    if constexpr (detail::has_constants<F>()) mine[0] = objective.smoothness(), mine[1] = objective.strong_convexity();
    if constexpr (HasSamples<F>) mine[2] = static_cast<double>(objective.samples());
    if constexpr (HasSampleSmoothness<F>) mine[3] = objective.sample_smoothness();
    comm.all_gather({std::as_bytes(std::span(mine))});
    problem p;
    p.dimension = static_cast<std::size_t>(objective.dimension());
    p.workers = comm.size();
    p.own_smoothness = mine[0];
    double const share = 1.0 / comm.size();
    for (int r = 0; r < comm.size(); ++r) {
        double theirs[4];
        auto const received = comm.from(r).bytes;
        if (received.size() != sizeof theirs)
            throw shape_error(detail::concat({"rank ", r, " sent no constants of its objective"}));
        std::memcpy(theirs, received.data(), sizeof theirs);
        p.smoothness += share * theirs[0];
        p.strong_convexity += share * theirs[1];
        p.least_strong_convexity = r == 0 ? theirs[1] : std::min(p.least_strong_convexity, theirs[1]);
        p.largest_smoothness = std::max(p.largest_smoothness, theirs[0]);
        p.mean_square_smoothness += share * theirs[0] * theirs[0];
        p.samples = std::max(p.samples, static_cast<std::size_t>(theirs[2]));
        p.largest_sample_smoothness = std::max(p.largest_sample_smoothness, theirs[3]);
    }
    p.mean_square_smoothness = std::sqrt(p.mean_square_smoothness);
    if (std::isnan(p.smoothness))
        for (double* const unknown : {&p.smoothness, &p.strong_convexity, &p.least_strong_convexity,
                                      &p.largest_smoothness, &p.mean_square_smoothness, &p.own_smoothness})
            *unknown = 0;
    return p;
}

}  // namespace laconic
