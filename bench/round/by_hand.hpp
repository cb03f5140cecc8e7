// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/comm/mailbox.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/core/size.hpp"
#include "laconic/feedback/memory.hpp"
#include "laconic/message/plain.hpp"
#include "laconic/wire/message.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/stream.hpp"

namespace round_bench {

using namespace laconic;

inline double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// Of this thread.
inline double processor_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The kernels of a step, in its order.
inline constexpr std::array kernel_names{"compensate", "compress", "write",    "copy", "clear",
                                         "read_add",   "share",    "remember", "back"};
enum kernel : std::size_t { compensate_, compress_, write_, copy_, clear_, read_add_, share_, remember_, back_ };

/// What the ranks of one process have in common.
struct shared_state {
    explicit shared_state(int ranks) : barrier(ranks), sent(static_cast<std::size_t>(ranks)), shared(sent.size()) {}

    int size() const { return static_cast<int>(sent.size()); }

    std::barrier<> barrier;
    std::vector<std::array<detail::mailbox::slot, 2>> sent;  ///< of each rank its messages, by turns
    std::vector<detail::mailbox::slot> shared;               ///< of each rank its part of a mean in full
};

/// A step of a reducer, as a program without a reducer would write it: the same kernels, one after another, and between
/// them nothing but one barrier, or two where each rank adds up its part of vectors in full for all. It checks nothing,
/// and refuses nothing.
template <class R>
class by_hand {
    using message = detail::message_of<decltype(R::compressor), float, host>;
    static constexpr bool in_full = std::is_same_v<message, messages::full_vector<float, host>>;

  public:
    by_hand(R how, shared_state& all, int rank, std::size_t d)
        : how_(std::move(how)),
          all_(all),
          rank_(rank),
          memory_(how_.template feedback<float, host>(d)),
          delta_(d),
          mean_(d) {
        least_.fill(1e300);
        memory_.start(d);
        sink_.reserve(d * 5 + 64);
    }

    /// x <- the estimate.
    void operator()(std::span<float> x) {
        starts();
        auto const now = round_context::of(key{0}, round_, rank_, all_.size());
        std::span<float> const delta(delta_), mean(mean_);
        memory_.with_delta(on_, 1.0f, std::span<float const>(x), 1.0f, delta,
                           [&](auto const& sum) { return kernels::compensate(on_, sum); });
        ends(compensate_);
        how_.compressor(on_, std::span<float const>(delta), now.own, mine_);
        ends(compress_);
        sink_.clear();
        write(sink_, mine_);
        auto const bytes = sink_.finish();
        message_bytes_ = bytes.size();
        ends(write_);
        sent(rank_).assign({bytes});
        ends(copy_);
        fill(on_, mean, 0.0f);
        ends(clear_);
        wait_for_all();
        if (in_full && all_.size() > 1) {
            share_mean(mean);
        } else {
            for (int r = 0; r < all_.size(); ++r) {
                how_.compressor.blank(on_, x.size(), round_context::of(key{0}, round_, r, all_.size()).own, theirs_);
                wire::bit_reader source(sent(r).bytes);
                read(on_, source, theirs_, how_.compressor);
                source.finish();
                add_message(on_, mean, 1.0f / static_cast<float>(all_.size()), theirs_);
            }
            ends(read_add_);
        }
        memory_.update(on_, std::move(delta_), mine_);
        memory_.reconstruct(on_, now, mean);
        ends(remember_);
        copy(on_, std::span<float const>(mean), x);
        ends(back_);
        processor_ += processor_seconds() - processor_began_;
        ++round_;
        for (std::size_t k = 0; k < least_.size(); ++k) least_[k] = std::min(least_[k], std::exchange(seconds_[k], 0));
    }

    /// Of the kernels alone, without the barriers, since it was asked last.
    double processor() { return std::exchange(processor_, 0); }
    /// Of each kernel, by the clock on the wall, in the step where it took the least.
    std::array<double, kernel_names.size()> const& least_seconds() const { return least_; }
    std::size_t message_bytes() const { return message_bytes_; }

  private:
    // As transport/gathered.hpp does it.
    void share_mean(std::span<float> mean) {
        detail::partition const parts{mean.size(), static_cast<std::size_t>(all_.size())};
        auto const me = static_cast<std::size_t>(rank_);
        auto const mine = parts.of(mean, me);
        part_.values.resize(mine.size());
        for (int r = 0; r < all_.size(); ++r) {
            auto const bytes = std::span<std::byte const>(sent(r).bytes);
            wire::bit_reader source(bytes.subspan(parts.first(me) * sizeof(float), mine.size_bytes()));
            take_numbers(source, part_.values);
            add_message(on_, mine, 1.0f / static_cast<float>(all_.size()), part_);
        }
        ends(read_add_);
        all_.shared[me].assign({std::as_bytes(mine)});
        ends(share_);
        wait_for_all();
        for (std::size_t r = 0; r < all_.shared.size(); ++r)
            if (r != me) std::memcpy(parts.of(mean, r).data(), all_.shared[r].bytes.data(), parts.length(r) * 4);
        ends(share_);
    }
    detail::mailbox::slot& sent(int rank) { return all_.sent[static_cast<std::size_t>(rank)][round_ % 2]; }

    void wait_for_all() {
        processor_ += processor_seconds() - processor_began_;
        all_.barrier.arrive_and_wait();
        starts();
    }
    void starts() {
        processor_began_ = processor_seconds();
        began_ = wall_seconds();
    }
    void ends(kernel k) {
        double const now = wall_seconds();
        seconds_[k] += now - began_;
        began_ = now;
    }

    R how_;
    shared_state& all_;
    int rank_;
    host on_;
    memory<float, host> memory_;
    host::array<float> delta_, mean_;
    message mine_, theirs_;
    messages::full_vector<float, host> part_;
    wire::bit_writer sink_;
    std::uint64_t round_ = 0;
    std::size_t message_bytes_ = 0;
    double began_ = 0, processor_began_ = 0, processor_ = 0;
    std::array<double, kernel_names.size()> seconds_{}, least_;
};

}  // namespace round_bench
