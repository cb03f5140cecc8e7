// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/backend/array.hpp"
#include "laconic/comm/array_carrier.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/size.hpp"
#include "laconic/core/view.hpp"
#include "laconic/message/message.hpp"
#include "laconic/message/sparse.hpp"

namespace laconic::detail {

// What a field of a message is: a message, several, numbers in a backend's memory, or else a value of the host's.
template <class F>
concept AMessage = requires(F const& f) {
    f.dimension();
};
template <class F>
concept SomeMessages = requires(F const& f) {
    f[0].dimension();
};
template <class F>
concept AnArray = requires(F const& f) {
    f.data();
};

template <class F>
constexpr bool is_made_of_arrays();
template <class Fields, std::size_t... Index>
constexpr bool all_are_made_of_arrays(std::index_sequence<Index...>) {
    return (is_made_of_arrays<std::remove_cvref_t<std::tuple_element_t<Index, Fields>>>() && ...);
}
// Whether all that it sends lies in arrays and trivially copyable values, which is known at compile time of any but
// those messages that are known at run time only.
template <class F>
constexpr bool is_made_of_arrays() {
    if constexpr (AMessage<F>) {
        if constexpr (requires(F & m) { F::fields(m); }) {
            using fields = decltype(F::fields(std::declval<F&>()));
            return all_are_made_of_arrays<fields>(std::make_index_sequence<std::tuple_size_v<fields>>{});
        } else {
            return false;
        }
    } else if constexpr (SomeMessages<F>) {
        return is_made_of_arrays<std::remove_cvref_t<decltype(std::declval<F&>()[0])>>();
    } else {
        return AnArray<F> || std::is_trivially_copyable_v<F>;
    }
}

// value(v) for the values and array(a) for the arrays of all that m sends, in an order that follows from its values.
template <class M, class Value, class Array>
void walk(M& m, Value& value, Array& array) {
    if constexpr (AMessage<M>) {
        if constexpr (requires { requires M::known == messages::support_is::from_seed; }) {
            walk(m.payload, value, array);  // a support that both ends draw need not travel
        } else if constexpr (requires { m.is_first; }) {
            value(m.is_first);
            m.is_first ? walk(m.first, value, array) : walk(m.second, value, array);
        } else {
            std::apply([&](auto&... fields) { (walk(fields, value, array), ...); }, M::fields(m));
        }
    } else if constexpr (SomeMessages<M>) {
        for (auto& each : m) walk(each, value, array);  // as many as both ends know
    } else if constexpr (AnArray<M>) {
        array(m);
    } else {
        value(m);
    }
}

template <class Array>
auto bytes_of(Array& a) {
    using byte = std::conditional_t<std::is_const_v<Array>, std::byte const, std::byte>;
    return std::span<byte>(reinterpret_cast<byte*>(a.data()), a.size() * sizeof(*a.data()));
}

/// Messages between ranks whose communicator carries arrays in B's memory, so that these do not pass through the host.
/// First the ranks gather the outlines, which are the messages' scalars and the lengths of their arrays, and wait for
/// them; then the arrays travel as they lie in memory, which is longer than their encoding in wire/, and no rank waits.
/// The ranks must have agreed on their composition: all of them check the lengths that they receive (fits() in
/// message/message.hpp), before they allocate memory, but not the contents of arrays. Reuses its memory, which holds a
/// message of each rank; blank() makes room for the longest that its compressor may send, so that no later one needs
/// more.
template <class M, class B>
class message_arrays {
  public:
    /// Sends the outline of this rank's message, which must stay as it is until receive(), and these bytes behind it.
    /// Waits for that all-gather.
    template <ArrayCarrier<B> C>
    void send(B& on, C& comm, M const& mine, std::span<std::byte const> behind = {}) {
        comm.require_stream_of(on);
        outline_.clear();
        mine_.clear();
        auto const value = [&](auto const& v) {
            auto const bytes = std::as_bytes(std::span(&v, 1));
            outline_.insert(outline_.end(), bytes.begin(), bytes.end());
        };
        auto const array = [&](auto const& a) {
            value(std::uint64_t{a.size()});
            mine_.push_back(detail::bytes_of(a));
        };
        detail::walk(mine, value, array);
        outline_.insert(outline_.end(), behind.begin(), behind.end());
        comm.all_gather({outline_, false});
    }

    /// use(r, m) for every rank r's message, whose outline is outlines.from(r), in the order of ranks. blank(on, r, m)
    /// makes m what is known of it beforehand. Waits only where that or use() does. Throws wire_error, which names the
    /// rank, on all ranks and before any use, for an outline of no such message about d numbers; then the next message
    /// can be sent.
    template <ArrayCarrier<B> C, class Outlines, class Blank, class Use>
    void receive(B& on, C& comm, Outlines const& outlines, Blank blank, std::size_t d, Use use) {
        auto const ranks = static_cast<std::size_t>(comm.size());
        if (theirs_.size() < ranks) theirs_.resize(ranks);
        into_.clear();
        for (int r = 0; r < comm.size(); ++r) {
            auto& m = theirs_[static_cast<std::size_t>(r)];
            blank(on, r, m);
            read_outline(r, outlines.from(r).bytes, d, m);
        }
        comm.together([&] {
            auto own = mine_.begin();
            for (auto const& [r, to] : into_)
                comm.spread(r, r == comm.rank() ? *own++ : std::span<std::byte const>(), to);
        });
        for (int r = 0; r < comm.size(); ++r) use(r, std::as_const(theirs_[static_cast<std::size_t>(r)]));
    }

  private:
    void read_outline(int r, std::span<std::byte const> outline, std::size_t d, M& m) {
        std::size_t at = 0;
        auto const value = [&](auto& v) {
            if (outline.size() - at < sizeof v) refuse(r, at, "the outline of a message ends too early");
            if constexpr (std::is_same_v<decltype(v), bool&>)
                if (outline[at] > std::byte{1}) refuse(r, at, "the outline of a message has no truth value");
            std::memcpy(&v, outline.data() + at, sizeof v);
            at += sizeof v;
        };
        auto const array = [&](auto& a) {
            std::uint64_t n = 0;
            value(n);
            if (n > d && n > a.size()) refuse(r, at, "an array longer than the vector");
            if constexpr (requires { a.resize_to_overwrite(0); })
                a.resize_to_overwrite(detail::as_size(n));
            else
                a.resize(detail::as_size(n));
            into_.emplace_back(r, detail::bytes_of(a));
        };
        detail::walk(m, value, array);
        if (at != outline.size()) refuse(r, at, "the outline of a message goes on where it should end");
        if (!detail::fits(m, d)) refuse(r, at, "arrays of other lengths than such a message has");
    }
    [[noreturn]] static void refuse(int r, std::size_t at, char const* why) {
        throw wire_error(8 * at, detail::concat({"from rank ", r, ": ", why}));
    }
    std::vector<std::byte> outline_;
    std::vector<std::span<std::byte const>> mine_;
    std::vector<std::pair<int, std::span<std::byte>>> into_;  // of all ranks in their order, one array after another
    std::vector<M> theirs_;
};

/// Whether messages of the kind M go over C in arrays.
template <class C, class M, class B>
concept CarriesMessages = ArrayCarrier<C, B> && detail::is_made_of_arrays<M>();

}  // namespace laconic::detail
