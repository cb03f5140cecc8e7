// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "laconic/message/message.hpp"

namespace laconic::detail {

/// The terms of several messages on the host, one message after the other, of a limited number for which memory is
/// reserved once.
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

    void clear() { terms_.clear(), ends_.clear(), ascending_ = true; }
    /// Appends these terms; returns false, and appends none, where the list would become too long.
    bool append(messages::Terms auto terms) {
        if (terms.size() > most_ - terms_.size()) return false;
        std::size_t last = 0;
        for (std::size_t j = 0; j < terms.size(); ++j) {
            messages::term<T> const t{terms[j].at, static_cast<T>(terms[j].value)};
            ascending_ = ascending_ && t.at >= last;
            last = t.at;
            terms_.push_back(t);
        }
        ends_.push_back(terms_.size());
        return true;
    }
    view terms() const { return {terms_}; }

    /// x <- w times the sum of the terms, each coordinate's in the order of messages. Of messages whose coordinates
    /// ascend, as mostly, x is written once: it becomes 0 and gets its terms in blocks that stay in the second cache.
    template <class B>
    void write_out(B& on, std::span<T> x, T w) const {
        constexpr std::size_t block = (std::size_t{1} << 17) / sizeof(T);
        std::size_t const step = ascending_ ? block : x.size();
        std::span<messages::term<T> const> const all(terms_);
        next_.assign(ends_.size(), 0);
        for (std::size_t m = 1; m < ends_.size(); ++m) next_[m] = ends_[m - 1];
        for (std::size_t first = 0; first < x.size(); first += step) {
            auto const part = x.subspan(first, std::min(step, x.size() - first));
            fill(on, part, T(0));
            for (std::size_t m = 0; m < ends_.size(); ++m) {
                auto const rest = all.subspan(next_[m], ends_[m] - next_[m]);
                auto const in_part = part.size() == x.size() ? rest : rest.first(below(rest, first + part.size()));
                next_[m] += in_part.size();
                add_terms(on, x, w, view{in_part});
            }
        }
    }

  private:
    // How many of these ascending terms have coordinates below `end`.
    static std::size_t below(std::span<messages::term<T> const> terms, std::size_t end) {
        auto const below_end = [](messages::term<T> const& t, std::size_t x) { return t.at < x; };
        return static_cast<std::size_t>(std::lower_bound(terms.begin(), terms.end(), end, below_end) - terms.begin());
    }

    std::size_t most_;
    std::vector<messages::term<T>> terms_;
    std::vector<std::size_t> ends_;  // of each message's terms
    bool ascending_ = true;
    mutable std::vector<std::size_t> next_;  // in write_out(), of each message the first term that is not in x yet
};

/// A message that lists some of the coordinates.
template <class M>
concept ListOfTerms = messages::TermMessage<M> && !decltype(std::declval<M const&>().terms())::in_order;

/// append_terms(on, list, m) appends the terms of a message that lists some of the coordinates, or returns false and
/// appends none: where the list would become too long, or the message, whose kind may be chosen at run time, is another.
template <class B, Scalar T, ListOfTerms M>
bool append_terms(B&, term_list<T>& list, M const& m) {
    return list.append(m.terms());
}
template <class M, class T, class B>
concept MayListTerms = requires(B& on, term_list<T>& list, M const& m) {
    { append_terms(on, list, m) } -> std::same_as<bool>;
};

}  // namespace laconic::detail
