// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "laconic/collective/agreement.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/message/message.hpp"
#include "laconic/wire/by_host.hpp"
#include "laconic/wire/failure.hpp"
#include "laconic/wire/stream.hpp"

/// How the messages of all ranks are written, sent and read, whichever ranks read them.
namespace laconic::detail {

/// The payload that is the message m about d numbers of T, written to `sink`.
template <Scalar T, class M, class B>
payload written(wire::bit_writer& sink, std::size_t d, wire::by_host<M, B>& encoding, B& on, M const& m) {
    sink.reserve(d * (sizeof(T) + 1) + 64);  // for numbers in full, once: a later message may be longer than the first
    sink.clear();
    encoding.write_message(sink, on, m);
    return {sink.finish(), false};
}

/// An all-gather in two halves, over a communicator that is Overlapping; else the first waits for all.
template <Communicator C>
void start_all_gather(C& comm, payload mine, [[maybe_unused]] int lane) {
    if constexpr (Overlapping<C>)
        comm.start_all_gather(mine, lane);
    else
        comm.all_gather(mine);
}
template <Communicator C>
void finish_all_gather([[maybe_unused]] C& comm, [[maybe_unused]] int lane) {
    if constexpr (Overlapping<C>) comm.finish(lane);
}

/// read(source) for the bytes that rank r sent in the last collective call; throws wire_error, which names the rank,
/// where it does not read all of them, too.
void read_bytes_from(Communicator auto& comm, int r, auto read) {
    wire::bit_reader source(comm.from(r).bytes);
    try {
        read(source);
        source.finish();
    } catch (wire_error const& e) {
        failure::unreadable(r, e.bit, e.why).raise();
    }
}
/// The same for a message.
template <class B, Communicator C, class M, class Blank>
void read_from(B& on, C& comm, int r, Blank blank, wire::by_host<M, B>& encoding, M& m) {
    read_bytes_from(comm, r, [&](wire::bit_reader& source) { encoding.read_message(source, blank, r, on, m); });
}

/// out <- 0 + the mean of what every rank sent in the last collective call, read into `theirs`, in the order of ranks.
template <class B, Communicator C, class M, class Blank, Scalar T>
void add_mean(B& on, C& comm, Blank blank, wire::by_host<M, B>& encoding, M& theirs, std::span<T> out) {
    T const share = T(1) / static_cast<T>(comm.size());
    for (int r = 0; r < comm.size(); ++r)
        read_bytes_from(comm, r, [&](wire::bit_reader& source) {
            encoding.read_and_add(source, blank, r, on, theirs, share, out);
        });
    messages::turn_back(on, out, std::as_const(theirs));
}

/// Four bytes behind a message or an error frame that all ranks gather, by which they see that they take different
/// steps, or the same step with different settings.
inline constexpr std::size_t tag_length = 4;

/// Thrown on all ranks whose messages have different tags: each must be asked what it has.
struct tags_differ : agreement_error {
    tags_differ() : agreement_error(-1, "ranks disagree on the step or its options") {}
};

/// An 8-bit CRC of the low 24 bits (polynomial x^8 + x^2 + x + 1), which is not 0 for zeros. Up to three flipped bits
/// of a tag never go unseen, as they would with a byte of checksum().
constexpr std::uint32_t tag_check(std::uint32_t bits) {
    std::uint32_t crc = 0xff;
    for (int i = 23; i >= 0; --i) crc = (crc << 1 ^ ((crc >> 7 ^ bits >> i) & 1u) * 0x107u) & 0xffu;
    return crc;
}
/// What stands in front of a tag.
enum class tagged : std::uint32_t { message, order, differences };

/// A tag: the low 6 bits of the step's number, what is tagged, 16 bits of a digest of `alike`, which all ranks must
/// have the same, or 0 where `alike` is 0, as this rank does not know it; and a check, so that a damaged tag is not
/// another.
inline std::uint32_t message_tag(std::uint64_t step, std::uint64_t alike, tagged what = tagged::message) {
    std::uint32_t const digest = alike == 0 ? 0 : 1 + static_cast<std::uint32_t>(fingerprint({alike, step}) % 0xffffu);
    std::uint32_t const bits = static_cast<std::uint32_t>(step & 0x3fu) | static_cast<std::uint32_t>(what) << 6;
    return bits | digest << 8 | tag_check(bits | digest << 8) << 24;
}
/// Appends the tag of this round, if it has one, to what is written.
inline std::span<std::byte const> with_tag(wire::bit_writer& sink, round_context const& now) {
    sink.finish();
    if (now.tag) sink.put(*now.tag, 32);
    return sink.finish();
}

/// A communicator whose from() shows the payloads of a round without their tags.
template <Communicator C>
class without_tags {
  public:
    without_tags(C& comm, round_context const& now) : comm_(&comm), behind_(now.tag ? tag_length : 0) {}

