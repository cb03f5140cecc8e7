// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "laconic/any/collective.hpp"
#include "laconic/any/compressor.hpp"
#include "laconic/transport/gathered.hpp"
#include "laconic/transport/served.hpp"
#include "laconic/transport/summed.hpp"

namespace laconic {

/// A transport that is chosen at run time: gather_all, which is the default, a collective, robust, or served.
template <Scalar T = double, class B = host>
class any_transport {
  public:
    any_transport() = default;
    any_transport(gather_all) {}  // NOLINT: implicit, like that of std::function
    template <class X>
    requires(!std::same_as<X, any_transport> && !detail::HasServer<X> &&
             (std::same_as<X, any_collective<T, B>> || Collective<X, T, B>))
        any_transport(X collective)  // NOLINT: implicit
        : collective_(std::move(collective)) {}
    template <class Rule>
    requires OnHost<B> any_transport(robust<Rule> how)  // NOLINT: implicit
        : collective_(std::move(how)) {}
    template <class C>
    any_transport(served<C, T, B> server)  // NOLINT: implicit
        : server_({std::move(server.compressor), std::move(server.feedback), server.in_full}) {}

    bool gathers() const { return !server_ && collective_.gathers(); }
    any_collective<T, B> const& collective() const { return collective_; }
    std::optional<served<any_compressor<T, B>, T, B>> const& server() const { return server_; }

    template <std::same_as<any_transport> Self>
    friend std::string to_string(Self const& t) {
        return t.server_ ? to_string(*t.server_) : to_string(t.collective_);
    }

  private:
    any_collective<T, B> collective_;
    std::optional<served<any_compressor<T, B>, T, B>> server_;
};

/// The working object of an any_transport, for messages M.
template <class M, Scalar T, class B>
class any_mean {
    using gathering = detail::gathered<M, T, B>;
    using summing = detail::summed<any_collective<T, B>, M, T, B>;
    using serving = detail::served_mean<any_compressor<T, B>, M, T, B>;

  public:
    any_mean(any_transport<T, B> const& how, std::size_t d, position_code positions) : held_(make(how, d, positions)) {}

    bool uses_collective() const { return std::holds_alternative<summing>(held_); }
    bool is_robust() const {
        return std::visit([](auto& tr) { return tr.is_robust(); }, held_);
    }
    bool travels_alone(Communicator auto& comm) const {
        return std::visit([&](auto& tr) { return tr.travels_alone(comm); }, held_);
    }
    void require_beside(auto const& feedback, std::string const& described) const {
        std::visit([&](auto& tr) { tr.require_beside(feedback, described); }, held_);
    }
    void start(Communicator auto& comm) {
        std::visit([&](auto& tr) { tr.start(comm); }, held_);
    }
    void send(B& on, Communicator auto& comm, round_context const& now, M const& mine, detail::failure const& own,
              int lane = 0) {
        std::visit([&](auto& tr) { tr.send(on, comm, now, mine, own, lane); }, held_);
    }
    void receive(B& on, Communicator auto& comm, round_context const& now, M const& mine, detail::failure const& own,
                 auto blank, auto const& feedback, std::span<T> mean, int lane = 0) {
        std::visit([&](auto& tr) { tr.receive(on, comm, now, mine, own, blank, feedback, mean, lane); }, held_);
    }
    void give_back(B& on, auto& feedback) {
        std::visit([&](auto& tr) { tr.give_back(on, feedback); }, held_);
    }
    void reconstruct(B& on, Communicator auto const& comm, round_context const& now, auto& feedback,
                     std::span<T> mean) {
        std::visit([&](auto& tr) { tr.reconstruct(on, comm, now, feedback, mean); }, held_);
    }
    void write(wire::bit_writer& sink, B& on, M const& mine) {
        std::visit([&](auto& tr) { tr.write(sink, on, mine); }, held_);
    }
    void read_and_add(wire::bit_reader& source, B& on, int r, auto blank, T weight, std::span<T> out, bool is_last) {
        std::visit([&](auto& tr) { tr.read_and_add(source, on, r, blank, weight, out, is_last); }, held_);
    }
    /// Of gather_all alone: as gathered::read().
    M const& read(wire::bit_reader& source, B& on, int r, auto blank) {
        return std::get<gathering>(held_).read(source, on, r, blank);
    }
    bool add_in_parts(B& on, Communicator auto& messages, auto blank, std::span<T> mean) {
        return std::visit([&](auto& tr) { return tr.add_in_parts(on, messages, blank, mean); }, held_);
    }
    void wait() const {}  // none of them has a thread of its own
    void require_consistent() const {
        std::visit([](auto& tr) { tr.require_consistent(); }, held_);
    }
    void recover() {
        std::visit([](auto& tr) { tr.recover(); }, held_);
    }
    void state(auto& archive) {
        std::visit([&](auto& tr) { tr.state(archive); }, held_);
    }

  private:
    using any_of_them =
        std::conditional_t<OnHost<B>,
                           std::variant<gathering, summing, serving, detail::robustly_gathered<any_rule<T>, M, T, B>>,
                           std::variant<gathering, summing, serving>>;
    static any_of_them make(any_transport<T, B> const& how, std::size_t d, position_code positions) {
        if (how.server()) return serving(*how.server(), d, positions);
        if (how.gathers()) return gathering({}, d, positions);
        if constexpr (OnHost<B>)
            if (auto const* by_rule = how.collective().by_rule())
                return detail::robustly_gathered<any_rule<T>, M, T, B>(*by_rule, d, positions);
        return summing(how.collective(), d, positions);
    }
    any_of_them held_;
};

namespace detail {

template <class M, class T, class B>
struct transport_of<any_transport<T, B>, M, T, B> {
    using type = any_mean<M, T, B>;
};
template <class M, class T, class B>
struct transport_of<any_collective<T, B>, M, T, B> {
    using type = any_mean<M, T, B>;
};

}  // namespace detail
}  // namespace laconic
