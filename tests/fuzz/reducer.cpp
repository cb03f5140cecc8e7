// SPDX-License-Identifier: Apache-2.0
// A reducer among ranks that send anything never crashes or hangs; a step that fails changes nothing,
// and the next step among honest ranks succeeds.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/input.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/parts.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/core/key.hpp"
#include "laconic/resume.hpp"
#include "laconic/wire/byte_order.hpp"

namespace {

using namespace laconic;
using bytes = std::vector<std::byte>;

// This rank's payload is right. The others hand over the same, where they are honest: it is a message like theirs
// would be. Else the input decides what they do in each collective.
class hostile {
  public:
    hostile(fuzz::input& in, int rank, int size) : in_(&in), rank_(rank), size_(size) {}

    void be_honest(bool honest) {
        honest_ = honest;
        broke_ = false;
    }
    int rank() const { return rank_; }
    int size() const { return size_; }
    void all_gather(payload mine) {
        if (started_ && !broke_) fuzz::found("a collective call while an all-gather is under way");
        started_.check_none();
        gather_all(mine);
        shown_ = payloads(gathered_);
    }
    void start_all_gather(payload mine, int lane = 0) {
        if (is_started(lane) && !broke_) fuzz::found("a start in a lane that is in flight");
        started_.start(lane, [&] { gather_all(mine); });
        lanes_[lane] = payloads(gathered_);
    }
    void finish(int lane = 0) {
        if (!broke_ && (!started_ || started_.lane(0) != lane)) fuzz::found("a finish out of order");
        started_.finish(lane, [&] {
            if (!honest_ && in_->take<std::uint8_t>() == 1) break_off();
        });
        shown_ = payloads(lanes_[lane]);
    }
    void gather(int, payload) { fuzz::found("a gather"); }
    void broadcast(int, payload) { fuzz::found("a broadcast"); }
    payload from(int r) const {
        auto const& one = shown_[static_cast<std::size_t>(r)];
        return {one.bytes, one.is_error};
    }

  private:
    struct kept {
        ::bytes bytes;
        bool is_error = false;
    };
    using payloads = std::vector<kept>;  // copied, so that no vector has room beyond its end

    bool is_started(int lane) const {
        for (int i = 0; i < started_.count(); ++i)
            if (started_.lane(i) == lane) return true;
        return false;
    }
    [[noreturn]] void break_off() {
        broke_ = true;
        throw comm_error(rank_ == 0 ? 1 : 0, "lost");
    }
    void gather_all(payload mine) {
        gathered_.assign(static_cast<std::size_t>(size_), {{mine.bytes.begin(), mine.bytes.end()}, mine.is_error});
        for (int r = 0; r < size_ && !honest_; ++r)
            if (r != rank_) {
                auto& one = gathered_[static_cast<std::size_t>(r)];
                auto const what = in_->take<std::uint8_t>() % 9;
                if (what == 8)
                    one = gathered_[0];
                else
                    change(one, what);
            }
    }
    void change(kept& one, int what) {
        if (what == 1 || what == 2) {
            one.is_error = what == 2;
            one.bytes.resize(in_->take<std::uint8_t>() % 64);
            for (auto& b : one.bytes) b = in_->take<std::byte>();
        } else if (what == 3 || what == 4) {
            for (int n = what == 3 ? 1 : 4; n > 0 && !one.bytes.empty(); --n)
                one.bytes[in_->take<std::uint8_t>() % one.bytes.size()] ^= in_->take<std::byte>();
        } else if (what == 5) {
            one.bytes.resize(in_->take<std::uint8_t>() % 64);
        } else if (what == 6) {
            one.is_error = !one.is_error;
        } else if (what == 7 && in_->take<std::uint8_t>() == 1) {
            break_off();
        }
    }

