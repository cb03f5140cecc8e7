// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/mailbox.hpp"
#include "laconic/comm/tcp_mesh.hpp"

namespace laconic::detail {

/// First in, first out. Reuses its memory.
template <class T>
class fifo {
  public:
    std::size_t size() const { return all_.size() - first_; }
    bool empty() const { return size() == 0; }
    T& operator[](std::size_t i) { return all_[first_ + i]; }
    void push(T one) {
        if (all_.empty()) all_.reserve(16);
        if (first_ > 0 && all_.size() == all_.capacity()) {
            all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
            first_ = 0;
        }
        all_.push_back(std::move(one));
    }
    T pop() {
        T one = std::move(all_[first_++]);
        if (empty()) clear();
        return one;
    }
    void clear() { all_.clear(), first_ = 0; }

  private:
    std::vector<T> all_;
    std::size_t first_ = 0;
};

/// What precedes each message on a connection.
struct tcp_header {
    enum kind : std::uint16_t { collective, pair, left, failed };

    std::uint32_t mark = expected;
    std::uint16_t is = collective, is_error = 0;
    std::uint64_t channel = 0, length = 0;

    static constexpr std::uint32_t expected = 0x6c61636f;
    bool is_sound() const {
        bool const has_reason = is != failed || length > sizeof(std::int32_t);  // behind the rank at fault
        return mark == expected && is <= failed && is_error <= 1 && has_reason;
    }
};

/// Messages as numbers, whose memory is reused. Each has users, and is free once all of them have released it.
class tcp_pool {
  public:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    struct buffer {
        std::vector<std::byte> bytes{};
        std::size_t count = 0, length = 0;  // bytes that are here, and that there will be
        bool is_error = false;
        std::size_t users = 0;

        bool is_whole() const { return count == length; }
        /// Where the next bytes go. Grows with those that have come, not to the length that was announced.
        std::span<std::byte> room() {
            std::size_t const chunk = std::size_t{1} << 20;
            if (count == bytes.size()) bytes.resize(std::min(length, std::max(2 * count, chunk)));
            return std::span(bytes).subspan(count, std::min(length, bytes.size()) - count);
        }
    };

    buffer& operator[](std::size_t message) { return all_[message]; }
    payload show(std::size_t message) const {
        if (message == none) return {};
        auto const& m = all_[message];
        return {std::span(m.bytes).first(m.count), m.is_error};
    }
    /// A message of this length, of which nothing is here.
    std::size_t take(std::size_t length, bool is_error, std::size_t users) {
        if (free_.empty()) grow();
        auto const taken = take_room(free_, length, [&](std::size_t f) { return all_[f].bytes.size(); });
        auto& m = all_[taken];
        m.count = 0, m.length = length, m.is_error = is_error, m.users = users;
        return taken;
    }
    std::size_t copy(payload from, std::size_t users) {
        auto const made = take(from.bytes.size(), from.is_error, users);
        auto& m = all_[made];
        m.count = m.length;
        if (m.bytes.size() < m.length) m.bytes.resize(m.length);
        std::copy(from.bytes.begin(), from.bytes.end(), m.bytes.begin());
        return made;
    }
    void release(std::size_t message) {
        if (message != none && --all_[message].users == 0) free_.push_back(message);
    }

  private:
    // As many again, with room for short messages: how many are in flight at once differs from call to call.
    void grow() {
        auto const first = all_.size();
        all_.resize(std::max<std::size_t>(16, 2 * first));
        free_.reserve(all_.size());
        for (auto m = first; m < all_.size(); ++m) {
            all_[m].bytes.resize(4096);
            free_.push_back(m);
        }
    }

    std::vector<buffer> all_;
    std::vector<std::size_t> free_;
};

/// The connection with one other rank: messages that wait to be sent, and the one that is being received. Neither end
/// waits.
struct tcp_link {
    struct frame {
        tcp_header header;
        std::size_t message;
    };

