// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

/// A list of terms on the host, of a limited length for which memory is reserved once.
template <Scalar T>
class term_list {
  public:
    /// As add_terms() takes them.
    struct view {
        static constexpr bool in_order = false;
        coordinate const* places;
        T const* values;
        std::size_t count;

        struct one {
            coordinate at;
            T value;
        };
        std::size_t size() const { return count; }
        one operator[](std::size_t j) const { return {places[j], values[j]}; }
    };

    explicit term_list(std::size_t most) : most_(most) { places_.reserve(most), values_.reserve(most); }

    void clear() { places_.clear(), values_.clear(); }
    /// Appends these terms; returns false, and appends none, where the list would become too long.
    template <class Terms>
    bool append(Terms terms) {
        if (terms.size() > most_ - places_.size()) return false;
        for (std::size_t j = 0; j < terms.size(); ++j) {
            places_.push_back(terms[j].at);
            values_.push_back(static_cast<T>(terms[j].value));
        }
        return true;
    }
    view terms() const { return {places_.data(), values_.data(), places_.size()}; }

  private:
    std::size_t most_;
    std::vector<coordinate> places_;
    std::vector<T> values_;
};

}  // namespace laconic::detail
