// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/backend/array.hpp"
#include "laconic/core/error.hpp"
#include "laconic/wire/byte_order.hpp"

/// The state of a run, which lets it go on later, bit for bit. A part that has state has a member
///     void state(auto& archive) { archive(count_), archive.vectors(velocity_); }
/// which passes all of it to the archive:
/// - archive(...): numbers, other parts, and arrays of numbers that have their length already;
/// - archive.between(a, b, n): a number that is at least a and at most b;
/// - archive.vectors(...): arrays that are empty before the first round and as long as x after it; all arrays of one
///   call have one length; archive.of_dimension(d) sets the length of the vectors after this to d, where it changes;
/// - archive.of_any_length(...): other arrays, which the part must check before it uses what was read;
/// - archive.encoded(bytes, read): bytes that the part encoded itself; read(bytes, checking) gets what was saved,
///   in both walks of the reader: it throws wire_error where they are wrong, and while `checking` changes nothing;
/// - archive.span_there(x): a span of the backend's memory.
/// So no state, even a forged one with a right checksum, makes an array longer or shorter than the part expects, and no
/// loop longer, as numbers that bound one are passed by between(). Parts without the member have no state. Arrays may
/// be a backend's, whose elements the host cannot reach: the backend that the archive was given copies them, and their
/// bytes in the state are those of host arrays.
namespace laconic::wire {

/// part.state(archive) passes all of the part's state to the archive, to save it and to restore it.
template <class P, class Archive>
concept HasState = requires(P& part, Archive& archive) {
    part.state(archive);
};

}  // namespace laconic::wire

namespace laconic::detail {

template <class P>
concept Number = std::is_arithmetic_v<P> || std::is_enum_v<P>;
template <class P>
concept NumberArray = requires(P p) {
    p.data();
    p.size();
    requires Number<std::remove_cvref_t<decltype(*p.data())>>;
};
// A part that may be skipped: it does not look like one that has state.
template <class P>
concept WithoutState = !std::is_pointer_v<P> && !requires(P p) {
    p.begin();
}
&&!requires(P p) { p.has_value(); };

}  // namespace laconic::detail

namespace laconic::wire {

/// Writes state: "laconic1", a text that names its owner, the state, and a checksum. Numbers have their low byte first.
class state_writer {
  public:
    /// `copies` is made of the backend whose arrays the parts have, if it is not the host's.
    explicit state_writer(std::string const& what, kernels::backend_copies copies = {}) : copies_(std::move(copies)) {
        for (char const c : std::string("laconic1")) bytes_.push_back(static_cast<std::byte>(c));
        put(what);
    }
    void operator()(auto&... parts) { (put(parts), ...); }
    void between(auto, auto, auto& number) { put(number); }
    void of_dimension(std::size_t) {}
    void vectors(auto&... arrays) { (put(arrays), ...); }
    void of_any_length(auto&... arrays) { (put(arrays), ...); }
    void encoded(std::span<std::byte const> bytes, auto const&) { put(bytes); }
    /// A span of the backend's memory.
    template <class T>
    void span_there(std::span<T> x) {
        raw(std::uint64_t{x.size()});
        if (copies_.are_needed())
            numbers_there(std::span<T const>(x));
        else
            for (auto const v : x) raw(v);
    }
    std::vector<std::byte> finish() {
        auto const sum = checksum(bytes_);
        put(sum);
        return std::move(bytes_);
    }

  private:
    template <class P>
    void put(P& part) {
        if constexpr (detail::Number<std::remove_const_t<P>>) {
            raw(part);
        } else if constexpr (detail::NumberArray<P>) {
            raw(std::uint64_t{part.size()});
            if constexpr (kernels::OutOfReach<P>)
                numbers_there(std::span(std::as_const(part)));
            else
                for (auto const v : part) raw(v);
        } else if constexpr (HasState<P, state_writer>) {
            part.state(*this);
        } else {
            static_assert(detail::WithoutState<P>, "a range that is no array of numbers has no state(archive)");
        }
    }
    void raw(auto value) {
        bytes_.resize(bytes_.size() + sizeof value);
        detail::store_little(bytes_.data() + bytes_.size() - sizeof value, value);
    }
    template <class E>
    void numbers_there(std::span<E const> x) {
        for (auto const v : copies_.to_host(x)) raw(v);
    }