    tcp_socket socket{};
    fifo<frame> out{};
    std::size_t sent = 0;                  // bytes of the first of them
    std::uint64_t pushed = 0, popped = 0;  // of them, since the connection was made
    tcp_header header{};                   // of the message that is being received,
    std::size_t reading = tcp_pool::none;
    std::vector<std::byte> staged{};   // and bytes behind it,
    std::size_t end = 0;               // so many
    bool takes = true, ended = false;  // whether it can be written, and cannot be read
    int culprit = no_rank;
    std::string why{};  // the reason why that rank sends nothing more

    /// Sends what the system takes.
    void write(tcp_pool& pool) {
        while (!out.empty()) {
            std::array<iovec, 32> parts;
            std::size_t used = 0, skip = sent;
            auto const add = [&](std::span<std::byte const> bytes) {
                auto const rest = bytes.subspan(std::min(skip, bytes.size()));
                skip -= bytes.size() - rest.size();
                if (!rest.empty()) parts[used++] = {const_cast<std::byte*>(rest.data()), rest.size()};  // only read
            };
            for (std::size_t i = 0; i < out.size() && used + 2 <= parts.size(); ++i) {
                add(std::as_bytes(std::span(&out[i].header, 1)));
                add(pool.show(out[i].message).bytes);
            }
            msghdr all{};
            all.msg_iov = parts.data();
            all.msg_iovlen = used;
            auto const n = ::sendmsg(socket.get(), &all, MSG_NOSIGNAL);
            if (n < 0) {
                if (!tcp_socket::would_wait()) drop(pool);
                return;
            }
            sent += static_cast<std::size_t>(n);
            while (!out.empty()) {
                auto const first = sizeof(tcp_header) + out[0].header.length;
                if (sent < first) break;
                sent -= first;
                ++popped;
                pool.release(out.pop().message);
            }
        }
    }
    /// Nothing more can be sent.
    void drop(tcp_pool& pool) {
        takes = false;
        popped = pushed;
        while (!out.empty()) pool.release(out.pop().message);
    }

    /// Receives what is here: begin() is called where a header has come, sets `reading`, and returns false where the
    /// connection ends; complete() where the message is whole. Returns false at the end of the connection, errno being
    /// its reason, or 0.
    bool read(tcp_pool& pool, auto begin, auto complete) {
        std::array<iovec, 2> parts;
        int used = 0;
        std::size_t direct = 0;
        if (reading != tcp_pool::none) {
            auto const room = pool[reading].room();
            direct = room.size();
            parts[0] = {room.data(), direct};
            used = 1;
        }
        parts[static_cast<std::size_t>(used++)] = {staged.data() + end, staged.size() - end};
        auto const n = ::readv(socket.get(), parts.data(), used);
        if (n < 0 && tcp_socket::would_wait()) return true;
        if (n == 0) errno = 0;
        if (n <= 0) return false;
        direct = std::min(static_cast<std::size_t>(n), direct);
        if (direct > 0) pool[reading].count += direct;
        end += static_cast<std::size_t>(n) - direct;
        std::size_t at = 0;
        for (;;) {
            if (reading == tcp_pool::none) {
                if (end - at < sizeof header) break;
                std::memcpy(&header, staged.data() + at, sizeof header);
                at += sizeof header;
                if (!begin()) return true;
            }
            auto& m = pool[reading];
            while (!m.is_whole() && at < end) {
                auto const room = m.room();
                auto const part = std::min(room.size(), end - at);
                std::memcpy(room.data(), staged.data() + at, part);
                at += part, m.count += part;
            }
            if (!m.is_whole()) break;
            complete();
            pool.release(std::exchange(reading, tcp_pool::none));
        }
        std::copy(staged.begin() + static_cast<std::ptrdiff_t>(at), staged.begin() + static_cast<std::ptrdiff_t>(end),
                  staged.begin());
        end -= at;
        return true;
    }
};

}  // namespace laconic::detail
