// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "laconic/backend/array.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/text.hpp"
#include "laconic/feedback/feedback.hpp"

namespace laconic {

/// What one rank remembers of what it said and left unsaid, and of what everybody said. The two switches:
///   rate > 0      difference compression: h <- h + rate m, and only g - h is news (DIANA, EF21, GD-SEC);
///   keep_unsaid   error correction: what a message leaves out is said later (EF-SGD, GD-SEC).
/// Both off remembers nothing. Every vector starts at zero and has the gradient's dimension.
///
/// What the equation must move: each of g, h and e is read once to make the news, which are written once, in g's place;
/// after() leaves them there, as e, and touches what m names. So with error correction news, level, compress and spell
/// read 2 vectors and write 1, and read one more where the compressor must see all news before it chooses, as top_k:
/// 16 bytes a coordinate in float, and what the message has. bench/kernel has the case say/... .
template <Scalar T = double, class B = host>
class memory {
  public:
    memory(double rate = 0, bool keep_unsaid = false) : rate_(rate), keep_unsaid_(keep_unsaid) {}  // NOLINT: a number

    void start(std::size_t dimension) {
        if (rate_ != 0) known_.resize(dimension);
        if (keep_unsaid_) unsaid_.resize(dimension);
    }

    /// g <- g - h + e: the gradient becomes what is worth saying. One pass.
    void before(B& on, occasion const& now, std::span<T> g) const { this->news(on, now, T(1), g); }
    /// g <- scale g - h + e; true where all of it is finite. One pass.
    bool news(B& on, occasion const&, T scale, std::span<T> g) const {
        if (scale == 1 && known_.empty() && unsaid_.empty())
            return first_non_finite(on, std::span<T const>(g)) == g.size();
        return subtract_known_add_unsaid(on, scale, g, std::span<T const>(known_), std::span<T const>(unsaid_));
    }

    /// e <- news - m, h <- h + rate m, once m has reached the others.
    template <class M>
    void after(B& on, std::span<T const> news, M const& m) {
        if (keep_unsaid_) assign(on, news, unsaid_);
        take_off(on, m);
    }
    /// The same, but the news become e where they are, and what e was is left there: the terms of m are all that is
    /// touched.
    template <class M>
    void after(B& on, typename B::template array<T>&& news, M const& m) {
        if (keep_unsaid_) unsaid_.swap(news);
        take_off(on, m);
    }

    /// mean <- mean h + mean, mean h <- mean h + rate mean: the mean of what was said becomes an estimate of the
    /// gradient. One pass.
    void estimate(B& on, occasion const&, std::span<T> mean) {
        if (rate_ == 0) return;
        mean_known_.resize(mean.size());
        complete_and_remember(on, mean, static_cast<T>(rate_), std::span<T>(mean_known_));
    }

    /// mean <- mean h + mean alone.
    void preview(B& on, occasion const&, std::span<T> mean) const {
        if (!mean_known_.empty()) add_scaled(on, T(1), std::span<T const>(mean_known_), mean);
    }

    /// With a rate h_i would hold what nobody applied, and the mean of the h_i would not be what the ranks keep as
    /// such.
    bool keeps_returned() const { return rate_ == 0 && keep_unsaid_; }
    /// e <- e + m.
    template <class M>
    void keep(B& on, M const& m) {
        LACONIC_EXPECTS(keeps_returned());
        add_message(on, std::span<T>(unsaid_), T(1), m);
    }

    double rate() const { return rate_; }
    bool keeps_unsaid() const { return keep_unsaid_; }
    /// h_i: what the others know of this rank's gradient; empty where the rate is 0.
    std::span<T const> known() const { return known_; }
    /// mean h_i, as every rank that hears all messages keeps it; empty before the first.
    std::span<T const> mean_known() const { return mean_known_; }
    /// e_i: what this rank has not said yet; empty where errors are not kept.
    std::span<T const> unsaid() const { return unsaid_; }

    template <class Archive>
    void state(Archive& archive) {
        archive(known_);
        archive.vectors(mean_known_);
        archive(unsaid_);
    }
    friend std::string to_string(memory const& m) {
        return "memory(rate=" + shortest(m.rate_) + (m.keep_unsaid_ ? ", errors kept)" : ")");
    }

  private:
    template <class M>
    void take_off(B& on, M const& m) {
        if (keep_unsaid_) add_message(on, std::span<T>(unsaid_), T(-1), m);
        if (rate_ != 0) add_message(on, std::span<T>(known_), static_cast<T>(rate_), m);
    }

    double rate_;
    bool keep_unsaid_;
    typename B::template array<T> known_, mean_known_, unsaid_;
};

static_assert(Feedback<memory<>> && Feedback<memory<float>, float>);

}  // namespace laconic
