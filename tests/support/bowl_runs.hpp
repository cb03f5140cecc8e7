// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "laconic/comm/fibers.hpp"
#include "laconic/descent.hpp"
#include "support/bowls.hpp"

/// Methods on the bowls, all ranks from 1 on, and what they come to.
namespace bowls {

using vec = std::vector<double>;

struct bowl {
    int rank;

    std::size_t dimension() const { return d; }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (std::size_t j = 0; j < x.size(); ++j) {
            double const off = x[j] - b(rank, j);
            sum += a(rank, j) * off * off / 2;
        }
        return sum;
    }
    void gradient(std::span<double const> x, std::span<double> g) const { bowls::gradient(rank, x, g); }
};

struct known {
    std::size_t round;
    answer x;
};
inline laconic::problem const constants{d, ranks};
template <class M>
auto composed(M const& method) {
    return method.template compose<double, laconic::host>(constants);
}
// rand_k whose q-th `repeats` calls, on each rank, keep coordinates q k + rank + t, t < k, modulo d.
struct cyclic {
    std::size_t k = 1;
    int rank = 0;
    mutable std::size_t calls = 0;
    std::size_t repeats = 1;  // 2 for ADIANA, both of whose messages in a step keep the same ones

    template <laconic::Scalar T, class B>
    using message = laconic::messages::full_vector<T, B>;
    void check(std::size_t) const {}
    void blank(auto&, std::size_t n, laconic::key, auto& m) const { laconic::messages::begin_message(m, n); }
    void operator()(auto& on, auto x, laconic::key, auto& m) const {
        vec here(x.size()), kept(x.size());
        copy_to_host(on, x, std::span<double>(here));
        for (std::size_t t = 0; t < k; ++t) {
            auto const j = (calls / repeats * k + static_cast<std::size_t>(rank) + t) % x.size();
            kept[j] = here[j] * static_cast<double>(x.size()) / static_cast<double>(k);
        }
        ++calls;
        m.values.resize(x.size());
        copy_from_host(on, std::span<double const>(kept), std::span<double>(m.values));
    }
    double omega(std::size_t n) const { return static_cast<double>(n) / static_cast<double>(k) - 1; }
    bool operator==(cyclic const&) const = default;
    friend std::string to_string(cyclic const& c) { return "cyclic(" + std::to_string(c.k) + ")"; }
};

// x after so many rounds of all ranks, from 1 on.
template <class R>
std::vector<vec> course(R const& r, std::size_t rounds, std::uint64_t seed = 1) {
    std::vector<vec> all;
    laconic::fibers::run(ranks, [&](laconic::fibers::member& comm) {
        vec x(d, 1);
        bowl const f{comm.rank()};
        laconic::descent run(r, f, comm, std::span<double>(x), seed);
        if (comm.rank() == 0) all = {x};
        for (std::size_t k = 0; k < rounds; ++k) {
            run.round();
            if (comm.rank() == 0) all.push_back(x);
        }
    });
    return all;
}
// The draws of a round in which so many local steps are made.
inline auto of_steps(std::uint64_t steps, double p, int n) {
    using laconic::round_context, laconic::key;
    std::uint64_t round = 0;
    while (laconic::detail::drawn_steps(round_context::of(key{1}, round, 0, n), p) != steps) ++round;
    return [=](int rank) { return round_context::of(key{1}, round, rank, n); };
}
// One round of the recursions r on B, each that of a rank, with their functions f, iterates x and the draws now(rank):
// as descent runs them, where a test chooses the draws.
template <class B = laconic::host, class R, class F, class X>
void round_by_hand(std::vector<R>& r, std::vector<F> const& f, std::vector<X>& x, auto const& now) {
    B on;
    std::vector<X> delta(r.size(), X(x[0].size()));
    std::vector<laconic::detail::message_of<decltype(R::compressor), double, B>> m(r.size());
    X mean(x[0].size());
    for (std::size_t i = 0; i < r.size(); ++i) {
        std::span<double> const mine(delta[i]);
        r[i].estimator(on, f[i], now(int(i)), std::span<double const>(x[i]), mine);
        laconic::detail::make_delta(r[i].feedback, on, now(int(i)), r[i].scale, mine);
        r[i].compressor(on, std::span<double const>(mine), now(int(i)).own, m[i]);
        add_message(on, std::span<double>(mean), 1 / static_cast<double>(r.size()), m[i]);
    }
    for (std::size_t i = 0; i < r.size(); ++i) {
        X estimate = mean;
        std::span<double> const along(estimate), its(x[i]);
        r[i].feedback.update(on, std::span<double const>(delta[i]), m[i]);
        r[i].feedback.reconstruct(on, now(int(i)), along);
        laconic::detail::before_step(r[i].estimator, on, its, m[i]);
        r[i].step(on, its, along);
        r[i].estimator.update(on, std::span<double const>(its));
    }
}

}  // namespace bowls
