// SPDX-License-Identifier: Apache-2.0
// The methods that were made for networks, each a composition of the library's parts.
#include "methods.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/collective/dense/halving_doubling.hpp"
#include "laconic/collective/dense/two_shot.hpp"
#include "laconic/collective/select/arc_top_k.hpp"
#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/collective/select/shared_factors.hpp"
#include "laconic/compress/bin_means.hpp"
#include "laconic/compress/block_float.hpp"
#include "laconic/compress/parts.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/short_float.hpp"
#include "laconic/compress/signs.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/compress/transforms.hpp"
#include "laconic/estimate/local_rounds.hpp"
#include "laconic/feedback/memory.hpp"
#include "laconic/feedback/stored_residual.hpp"
#include "laconic/method/ef21.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/optim/adam.hpp"
#include "laconic/optim/dion2.hpp"
#include "laconic/optim/layered_step.hpp"
#include "laconic/optim/step.hpp"
#include "laconic/transport/robust.hpp"

namespace deep {

using namespace laconic;

namespace {

/// Another step, made `rate` times as long at first and falling to 0 along half a cosine within so many rounds
/// (Loshchilov and Hutter, ICLR 2017, without restarts).
template <class S>
struct falling {
    S step;
    double rate;
    std::uint64_t rounds, taken = 0;

    void operator()(host& on, std::span<float> x, std::span<float> d) {
        double const passed = (static_cast<double>(taken) + 0.5) / static_cast<double>(rounds);
        multiply(on, static_cast<float>(rate * (1 + std::cos(std::numbers::pi * passed)) / 2), d);
        step(on, x, d);
        ++taken;
    }
    template <class Archive>
    void state(Archive& archive) {
        archive(step, taken);
    }
    friend std::string to_string(falling const& s) {
        return fmt::format("{} times {}, falling within {}", to_string(s.step), s.rate, s.rounds);
    }
};

template <class S>
falling<S> falling_from(plan const& p, double rate, S step) {
    return {std::move(step), rate, p.rounds};
}

/// Another step, whose move, not d, is made that much shorter: Adam divides d by its own size.
template <class S>
struct shortened {
    S step;
    falling<gradient_step> length;
    std::vector<float> move{};

    void operator()(host& on, std::span<float> x, std::span<float> d) {
        move.assign(x.begin(), x.end());
        step(on, x, d);
        for (std::size_t j = 0; j < x.size(); ++j) {
            float const from = move[j];
            move[j] = from - x[j], x[j] = from;
        }
        length(on, x, move);
    }
    template <class Archive>
    void state(Archive& archive) {
        archive(step, length);
    }
    friend std::string to_string(shortened const& s) { return to_string(s.step) + ", " + to_string(s.length); }
};

/// A step along the signs of d. The sign of 0 is 0.
template <class S>
struct of_signs {
    S step;

    void operator()(host& on, std::span<float> x, std::span<float> d) {
        for (float& v : d) v = static_cast<float>((v > 0) - (v < 0));
        step(on, x, d);
    }
    template <class Archive>
    void state(Archive& archive) {
        archive(step);
    }
    friend std::string to_string(of_signs const& s) { return to_string(s.step) + ", of signs"; }
};

/// The collective X for each of the parts that a vector consists of, one after another.
template <class X>
struct by_parts {
    struct part {
        std::size_t length;
        X over;
    };
    std::vector<part> parts;

    template <Scalar T, OnHost B>
    class adder {
      public:
        adder(by_parts const& how, std::size_t d, position_code positions) : left_(d) {
            for (auto const& p : how.parts) {
                p.over.check(p.length);
                sums_.push_back({p.length, {p.over, p.length, positions}});
            }
        }
        void operator()(B& on, PointToPoint auto& comm, std::span<T> x, sum_round const& round = {}) {
            std::size_t at = 0;
            for (auto& [length, sum] : sums_) {
                sum(on, comm, x.subspan(at, length), round);
                auto const left = std::span(left_).subspan(at, length);
                sum.leftover().empty() ? fill(on, left, T(0)) : copy(on, sum.leftover(), left);
                at += length;
            }
        }
        std::span<T const> leftover() const { return left_; }
        void commit() {
            for (auto& s : sums_)
                if constexpr (requires { s.second.commit(); }) s.second.commit();
        }
        void state(auto& archive) {
            for (auto& s : sums_)
                if constexpr (requires { s.second.state(archive); }) s.second.state(archive);
        }

