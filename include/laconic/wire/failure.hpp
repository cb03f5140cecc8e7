// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "laconic/comm/communicator.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic::detail {

inline std::string_view text_of_bytes(std::span<std::byte const> bytes) {
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// Which exception a failure is. Of failures of several ranks those of an earlier kind count before those of a later
/// one; but not_finite to theory, which are of what a rank brought, count in the order of ranks.
enum class failure_kind : std::uint8_t {
    none,
    not_finite,  ///< non_finite_error
    no_message,  ///< compression_error
    shape,       ///< shape_error
    agreement,   ///< agreement_error
    argument,    ///< argument_error
    theory,      ///< theory_error
    sum,         ///< error: the sum of the ranks' finite numbers is not finite
    other,       ///< error
    unreadable,  ///< wire_error
    lost,        ///< comm_error
    left_out,    ///< compression_error, unless all ranks leave their message out
};

/// Why a rank has no message, or all ranks have no result, as a value that ranks send to each other: which exception it
/// is, about which rank, where and why. Every rank that has it raises the same exception. What a rank throws becomes
/// such a value again by of(); of several the least counts.
struct failure {
    /// In `why` these stand for `rank` and for `other`.
    static constexpr char its_rank = '\1', other_rank = '\2';

    failure_kind kind = failure_kind::none;
    bool of_all = false;  ///< ranks and coordinates are those of all ranks of a hierarchy, not of a share
    int rank = no_rank;   ///< no_rank: it belongs to none
    int other = no_rank;  ///< another rank that `why` names
    std::uint64_t round = 0;
    std::uint64_t where = 0;  ///< the coordinate or the bit
    std::string vector{};     ///< what it is about, such as "layer conv.bias"; empty where there is one vector only
    std::string why{};

    static failure not_finite(std::size_t i) { return {.kind = failure_kind::not_finite, .where = i}; }
    static failure no_message(std::string why) { return {.kind = failure_kind::no_message, .why = std::move(why)}; }
    /// This rank leaves its message out, which is an error only where another rank does not.
    static failure left_out(std::string why) { return {.kind = failure_kind::left_out, .why = std::move(why)}; }
    /// What `sender` sent is no message, from that bit on.
    static failure unreadable(int sender, std::uint64_t bit, std::string why) {
        return {.kind = failure_kind::unreadable, .rank = sender, .where = bit, .why = std::move(why)};
    }
    /// "rank 3 sends no weight", for rank 3 and why = "sends no weight".
    static failure lost(int rank, std::string_view why) {
        return {.kind = failure_kind::lost, .rank = rank, .why = concat({"rank ", its_rank, ' ', why})};
    }
    /// What make() returns, or no_message() with what it throws, of rank `own` in this round; or what
    /// raise() has thrown in it.
    static failure of_making(int own, std::uint64_t round, auto make) {
        try {
            return make().by(own, round);
        } catch (...) {
            return thrown_in_making(own, round);
        }
    }
    /// What was thrown on rank `own`: argument_error and theory_error are of what that rank was given.
    [[gnu::cold, gnu::noinline]] static failure of(std::exception_ptr thrown, int own) {
        auto const given = [&](failure_kind is, std::exception const& e) {
            return failure{.kind = is, .rank = own, .why = concat({"rank ", its_rank, ": ", e.what()})};
        };
        try {
            std::rethrow_exception(thrown);
        } catch (raised const& e) {
            return *e.why;
        } catch (argument_error const& e) {
            return given(failure_kind::argument, e);
        } catch (theory_error const& e) {
            return given(failure_kind::theory, e);
        } catch (non_finite_error const& e) {
            if (e.rank == non_finite_error::sum)
                return {.kind = failure_kind::sum, .round = e.round, .where = e.coordinate, .vector = e.of};
            return not_finite(e.coordinate).by(e.rank, e.round).in(e.of);
        } catch (compression_error const& e) {
            return no_message(e.why).by(e.rank, e.round);
        } catch (shape_error const& e) {
            return {.kind = failure_kind::shape, .why = e.what()};
        } catch (agreement_error const& e) {
            return {.kind = failure_kind::agreement, .rank = e.rank, .why = e.what()};
        } catch (wire_error const& e) {
            return unreadable(no_rank, e.bit, e.why);
        } catch (comm_error const& e) {
            // Of all: an engine names a rank by its number in the communicator that all come from.
            return {.kind = failure_kind::lost, .of_all = true, .rank = e.rank, .why = e.what()};
        } catch (error const& e) {
            return {.kind = failure_kind::other, .why = e.what()};
        } catch (std::exception const& e) {
            return lost(own, concat({"failed: ", e.what()}));
        } catch (...) {
            return lost(own, "failed by an exception that is no std::exception");
        }
    }

    explicit operator bool() const { return kind != failure_kind::none; }
    /// The same, of rank `own` in this round; and about this vector.
    failure by(int own, std::uint64_t in_round) && {
        rank = own, round = in_round;
        return std::move(*this);
    }
    failure in(std::string_view what) && {
        vector = what;
        return std::move(*this);
    }
    /// Becomes the other one where that counts more: the order in which failures come does not matter.
    void take_least(failure one_more) {
        if (one_more && (!*this || one_more < *this)) *this = std::move(one_more);
    }
    /// From the numbers of one share to those of all ranks: rank_of(r) is the number of rank r, and place(i, vector)
    /// the coordinate of number i of that vector. Does nothing to what has these numbers already.
    void renumber(auto rank_of, auto place) {
        if (std::exchange(of_all, true)) return;
        for (int* const r : {&rank, &other})
            if (*r != no_rank) *r = rank_of(*r);
        if (kind == failure_kind::not_finite || kind == failure_kind::sum)
            where = place(detail::as_size(where), vector);
    }

    /// Throws the exception. Does nothing where there is none.
    void raise() const;

    /// Its bytes: a few numbers, and the two texts.
    [[gnu::cold, gnu::noinline]] void write(wire::bit_writer& sink) const {
        sink.put(static_cast<std::uint64_t>(kind), 7);
        sink.put(of_all, 1);
        for (int const r : {rank, other}) sink.put(static_cast<std::uint32_t>(r), 32);
        for (auto const word : {round, where, std::uint64_t{vector.size()}}) sink.put(word, 64);
        for (auto const* const text : {&vector, &why}) sink.put_bytes(std::as_bytes(std::span(*text)));
    }
    /// The payload that holds it, written to `sink`.
    payload sent(wire::bit_writer& sink) const {
        sink.clear();
        write(sink);
        return {sink.finish(), true};
    }
    /// What write() wrote; other bytes are a failure themselves, of the rank that sent them.
    [[gnu::cold, gnu::noinline]] static failure read(std::span<std::byte const> bytes, int sender) {
        failure f;
        try {
            wire::bit_reader source(bytes);
            auto const number = source.take(7);
            f.of_all = source.take(1) != 0;
            for (int* const r : {&f.rank, &f.other})
                *r = static_cast<std::int32_t>(static_cast<std::uint32_t>(source.take(32)));
            for (auto* const word : {&f.round, &f.where}) *word = source.take(64);
            f.vector = text_of_bytes(source.take_bytes(source.take(64)));
            f.why = text_of_bytes(source.take_bytes(source.left() / 8));
            f.kind = static_cast<failure_kind>(number);
            if (f && f.kind <= failure_kind::left_out && f.rank >= no_rank && f.other >= no_rank) return f;
        } catch (wire_error const&) {
        }
        return unreadable(sender, 0, "an unreadable error frame");
    }

    friend bool operator<(failure const& a, failure const& b) { return a.key() < b.key(); }
    friend bool operator==(failure const&, failure const&) = default;

  private:
    // What raise() throws is also this, from which of() has the failure as it was.
    struct raised {
        std::shared_ptr<failure const> why;
    };
    template <class E>
    struct raised_error final : E, raised {
        raised_error(E const& e, failure const& f) : E(e), raised{std::make_shared<failure>(f)} {}
    };

    [[gnu::cold, gnu::noinline]] static failure thrown_in_making(int own, std::uint64_t round) try {
        throw;
    } catch (raised const& e) {
        return *e.why;
    } catch (std::exception const& e) {
        return no_message(e.what()).by(own, round);
    } catch (...) {
        return no_message("an exception that is no std::exception").by(own, round);
    }
    // libc++ has no <=> of strings before its version 16.
    std::tuple<failure_kind, int, failure_kind, int, std::uint64_t, std::uint64_t, std::string_view, std::string_view>
    key() const {
        return {kind <= failure_kind::theory ? failure_kind::none : kind, rank, kind, other, round, where, vector, why};
    }
};

[[gnu::cold, gnu::noinline]] inline void failure::raise() const {
    std::string text = vector.empty() ? vector : vector + ": ";
    if (kind == failure_kind::unreadable && rank != no_rank) text += concat({"from rank ", rank, ": "});
    for (char const c : why)
        if (c == its_rank || c == other_rank)
            text += std::to_string(c == its_rank ? rank : other);
        else
            text += c;
    auto const as = [&](auto const& e) { throw raised_error<std::remove_cvref_t<decltype(e)>>(e, *this); };
    switch (kind) {
        case failure_kind::none:
            return;
        case failure_kind::not_finite:
            return as(non_finite_error(rank, round, static_cast<std::size_t>(where), vector));
        case failure_kind::no_message:
        case failure_kind::left_out:
            return as(compression_error(rank, round, text));
        case failure_kind::shape:
            return as(shape_error(text));
        case failure_kind::agreement:
            return as(agreement_error(rank, text));
        case failure_kind::argument:
            return as(argument_error(text));
        case failure_kind::theory:
            return as(theory_error(text));
        case failure_kind::sum:
            return as(non_finite_error(non_finite_error::sum, round, static_cast<std::size_t>(where), vector));
        case failure_kind::other:
            return as(error(text));
        case failure_kind::unreadable:
            return as(wire_error(where, text));
        case failure_kind::lost:
            return as(comm_error(rank, text));
    }
}

}  // namespace laconic::detail
