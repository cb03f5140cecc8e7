// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/backend/threaded/pool.hpp"
#include "laconic/core/error.hpp"

/// The host on several threads. Its kernels are the host's, each part of a long vector on a thread of its own.
namespace laconic::kernels {

/// The backend B, which is the host or derived from it, on several threads; all results are the same bits. The kernels
/// that passes.hpp and select.hpp name split vectors of 2^22 numbers and more, a part for each thread; all else runs on
/// the caller's thread. The other threads are made by the first call that needs them, sleep between calls, and end with
/// the object. Memory: that of B for each thread.
///
///     laconic::reducer reduce(how, comm, gradient, {}, laconic::threaded(2));
template <class B = host>
class threaded : public B {
  public:
    threaded() = default;
    /// The other arguments are B's. Throws argument_error for no thread.
    template <class... Of>
    explicit threaded(int threads, Of const&... of) : B(of...) {
        if (threads < 1) throw argument_error({"a backend has at least 1 thread, not ", threads});
        others_.reserve(static_cast<std::size_t>(threads - 1));
        for (int t = 1; t < threads; ++t) others_.emplace_back(of...);
        lists_.resize(others_.size() + 1);
    }

    std::size_t threads() const { return others_.size() + 1; }
    /// Whether vectors of d numbers are split.
    bool splits(std::size_t d) const { return !others_.empty() && d >= least_; }

    /// Calls f(t, own) for all t = 0 .. threads() - 1, each on its thread and with a B of its own.
    template <class F>
    void on_each(F const& f) {
        if (pool_ == nullptr) pool_ = std::make_unique<detail::thread_pool>(others_.size());
        pool_->run([&](std::size_t t) { f(t, t == 0 ? static_cast<B&>(*this) : others_[t - 1]); });
    }
    /// Memory for what threads leave to the caller's: scratch, and a list for each of them.
    host& between() { return between_; }
    std::vector<coordinate>& list(std::size_t t) { return lists_[t]; }

  protected:
    void split_from(std::size_t d) { least_ = d; }

  private:
    std::size_t least_ = std::size_t{1} << 22;
    std::vector<B> others_;
    host between_;
    std::vector<std::vector<coordinate>> lists_{1};
    std::unique_ptr<detail::thread_pool> pool_;
};
threaded(int)->threaded<host>;

}  // namespace laconic::kernels

namespace laconic::detail {

// Numbers of which only one thread writes the codes: they are whole lines of memory, and words of signs.
inline constexpr std::size_t least_unit = 64;

// Part `number` of a vector: its numbers first .. first + count - 1.
struct vector_part {
    std::size_t number, first, count;

    template <class E>
    std::span<E> of(std::span<E> x) const {
        return x.empty() ? x : x.subspan(first, count);
    }
    // Of what there is one for each `unit` numbers.
    template <class E>
    std::span<E> of(std::span<E> x, std::size_t unit) const {
        return x.subspan(first / unit, pieces_in(count, unit));
    }
};

// How long each part of d numbers but the last is, in whole units: so long that there is one for each thread at most.
template <class B>
std::size_t length_of_parts(kernels::threaded<B> const& on, std::size_t d, std::size_t unit) {
    return on.splits(d) ? pieces_in(pieces_in(d, unit), on.threads()) * unit : d;
}
// f(own, part) for each of them; on the caller's thread where there is one.
template <class B, class F>
void in_parts(kernels::threaded<B>& on, std::size_t d, std::size_t unit, F const& f) {
    std::size_t const length = length_of_parts(on, d, unit);
    if (length >= d) return f(static_cast<B&>(on), vector_part{0, 0, d});
    on.on_each([&](std::size_t t, B& own) {
        if (t * length < d) f(own, vector_part{t, t * length, std::min(length, d - t * length)});
    });
}
template <class B, class F>
bool all_parts(kernels::threaded<B>& on, std::size_t d, std::size_t unit, F const& f) {
    std::atomic<bool> all = true;
    in_parts(on, d, unit, [&](B& own, vector_part p) {
        if (!f(own, p)) all = false;
    });
    return all;
}
// The sum in the order of sum_order.hpp, where of_stretch(own, part) is that of one stretch.
template <class B, class F>
double sum_in_parts(kernels::threaded<B>& on, std::size_t d, F const& of_stretch) {
    if (length_of_parts(on, d, stretch) >= d) return of_stretch(static_cast<B&>(on), vector_part{0, 0, d});
    auto const sums = on.between().template scratch<double>(scratch_for::sums, pieces_in(d, stretch));
    in_parts(on, d, stretch, [&](B& own, vector_part p) {
        for (std::size_t end = p.first + p.count; p.first < end; ++p.number, p.first += stretch) {
            p.count = std::min(stretch, end - p.first);
            sums[p.first / stretch] = of_stretch(own, p);
        }
    });
    return sum_in_order(0, d, [&](std::size_t first, std::size_t) { return sums[first / stretch]; });
}

}  // namespace laconic::detail

namespace laconic::kernels {

using detail::in_parts;  // found by the backend's type

}  // namespace laconic::kernels

namespace laconic {

using kernels::threaded;

}  // namespace laconic