    std::vector<std::byte> bytes_;
    kernels::backend_copies copies_;
};

/// Reads what state_writer wrote, in two walks over the same parts: the first, while `checking_`, changes nothing and
/// throws where anything is wrong; the second fills the parts in.
class state_reader {
  public:
    /// Throws wire_error where the bytes are no state or are damaged.
    [[gnu::cold, gnu::noinline]] explicit state_reader(std::span<std::byte const> bytes) : bytes_(bytes) {
        if (bytes.size() < 8 + 8 + 4 || std::memcmp(bytes.data(), "laconic1", 8) != 0)
            throw wire_error(0, "this is no saved state");
        bytes_ = bytes.first(bytes.size() - 4);
        if (!ends_with_checksum(bytes)) throw wire_error(8 * bytes_.size(), "the saved state is damaged");
        at_ = 8, checking_ = false;
        of_any_length(owner_);
        checking_ = true;
        start_ = at_;
    }
    /// Throws shape_error, too, where they are the state of something other than `what`. `dimension` is x's length;
    /// without it vectors may have any length. `copies` is as a state_writer takes it.
    [[gnu::cold, gnu::noinline]] state_reader(std::span<std::byte const> bytes, std::string const& what,
                                              std::optional<std::size_t> dimension = {},
                                              kernels::backend_copies copies = {})
        : state_reader(bytes) {
        dimension_ = dimension;
        copies_ = std::move(copies);
        if (owner_ != what)
            throw shape_error({"this is the state of another run:\n", detail::lines_without(owner_, what, "saved: "),
                               detail::lines_without(what, owner_, "here: ")});
    }
    /// The text that names the state's owner.
    std::string const& owner() const { return owner_; }
    void operator()(auto&... parts) { (take(parts), ...); }
    /// Throws wire_error unless a <= the number that was saved <= b.
    template <detail::Number N>
    void between(N a, N b, N& number) {
        N const value = raw<N>();
        if (!(a <= value && value <= b)) refuse("a number is outside its range");
        if (!checking_) number = value;
    }
    /// A span of the backend's memory.
    template <class T>
    void span_there(std::span<T> x) {
        auto const n = length_of(x);
        if (n != x.size()) refuse("an array has another length");
        if (copies_.are_needed())
            fill_there(x, n);
        else
            fill(x, n);
    }
    /// From here on vectors must have this length.
    void of_dimension(std::size_t d) { dimension_ = d; }
    void vectors(auto&... arrays) {
        std::optional<std::uint64_t> common;
        auto const one = [&](auto& array) {
            auto const n = length_of(array);
            if (n != common.value_or(n) || (n != 0 && n != dimension_.value_or(n)))
                refuse("a vector has another length");
            common = n;
            fill(array, n);
        };
        (one(arrays), ...);
    }
    void of_any_length(auto&... arrays) { (fill(arrays, length_of(arrays)), ...); }
    /// What comes next if it is a number or the length of an array.
    std::uint64_t next() {
        auto const at = at_;
        auto const value = raw<std::uint64_t>();
        return at_ = at, value;
    }
    void encoded(std::span<std::byte const> own, auto read) {
        auto const n = length_of(own);
        auto const bytes = bytes_.subspan(at_, n);
        at_ += n;
        read(bytes, checking_);
    }
    /// Skips the first walk, where it was made over the same bytes before.
    void skip_checks() { checking_ = false; }
    /// Ends the first walk; throws wire_error where bytes are left.
    void rewind() {
        if (at_ != bytes_.size()) refuse("it holds more than this run remembers");
        checking_ = false;
        at_ = start_;
    }

  private:
    [[noreturn, gnu::cold, gnu::noinline]] void refuse(char const* why) const {
        throw wire_error(8 * at_, std::string("the saved state: ") + why);
    }

    template <class P>
    void take(P& part) {
        if constexpr (detail::Number<P>) {
            P const value = raw<P>();
            if (!checking_) part = value;
        } else if constexpr (detail::NumberArray<P>) {
            auto const n = length_of(part);
            if (n != part.size()) refuse("an array has another length");
            fill(part, n);
        } else if constexpr (HasState<P, state_reader>) {
            part.state(*this);
        } else {
            static_assert(detail::WithoutState<P>, "a range that is no array of numbers has no state(archive)");
        }
    }
    // The length of the next array; throws wire_error where its numbers go beyond the end.
    std::uint64_t length_of(auto const& array) {
        auto const n = raw<std::uint64_t>();
        if (n > (bytes_.size() - at_) / sizeof(*array.data())) refuse("an array goes beyond its end");
        return n;
    }
    template <class Array>
    void fill(Array& array, std::uint64_t n) {
        if constexpr (requires { array.resize(n); })
            if (!checking_) array.resize(n);
        if constexpr (kernels::OutOfReach<Array>) {
            fill_there(std::span(array), n);
        } else {
            for (std::uint64_t i = 0; i < n; ++i) {
                auto const value = raw<std::remove_cvref_t<decltype(*array.data())>>();
                if (!checking_) array[i] = value;
            }
        }
    }
    template <class E>
    void fill_there(std::span<E> x, std::uint64_t n) {
        std::vector<E> here(n);
        for (E& v : here) v = raw<E>();
        if (!checking_) copies_.from_host(here, x);
    }
    template <class N>
    N raw() {
        if (bytes_.size() - at_ < sizeof(N)) refuse("it ends too early");
        auto const* const from = bytes_.data() + std::exchange(at_, at_ + sizeof(N));
        if constexpr (std::is_same_v<N, bool>)
            return *from != std::byte{0};
        else
            return detail::load_little<N>(from);
    }

    std::span<std::byte const> bytes_;
    std::string owner_;
    std::optional<std::size_t> dimension_;
    kernels::backend_copies copies_;
    std::size_t at_ = 0, start_ = 0;
    bool checking_ = true;
};

}  // namespace laconic::wire
