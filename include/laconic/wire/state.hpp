// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/wire/checksum.hpp"

/// What a run must keep to go on another day, bit for bit. A part that remembers something has a member
///     template <class Archive> void state(Archive& archive) { archive(velocity_, count_); }
/// which hands all of it to the archive: numbers, arrays of numbers, and other parts. Parts without it have no state.
namespace laconic {

namespace detail {

template <class P>
concept Number = std::is_arithmetic_v<P> || std::is_enum_v<P>;
template <class P>
concept NumberArray = requires(P p) {
    p.data();
    p.size();
    requires Number<std::remove_cvref_t<decltype(*p.data())>>;
};
// What can be passed over: it does not look like something that remembers.
template <class P>
concept WithoutState = !std::is_pointer_v<P> && !requires(P p) {
    p.begin();
}
&&!requires(P p) { p.has_value(); };

}  // namespace detail

/// Writes state: "laconic1", what the state is of, the state, and a checksum. Numbers stand with their low byte first.
class state_writer {
  public:
    explicit state_writer(std::string const& what) {
        for (char const c : std::string("laconic1")) bytes_.push_back(static_cast<std::byte>(c));
        put(what);
    }
    template <class... Part>
    void operator()(Part&... parts) {
        (put(parts), ...);
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
            for (auto const v : part) raw(v);
        } else if constexpr (requires { part.state(*this); }) {
            part.state(*this);
        } else {
            static_assert(detail::WithoutState<P>, "a range that is no array of numbers has no state(archive)");
        }
    }
    template <class N>
    void raw(N value) {
        unsigned char b[sizeof value];
        std::memcpy(b, &value, sizeof value);
        for (std::size_t i = 0; i < sizeof value; ++i)
            bytes_.push_back(std::byte{b[std::endian::native == std::endian::little ? i : sizeof value - 1 - i]});
    }
    std::vector<std::byte> bytes_;
};

/// Reads what state_writer wrote, in two walks over the same parts: the first, with `checking`, changes nothing and
/// throws where anything is wrong; the second fills the parts in.
class state_reader {
  public:
    /// Throws wire_error where the bytes are no state or are damaged, shape_error where they are the state of something
    /// else than `what`.
    state_reader(std::span<std::byte const> bytes, std::string const& what) : bytes_(bytes) {
        static constexpr char name[] = "laconic1";
        if (bytes.size() < 8 + 8 + 4 || std::memcmp(bytes.data(), name, 8) != 0)
            throw wire_error(0, "this is no saved state");
        bytes_ = bytes.first(bytes.size() - 4);
        auto const sum = checksum(bytes_);
        std::uint32_t theirs = 0;
        for (std::size_t i = 0; i < 4; ++i)
            theirs |= std::to_integer<std::uint32_t>(bytes[bytes_.size() + i]) << (8 * i);
        if (sum != theirs) throw wire_error(8 * bytes_.size(), "the saved state is damaged");
        at_ = 8;
        checking_ = false;
        std::string saved;
        take(saved);
        checking_ = true;
        if (saved != what) throw shape_error("this is the state of another run:\n" + saved + "instead of\n" + what);
        start_ = at_;
    }
    template <class... Part>
    void operator()(Part&... parts) {
        (take(parts), ...);
    }
    /// Ends the first walk; throws wire_error where something is left.
    void rewind() {
        if (at_ != bytes_.size()) refuse("it holds more than this run remembers");
        checking_ = false;
        at_ = start_;
    }

  private:
    [[noreturn]] void refuse(char const* why) const {
        throw wire_error(8 * at_, std::string("the saved state: ") + why);
    }

    template <class P>
    void take(P& part) {
        if constexpr (detail::Number<P>) {
            P const value = raw<P>();
            if (!checking_) part = value;
        } else if constexpr (detail::NumberArray<P>) {
            using N = std::remove_cvref_t<decltype(*part.data())>;
            auto const n = raw<std::uint64_t>();
            if (n > (bytes_.size() - at_) / sizeof(N)) refuse("an array goes beyond its end");
            if constexpr (requires { part.resize(n); }) {
                if (!checking_) part.resize(n);
            } else {
                if (n != part.size()) refuse("an array has another length");
            }
            for (std::uint64_t i = 0; i < n; ++i) {
                N const value = raw<N>();
                if (!checking_) part[i] = value;
            }
        } else if constexpr (requires { part.state(*this); }) {
            part.state(*this);
        } else {
            static_assert(detail::WithoutState<P>, "a range that is no array of numbers has no state(archive)");
        }
    }
    template <class N>
    N raw() {
        if (bytes_.size() - at_ < sizeof(N)) refuse("it ends too early");
        unsigned char b[sizeof(N)];
        for (std::size_t i = 0; i < sizeof(N); ++i)
            b[std::endian::native == std::endian::little ? i : sizeof(N) - 1 - i] =
                std::to_integer<unsigned char>(bytes_[at_ + i]);
        at_ += sizeof(N);
        N value;
        if constexpr (std::is_same_v<N, bool>)
            value = b[0] != 0;
        else
            std::memcpy(&value, b, sizeof value);
        return value;
    }

    std::span<std::byte const> bytes_;
    std::size_t at_ = 0, start_ = 0;
    bool checking_ = true;
};

}  // namespace laconic