    fuzz::input* in_;
    int rank_, size_;
    bool honest_ = true, broke_ = false;
    detail::under_way started_;
    detail::per_lane<payloads> lanes_;
    payloads gathered_, shown_;
};

std::vector<layer> const layers{{"a", 9}, {"a.bias", 4}, {"b", 70}, {"c", 5}};
using vectors = std::vector<std::vector<float>>;

vectors gradients(int step) {
    vectors all;
    for (auto const& l : layers) {
        auto const k = key{static_cast<std::uint64_t>(step)}.child(l.size);
        auto& g = all.emplace_back(l.size);
        for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<float>(2 * k.uniform(i) - 1);
    }
    return all;
}
bool is_same(vectors const& a, vectors const& b) {  // to the bit: NaN is as good as any
    for (std::size_t l = 0; l < a.size(); ++l)
        if (std::memcmp(a[l].data(), b[l].data(), a[l].size() * sizeof(float)) != 0) return false;
    return true;
}
bool is_nan(vectors const& all) {
    for (auto const& x : all)
        for (float const v : x)
            if (!std::isnan(v)) return false;
    return true;
}

// A saved state, changed as the input decides, mostly with the right checksum.
bytes forged(bytes state, fuzz::input& in) {
    auto const how = in.take<std::uint8_t>();
    state.resize(state.size() - 4);
    for (int n = how % 8; n > 0; --n) state[in.take<std::uint16_t>() % state.size()] = in.take<std::byte>();
    if (how & 8) state.resize(in.take<std::uint16_t>() % state.size());
    if (how & 16) state.resize(state.size() + in.take<std::uint8_t>());
    auto const sum = (how & 32) ? in.take<std::uint32_t>() : wire::checksum(state);
    for (int i = 0; i < 4; ++i) state.push_back(static_cast<std::byte>(sum >> (8 * i) & 255));
    return state;
}
// This state as that of another rank among others.
bytes as_rank(bytes state, int me, int of, int rank, int ranks) {
    auto const text = [](int r, int n) { return "\nrank " + std::to_string(r) + " of " + std::to_string(n) + "\n"; };
    auto const old = text(me, of), now = text(rank, ranks);
    auto const at = std::search(state.begin(), state.end(), reinterpret_cast<std::byte const*>(old.data()),
                                reinterpret_cast<std::byte const*>(old.data() + old.size()));
    if (at == state.end()) fuzz::found("a saved state that does not name its rank");
    std::memcpy(&*at, now.data(), now.size());
    return state;
}

template <class How>
class play {
  public:
    play(How const& how, fuzz::input& in, int rank, int size, reducer_options const& options)
        : in_(in), comm_(in, rank, size), options_(options), reduce_(how, comm_, layers, options) {
        for (std::size_t l = 0; l < layers.size(); ++l) reduce_.bind(l, bound_[l]);
    }

    void run() {
        for (int k = 0; k < 6 && !in_.empty(); ++k) {
            auto const what = in_.take<std::uint8_t>() % 8;
            auto const before = reduce_.save();
            if (what < 6)
                step(k, what, before);
            else if (what == 6)
                restore(k, before);
            else
                rebind(before);
            honest_step(k);
        }
    }