      private:
        std::vector<std::pair<std::size_t, typename X::template adder<T, B>>> sums_;
        typename B::template array<T> left_;
    };
    friend std::string to_string(by_parts const& x) {
        std::string text = "by_parts(";
        for (auto const& p : x.parts) text += fmt::format("{}: {}, ", p.length, to_string(p.over));
        return text + ")";
    }
};

/// The collective X, but a dense sum in the first rounds.
template <class X>
struct dense_first {
    std::uint64_t rounds;
    X over;

    template <Scalar T, OnHost B>
    class adder {
      public:
        adder(dense_first const& how, std::size_t d, position_code positions)
            : rounds_(how.rounds),
              dense_(halving_doubling{}, d, positions),
              sum_(how.over, d, positions),
              nothing_(d) {}
        void operator()(B& on, PointToPoint auto& comm, std::span<T> x, sum_round const& round = {}) {
            is_dense_ = round.number < rounds_;
            is_dense_ ? dense_(on, comm, x, round) : sum_(on, comm, x, round);
        }
        std::span<T const> leftover() const { return is_dense_ ? std::span<T const>(nothing_) : sum_.leftover(); }

      private:
        std::uint64_t rounds_;
        typename halving_doubling::template adder<T, B> dense_;
        typename X::template adder<T, B> sum_;
        typename B::template array<T> nothing_;
        bool is_dense_ = false;
    };
    friend std::string to_string(dense_first const& x) {
        return fmt::format("dense_first({}, {})", x.rounds, to_string(x.over));
    }
};

/// Mini-batches, whose gradients are compressed; the mean of the messages goes into a momentum of 0.9.
template <class C, class X = gather_all>
method with_momentum(plan const& p, double rate, C compressor, memory<float> feedback, X over = {}) {
    return erased<float, host>(recursion<C, memory<float>, falling<momentum<float>>, fixed_level, mini_batch, X>{
        std::move(compressor),
        std::move(feedback),
        falling_from(p, rate, momentum<float>(1, 0.9)),
        {},
        p.batch,
        std::move(over)});
}

/// Each worker's own momentum, with error feedback around it (Zheng, Huang, Kwok, NeurIPS 2019).
template <class C>
method with_momentum_inside(plan const& p, double rate, C compressor, bool nesterov) {
    return erased<float, host>(
        recursion<C, memory<float>, falling<gradient_step>>{std::move(compressor),
                                                            memory<float>(0, 1, 0.9, false, nesterov),
                                                            falling_from(p, rate, gradient_step{1}),
                                                            {},
                                                            p.batch});
}

/// LoCo: a residual in 8 bits a number, which is averaged; the mean of the messages goes into a momentum of 0.9.
template <class C>
method with_stored_residual(plan const& p, double rate, C compressor) {
    return erased<float, host>(recursion<C, stored_residual<block_float, float>, falling<momentum<float>>>{
        std::move(compressor),
        stored_residual<block_float, float>(block_float{block_format::int8, 512}),
        falling_from(p, rate, momentum<float>(1, 0.9)),
        {},
        p.batch});
}

/// No momentum: the workers' sums are cut to k numbers as well, on their way up a tree and down again. Most of what a
/// worker brings waits for many rounds, which does the averaging that momentum would do twice.
method tree_of_top_k(plan const& p, double rate, double k) {
    return erased<float, host>(recursion<top_k<>, memory<float>, falling<gradient_step>>{
        top_k{k}, memory<float>{0, 1}, falling_from(p, rate, gradient_step{1}), {}, p.batch}
                                   .with_over(gtop_k{k}));
}

/// DeMo's residual is its momentum: what has been sent leaves it. The step is along signs. Other than in the paper,
/// they are those of the mean of the messages.
template <class C>
method decoupled_momentum(plan const& p, double rate, C compressor) {
    using step = of_signs<falling<gradient_step>>;
    return erased<float, host>(recursion<C, memory<float>, step>{
        std::move(compressor), memory<float>(0, 0.999), step{falling_from(p, rate, gradient_step{1})}, {}, p.batch});
}

/// DisTrO sends the signs of such cosines, which take all of them off the momentum.
template <class C>
method signs_of_momentum(plan const& p, double rate, C compressor) {
    using step = of_signs<falling<gradient_step>>;
    return erased<float, host>(recursion<C, memory<float>, step>{
        std::move(compressor), memory<float>(0, 0, 0.999), step{falling_from(p, rate, gradient_step{1})}, {}, p.batch});
}

/// 1-bit Adam: a fifth of the rounds is Adam without bias correction; from then on its mean square stays as it is, and
/// the workers send signs of the running mean that they share, with error feedback, and sum them in two shots. Signs
/// move weights, too, that have no gradient and no mean square: epsilon is larger than Adam's.
method one_bit_sums(plan const& p, double rate) {
    using step = shortened<adam<float>>;
    using over = dense_first<two_shot<scaled_sign>>;
    std::uint64_t const dense = std::max<std::uint64_t>(1, p.rounds / 5);
    return erased<float, host>(recursion<identity, memory<float>, step, fixed_level, mini_batch, over>{
        {},
        memory<float>(0, 1, 0.9, false, false, false, true),
        step{adam<float>({.rate = 1, .epsilon = 1e-5, .bias_correction = false, .freeze_after = dense}),
             falling_from(p, rate, gradient_step{1})},
        {},
        p.batch,
        over{dense, two_shot{scaled_sign{}}}});
}

/// Dion2 for the matrices and a momentum of 0.9 for the biases, which fall alike, after a dense sum.
method orthogonal_rows(plan const& p, double rate, network const& f) {
    using step = layered_step<dion2<float>, momentum<float>>;
    std::vector<step::layer> layers;
    for (auto const m : f.matrices()) {
        layers.push_back({m.size(), dion2<float>({.rows = m.rows, .rate = 1})});
        layers.push_back({m.rows, momentum<float>(1, 0.9)});
    }
    auto r = with_momentum(p, rate, identity{}, memory<float>{0, 0}, halving_doubling{});
    r.step = shortened<step>{step(std::move(layers)), falling_from(p, rate, gradient_step{1})};
    return r;
}

/// Deep Gradient Compression has its momentum on the workers, and a warm-up; the paper's takes four epochs.
method deep_gradient_compression(plan const& p, double rate) {
    dgc const named{.k = 0.001,
                    .momentum = 0.9,
                    .warm_up = std::min(4 * p.rounds_per_epoch, p.rounds / 5),
                    .given = {.step = 1.0, .batch = p.batch}};
    return erased<float, host>(
        named.compose<float, host>(problem{.workers = p.workers}).with_step(falling_from(p, rate, gradient_step{1})));
}

/// EF21-SGDM sends the changes of each worker's running mean of gradients.
method running_means(plan const& p, double rate, double k) {
    ef21_sgdm const named{top_k{k}, 0.1, {.step = 1.0, .batch = p.batch}};
    return erased<float, host>(
        named.compose<float, host>(problem{.workers = p.workers}).with_step(falling_from(p, rate, gradient_step{1})));
}

/// Local rounds: so many steps of each worker with a momentum of 0.9, whose size falls within all of them, and then an
/// outer step along the mean of the workers' moves.
template <class C, class S, class X>
method after_local_steps(plan const& p, double rate, std::uint64_t local, C compressor, double decay, S outer, X over) {
    using inner = falling<momentum<float>>;
    return erased<float, host>(recursion<C, memory<float>, S, fixed_level, local_rounds<inner, float>, X>{
        std::move(compressor),
        memory<float>(0, decay),
        std::move(outer),
        {},
        local_rounds<inner, float>({.steps = local, .batch = p.batch}, falling_from(p, rate, momentum<float>(1, 0.9))),
        std::move(over)});
}

}  // namespace

std::vector<named_method> compositions(plan const& p, network const& f, std::optional<double> given) {
    memory<float> const nothing{0, 0}, errors{0, 1};
    auto const first = f.matrices()[0], second = f.matrices()[1];
    std::size_t const hidden = first.rows, classes = second.rows;
    // The four parts of the vector, of which the biases are no matrices.
    auto const sums_of = [&](auto const& of_matrix) {
        using X = std::decay_t<decltype(of_matrix(hidden))>;
        return by_parts<X>{
            {{first.size(), of_matrix(hidden)}, {hidden, X{}}, {second.size(), of_matrix(classes)}, {classes, X{}}}};
    };
    // A scale for each unit's weights: where one for a whole layer is, most of what is sent of it is error.
    parts<scaled_sign> const units{
        {first.size(), {first.columns}}, {hidden, {}}, {second.size(), {second.columns}}, {classes, {}}};

    // The largest cosines of the matrices, and the biases in full; or the signs of both.
    auto const frequencies = [&](auto const& number) {
        auto const largest = [&](std::size_t rows) { return dct<>{64, rows} | top_k{32, 4096} | number; };
        return parts<any_compressor<float>>{
            {first.size(), largest(hidden)}, {hidden, number}, {second.size(), largest(classes)}, {classes, number}};
    };

    std::vector<named_method> all;
    auto const add = [&](std::string name, double own, auto const& compose) {
        double const rate = given.value_or(own);
        all.push_back({std::move(name), rate, compose(rate)});
    };
    auto const add_sum = [&](std::string name, memory<float> const& feedback, auto const& over) {
        add(std::move(name), 0.05, [&](double rate) { return with_momentum(p, rate, identity{}, feedback, over); });
    };
    add_sum("dense", nothing, halving_doubling{});
    add_sum("dense bf16", nothing, two_shot{});
    add("top-k 1 %", 0.05, [&](double rate) { return with_momentum_inside(p, rate, top_k{0.01}, false); });
    add("gtop-k 1 %", 0.5, [&](double rate) { return tree_of_top_k(p, rate, 0.01); });
    add("dgc 0.1 %", 0.1, [&](double rate) { return deep_gradient_compression(p, rate); });
    add("ef-sign", 0.05, [&](double rate) { return with_momentum_inside(p, rate, units, true); });
    add("qsgd 4 bit", 0.05, [&](double rate) { return with_momentum(p, rate, quantize{7, 512}, nothing); });
    add("loco int4", 0.05, [&](double rate) {
        return with_stored_residual(p, rate, block_float{block_format::int4, 512});
    });
    add_sum("mxfp4", errors, two_shot{block_float{}});
    add_sum("powersgd 2", errors, sums_of([](std::size_t rows) { return shared_factors{.rows = rows, .rank = 2}; }));
    add_sum("arc 8 %", errors, sums_of([](std::size_t rows) { return arc_top_k{.rows = rows}; }));
    add("ef21-sgdm 1 %", 0.2, [&](double rate) { return running_means(p, rate, 0.01); });
    add("demo", 3e-3, [&](double rate) { return decoupled_momentum(p, rate, frequencies(identity{})); });
    add("distro", 3e-3, [&](double rate) { return signs_of_momentum(p, rate, frequencies(vote{})); });
    add("1-bit adam", 3e-3, [&](double rate) { return one_bit_sums(p, rate); });
    add("dion2", 0.2, [&](double rate) { return orthogonal_rows(p, rate, f); });
    auto const add_local = [&](std::string name, std::uint64_t local, auto const& compressor, double decay,
                               auto const& outer, auto const& over) {
        add(std::move(name), 0.05,
            [&](double rate) { return after_local_steps(p, rate, local, compressor, decay, outer, over); });
        all.back().local = local;
    };
    momentum<float> const nesterov({.rate = 0.7, .beta = 0.9, .nesterov = true});
    add_local("local 30", 30, identity{}, 0, gradient_step{1}, halving_doubling{});
    add_local("diloco 30", 30, identity{}, 0, nesterov, halving_doubling{});
    add_local("diloco 100", 100, identity{}, 0, nesterov, halving_doubling{});
    add_local("sparseloco 30", 30, top_k{64, 4096, bin_means{2}}, 0.95, gradient_step{1}, gather_all{});
    add_local("senders 30", 30, top_k{64, 4096, bin_means{2}}, 0.95, gradient_step{1},
              robust{robust_rules::mean_over_senders{}, true});
    return all;
}

}  // namespace deep
