// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "laconic/adapt/level.hpp"
#include "laconic/compress/low_rank.hpp"
#include "laconic/compress/parts.hpp"

namespace laconic {

/// Starts a low_rank<std::span<T const>> from the factor that this rank sent last, the one of the matrix's shorter
/// side; in the first round from what the key draws. Where the matrix changes slowly each round is a step of the power
/// method towards its best approximation (PowerSGD's warm start, Vogels et al., NeurIPS 2019, section 3).
///
/// For parts<low_rank<std::span<T const>>> it starts every part. A part that is no matrix, such as the biases of a
/// network, has rows = 1: its message is exact up to rounding, and has one more number.
template <Scalar T, class B = host>
class warm_start {
  public:
    template <class C>
    requires std::same_as<decltype(C::start), std::span<T const>>
    void tune(B&, C& compressor, round_context const&, std::span<T const>, std::span<T const>) {
        compressor.start = std::span<T const>(last_);
    }
    void update(B& on, std::span<T const>, auto const& m) {
        kernels::assign(on, std::span<T const>(m.shorter()), last_);
    }

    void tune(B&, parts<low_rank<std::span<T const>>>& c, round_context const&, std::span<T const>,
              std::span<T const>) {
        std::span<T const> left(last_);
        for (std::size_t i = 0; i < c.pieces.size(); ++i) {
            auto const n = i < lengths_.size() ? std::min(left.size(), detail::as_size(lengths_[i])) : 0;
            c.pieces[i].compressor.start = left.first(n);
            left = left.subspan(n);
        }
    }
    void update(B& on, std::span<T const>, messages::parts_of<messages::factors<T, B>> const& m) {
        last_.resize(0);
        lengths_.resize(0);
        for (auto const& one : m.each) {
            std::span<T const> const factor(one.shorter());
            lengths_.push_back(factor.size());
            last_.resize(last_.size() + factor.size());
            copy(on, factor, std::span<T>(last_).last(factor.size()));
        }
    }

    void state(auto& archive) { archive.of_any_length(last_, lengths_); }
    friend std::string to_string(warm_start const&) { return "warm_start"; }

  private:
    typename B::template array<T> last_;  // the parts' factors one after another
    std::vector<std::uint64_t> lengths_;  // the length of each
};

}  // namespace laconic
