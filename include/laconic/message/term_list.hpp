// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "laconic/message/message.hpp"

namespace laconic::detail {

/// A list of terms on the host, of a limited length for which memory is reserved once.
template <Scalar T>
class term_list {
  public:
    /// As add_terms() takes them.
    struct view {
        static constexpr bool in_order = false;
        std::span<messages::term<T> const> all;

        std::size_t size() const { return all.size(); }
        messages::term<T> operator[](std::size_t j) const { return all[j]; }
    };

    explicit term_list(std::size_t most) : most_(most) { terms_.reserve(most); }

    void clear() { terms_.clear(); }
    /// Appends these terms; returns false, and appends none, where the list would become too long.
    bool append(messages::Terms auto terms) {
        if (terms.size() > most_ - terms_.size()) return false;
        for (std::size_t j = 0; j < terms.size(); ++j) terms_.push_back({terms[j].at, static_cast<T>(terms[j].value)});
        return true;
    }
    view terms() const { return {terms_}; }

  private:
    std::size_t most_;
    std::vector<messages::term<T>> terms_;
};

/// A message that lists some of the coordinates.
template <class M>
concept ListOfTerms = messages::TermMessage<M> && !decltype(std::declval<M const&>().terms())::in_order;

/// append_terms(list, m) appends the terms of a message that lists some of the coordinates, or returns false and appends
/// none: where the list would become too long, or the message, whose kind may be chosen at run time, is another.
template <Scalar T, ListOfTerms M>
bool append_terms(term_list<T>& list, M const& m) {
    return list.append(m.terms());
}
template <class M, class T>
concept MayListTerms = requires(term_list<T>& list, M const& m) {
    { append_terms(list, m) } -> std::same_as<bool>;
};

}  // namespace laconic::detail
