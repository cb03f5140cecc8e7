// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "laconic/backend/array.hpp"
#include "laconic/collective/collective.hpp"
#include "laconic/collective/dense/engine_all_reduce.hpp"
#include "laconic/collective/select/gtop_k_on_device.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/message/message.hpp"
#include "laconic/transport/collective_mean.hpp"

namespace laconic {

namespace detail {

/// The collectives that leave numbers in the memory of a device.
template <class Sum>
inline constexpr bool works_on_device = false;
template <class T, class B>
inline constexpr bool works_on_device<detail::gtop_k_algorithm<T, B>> = true;
template <class T, class B>
inline constexpr bool works_on_device<detail::engine_all_reduce_algorithm<T, B>> = true;

/// How many terms a message of m's kind may list, as far as m knows.
template <class M>
std::size_t most_terms(M const& m) {
    if constexpr (requires { m.support, m.unit, m.room; })
        return m.room > 0 ? m.room : m.support.size() * m.unit.length;
    else
        return m.dimension();
}

}  // namespace detail

/// The mean of the ranks' messages where a collective adds them up in a device's memory: as collective_mean on the
/// host.
template <class X, Scalar T, class B>
requires(!OnHost<B>) class collective_mean<X, T, B> {
    using sum_type = detail::sum_of<X, T, B>;
    static_assert(detail::works_on_device<sum_type>,
                  "on a device messages are gathered, or added up by gtop_k or engine_all_reduce");
    static constexpr bool lists = GivesBack<sum_type, T, B>;

  public:
    collective_mean(X const& x, std::size_t d, position_code positions)
        : name_(to_string(x)), sum_((x.check(d), x.template make<T, B>(d, positions))) {}

    template <class F>
    void require_beside(F const& feedback, std::string const& described) const {
        detail::require_collective_beside(name_, lists, feedback, described);
    }

    template <Communicator C, class M>
    void operator()(B& on, C& comm, M const& m, std::uint64_t round, std::span<T> mean) {
        load<C>(on, m, mean);
        add_up(on, comm, round, mean);
        take<C>(on, comm.size(), mean);
    }
    template <Communicator C, class M>
    void load(B& on, M const& m, std::span<T> mean) {
        if constexpr (lists) {
            static_assert(TermMessage<M>, "gtop_k adds up messages that list their terms");
            mine_.reserve(on, detail::most_terms(m));  // once: a later message may send more
            mine_.assign(on, m);
        } else {
            fill(on, mean, T(0));
            add_message(on, mean, T(1), m);
        }
    }
    template <Communicator C>
    void load_bad(B& on, std::size_t i, std::span<T> mean) {
        T const bad = std::numeric_limits<T>::quiet_NaN();
        if constexpr (lists) {
            auto const at = static_cast<coordinate>(i);
            mine_.assign(on, mean.size(), std::span(&at, 1), std::span(&bad, 1));
        } else {
            fill(on, mean, T(0));
            copy_from_host(on, std::span(&bad, 1), mean.subspan(i, 1));
        }
    }
    template <Communicator C>
    void add_up(B& on, C& comm, std::uint64_t round, std::span<T> mean) {
        whole_.run(round, [&] {
            if constexpr (lists)
                sum_(on, comm, mine_, round);
            else
                sum_(on, comm, mean, round);
        });
    }
    template <Communicator C>
    void take(B& on, int ranks, std::span<T> mean) {
        T const share = T(1) / static_cast<T>(ranks);
        if constexpr (lists) {
            fill(on, mean, T(0));
            add_message(on, mean, share, mine_.message());
        } else {
            multiply(on, share, mean);
        }
    }

    template <class F>
    void give_back(B& on, F& feedback) const {
        if constexpr (lists)
            if constexpr (KeepsLeftover<F>) feedback.keep(on, sum_.leftover().message());
    }

    void require_whole() const { whole_.require(); }
    void make_whole() { whole_.make_whole(); }
    template <class Archive>
    void state(Archive&) {}

  private:
    std::string name_;
    sum_type sum_;
    sparse_sum<T, B> mine_;
    detail::whole_sums whole_;
};

}  // namespace laconic