  private:
    void step(int k, int what, bytes const& before) {
        comm_.be_honest(false);
        auto g = gradients(100 + k);
        if (what == 5) g[in_.take<std::uint8_t>() % g.size()][1] = std::nanf("");
        auto const given = g;
        auto const steps = reduce_.steps();
        bool threw = false;
        step_options const how{.weight = options_.steps_vary ? 0.5 : 1.0, .dense = options_.steps_vary && what == 4};
        int const left_out = what == 1 && has_order_ ? in_.take<std::uint8_t>() % 4 : -1;
        int const drops_at = what == 2 ? in_.take<std::uint8_t>() % 5 : -1;
        int const first = what == 3 && has_order_ ? in_.take<std::uint8_t>() % 4 : 3;
        for (int l = 3; l >= 0 && drops_at != 3 - l; --l) {
            int const one = l == 3 ? first : l == first ? 3 : l;
            try {
                if (one != left_out) reduce_.start(std::size_t(one), g[std::size_t(one)], how);
            } catch (argument_error const&) {  // all messages are sent, and the step goes on
                if (first == 3) fuzz::found("a layer in its place is refused");
            }
        }
        try {
            drops_at < 0 ? reduce_.finish() : reduce_.drop();
        } catch (error const&) {
            threw = true;
        }
        if (reduce_.steps() != steps) {
            if (threw || reduce_.steps() != steps + 1) fuzz::found("a step that failed counts");
            return;
        }
        if (reduce_.save() != before) fuzz::found("a step that failed has changed what is remembered");
        if (is_same(g, given)) return;
        if (left_out >= 0) g[std::size_t(left_out)].assign(g[std::size_t(left_out)].size(), std::nanf(""));
        if (threw || options_.non_finite != on_non_finite::propagate || !is_nan(g))
            fuzz::found("a step that failed has changed the caller's numbers");
    }
    void honest_step(int k) {
        comm_.be_honest(true);
        auto g = gradients(k);
        auto const steps = reduce_.steps();
        try {
            for (std::size_t l = 4; l-- > 0;) reduce_.start(l, g[l]);
            reduce_.finish();
        } catch (error const& e) {
            fuzz::found(std::string("an honest step fails: ") + e.what());
        }
        has_order_ = true;
        if (reduce_.steps() != steps + 1) fuzz::found("an honest step does not count");
    }
    void restore(int k, bytes const& good) {
        has_order_ = false;
        auto const kind = in_.take<std::uint8_t>();
        int const ranks = 1 + kind % 4;
        auto const restored = [&](auto const& saved) {
            if (kind & 8)
                static_cast<void>(resume(reduce_, saved));
            else
                reduce_.restore(saved);
        };
        try {
            if (kind & 4) {
                std::vector<bytes> all;
                for (int r = 0; r < ranks; ++r) {
                    all.push_back(forged(as_rank(good, comm_.rank(), comm_.size(), r, ranks), in_));
                }
                restored(all);
            } else {
                restored(forged(good, in_));
            }
            try {
                step(k, kind / 8 % 6, reduce_.save());
            } catch (error const&) {
                fuzz::found("a restored reducer cannot be saved");
            }
        } catch (error const&) {
            if (reduce_.save() != good) fuzz::found("a state that was refused has changed what is remembered");
        }
        comm_.be_honest(true);
        reduce_.restore(good);
        if (reduce_.save() != good) fuzz::found("restored, but not the same");
    }
    void rebind(bytes const& good) {
        comm_.be_honest(false);
        try {
            reduce_.rebind(comm_);
        } catch (error const&) {
        }
        comm_.be_honest(true);
        reduce_.rebind(comm_);
        reduce_.restore(good);
    }

    fuzz::input& in_;
    hostile comm_;
    reducer_options options_;
    vectors bound_ = gradients(0);
    reducer<How, hostile> reduce_;
    bool has_order_ = false;  // since the last restore: the honest one
};

}  // namespace

int fuzz_reducer(std::uint8_t const* data, std::size_t size) {
    fuzz::input in(data, size);
    auto const which = in.take<std::uint8_t>(), ranks = in.take<std::uint8_t>();
    auto const shape = in.take<std::uint16_t>();
    reducer_options const options{
        .seed = 3,
        .non_finite = shape & 1 ? on_non_finite::propagate : on_non_finite::raise,
        .missing_layer = static_cast<on_missing_layer>((shape >> 1) % 3),
        .dense_below = shape & 8 ? std::size_t{5} : 0,
        .in_full = shape & 16 ? std::vector<std::string>{"*.bias"} : std::vector<std::string>{},
        .dense_rounds = (shape >> 5) % std::uint64_t{3},
        .share_below = shape & 128   ? std::size_t{4096}
                       : shape & 256 ? 6
                                     : 0,
        .steps_vary = (shape & 512) != 0,
        .probe_every = (shape >> 10) % std::uint64_t{3},
        .verify_every = (shape >> 12) % std::uint64_t{3},
    };
    int const n = 2 + ranks % 3, me = ranks / 3 % n;
    auto const run = [&](auto const& how) { play(how, in, me, n, options).run(); };
    if (which % 5 == 0) run(error_feedback{top_k{2}});
    if (which % 5 == 1) run(error_feedback{scaled_down{natural{}}, 0.5});
    if (which % 5 == 2) run(shifted{rand_k{2}});
    if (which % 5 == 3) run(plain{quantize{4}});
    if (which % 5 == 4) run(majority_vote{});
    return 0;
}