    int rank() const { return comm_->rank(); }
    int size() const { return comm_->size(); }
    void all_gather(payload mine) { comm_->all_gather(mine); }
    void gather(int root, payload mine) { comm_->gather(root, mine); }
    void broadcast(int root, payload mine) { comm_->broadcast(root, mine); }
    payload from(int r) const {
        auto p = comm_->from(r);
        p.bytes = p.bytes.first(p.bytes.size() < behind_ ? 0 : p.bytes.size() - behind_);
        return p;
    }
    C& inner() const { return *comm_; }

    /// After an all-gather of a round with tags: throws tags_differ where two tags that can be read are of different
    /// steps, behind different things, or of different settings that must be alike. Those that cannot be read are left
    /// to require_readable().
    void require_one() const {
        std::uint32_t step = 0, digest = 0;
        bool first = true;
        for (int r = 0; behind_ > 0 && r < size(); ++r) {
            auto const tag = tag_of(r);
            if (!is_readable(tag)) continue;
            std::uint32_t const its_step = tag & 0xffu, its_digest = tag >> 8 & 0xffffu;  // a step and what is tagged
            if (first) step = its_step;
            if (digest == 0) digest = its_digest;
            if (its_step != step || (its_digest != 0 && its_digest != digest)) throw tags_differ();
            first = false;
        }
    }
    /// Throws wire_error, which names the rank, for a tag that cannot be read.
    void require_readable() const {
        for (int r = 0; behind_ > 0 && r < size(); ++r)
            if (!is_readable(tag_of(r)))
                failure::unreadable(r, 8 * from(r).bytes.size(), "the tag behind it is damaged").raise();
    }

    /// Whether all tags can be read and stand behind this.
    bool are_all(tagged what) const {
        for (int r = 0; r < size(); ++r)
            if (auto const tag = tag_of(r); !is_readable(tag) || (tag >> 6 & 3u) != static_cast<std::uint32_t>(what))
                return false;
        return true;
    }

  private:
    static bool is_readable(std::uint32_t tag) { return tag >> 24 == tag_check(tag & 0xffffffu); }
    // 0, which is none, where there are too few bytes.
    std::uint32_t tag_of(int r) const {
        auto const bytes = comm_->from(r).bytes;
        if (bytes.size() < tag_length) return 0;
        wire::bit_reader source(bytes.last(tag_length));
        return static_cast<std::uint32_t>(source.take(32));
    }

    C* comm_;
    std::size_t behind_;
};

/// A communicator for short texts with tags: an all-gather throws tags_differ where these differ, and from() shows the
/// texts alone.
template <Communicator C>
class tagged_texts : public without_tags<C> {
  public:
    tagged_texts(C& comm, std::uint64_t step, tagged what)
        : without_tags<C>(comm, round_context{}.with_tag(0)),
          now_(round_context{}.with_tag(message_tag(step, 0, what))) {}

    void all_gather(payload mine) {
        gather_all_kinds(mine);
        this->require_one();
    }
    /// The same in this lane, as a message goes, whatever stands in front of the other ranks' tags.
    void gather_all_kinds(payload mine, int lane = 0) {
        sink_.clear();
        sink_.put_bytes(mine.bytes);
        start_all_gather(this->inner(), {with_tag(sink_, now_), mine.is_error}, lane);
        finish_all_gather(this->inner(), lane);
    }

  private:
    round_context now_;
    wire::bit_writer sink_;
};

}  // namespace laconic::detail
