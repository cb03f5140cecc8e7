// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "laconic/any/compressor.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/core/key.hpp"
#include "laconic/estimate/estimator.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/optim/step.hpp"
#include "laconic/run.hpp"
#include "support/solvers.hpp"

// Problems whose answers are known, and two ways to run a method on them: history(), with threads and the real loop,
// and lockstep, the same rounds of all ranks in one thread, for averages over many runs.
namespace toys {

using vec = std::vector<double>;

inline Eigen::Map<Eigen::VectorXd const> eigen(std::span<double const> x) {
    return {x.data(), static_cast<Eigen::Index>(x.size())};
}
inline double square(double x) { return x * x; }
inline double dot(std::span<double const> a, std::span<double const> b) { return eigen(a).dot(eigen(b)); }
inline double norm2(std::span<double const> a) { return dot(a, a); }
inline double distance2(std::span<double const> a, std::span<double const> b) {
    return (eigen(a) - eigen(b)).squaredNorm();
}
inline vec mean_of(std::vector<vec> const& all) {
    vec m(all.at(0).size());
    for (auto const& v : all)
        for (std::size_t j = 0; j < m.size(); ++j) m[j] += v[j] / static_cast<double>(all.size());
    return m;
}

/// The gradient of each worker's objective at x, and of each of its rows.
template <class F>
std::vector<vec> gradients(std::vector<F> const& f, std::span<double const> x) {
    std::vector<vec> all(f.size(), vec(x.size()));
    for (std::size_t i = 0; i < f.size(); ++i) f[i].gradient(x, all[i]);
    return all;
}
template <class F>
std::vector<std::vector<vec>> row_gradients(std::vector<F> const& f, std::span<double const> x) {
    std::vector<std::vector<vec>> all;
    for (auto const& each : f) {
        all.emplace_back(each.samples(), vec(x.size()));
        for (std::uint32_t j = 0; j < each.samples(); ++j) each.batch_gradient(std::span(&j, 1), x, all.back()[j]);
    }
    return all;
}
/// Of each worker one gradient, as all that it may have.
std::vector<std::vector<vec>> certain(std::vector<vec> const& gradients);
/// The mean over the workers of the variance of what each may have with equal probability: sigma^2 of row_gradients.
double variance_of_choices(std::vector<std::vector<vec>> const& choices);
/// f(x), the mean over the workers.
template <class F>
double mean_value(std::vector<F> const& f, std::span<double const> x) {
    double sum = 0;
    for (auto const& each : f) sum += each.value(x) / static_cast<double>(f.size());
    return sum;
}

/// f(x) = x'Hx / 2 - b'x + c.
template <class T = double>
struct quadratic {
    using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    matrix h;
    vector b;
    T c = 0;

    std::size_t dimension() const { return static_cast<std::size_t>(b.size()); }
    T value(std::span<T const> x) const {
        Eigen::Map<vector const> const v(x.data(), b.size());
        return v.dot(h * v) / 2 - b.dot(v) + c;
    }
    // Each product is rounded before it is added: some examples turn on ties, which a compiler that fuses would break.
    void gradient(std::span<T const> x, std::span<T> g) const {
        for (Eigen::Index i = 0; i < b.size(); ++i) {
            T sum = 0;
            for (Eigen::Index j = 0; j < b.size(); ++j) {
                T const volatile product = h(i, j) * x[static_cast<std::size_t>(j)];
                sum += product;
            }
            g[static_cast<std::size_t>(i)] = sum - b[i];
        }
    }
    double smoothness() const { return eigenvalue(b.size() - 1); }
    double strong_convexity() const { return eigenvalue(0); }

  private:
    double eigenvalue(Eigen::Index i) const { return solvers::eigenvalue(h.template cast<double>(), i); }
};
using workers = std::vector<quadratic<>>;

/// |x - b|^2 / 2 for each b.
workers around(std::vector<vec> const& all);

/// Ridge regressions of 8 random rows each, with features of rising size: badly conditioned, and no two alike.
workers random_ridges(int n, Eigen::Index d, double lambda, std::uint64_t seed);

quadratic<> mean_of(workers const& f);

/// The constants of the problem, from the eigenvalues of f and of every f_i.
laconic::problem constants(workers const& f);

/// x*, the value there, and every worker's gradient there.
struct known_optimum {
    vec x;
    double value = 0;
    std::vector<vec> gradients;

    explicit known_optimum(workers const& f);
    known_optimum(vec at, double least, std::vector<vec> there)
        : x(std::move(at)), value(least), gradients(std::move(there)) {}
    /// mean |grad f_i(x*)|^2.
    double disagreement() const {
        double sum = 0;
        for (auto const& g : gradients) sum += norm2(g);
        return sum / static_cast<double>(gradients.size());
    }
};

/// What all ranks hold after some rounds, rank by rank.
template <class T = double>
struct snapshot {
    std::vector<std::vector<T>> x, known, residual, mean_shift;
    std::vector<std::vector<std::byte>> bytes;  // the messages that led here
};

template <class T>
std::vector<T> copied(std::span<T const> x) {
    return {x.begin(), x.end()};
}

/// Runs the real loop on threads; element k is the state after k rounds.
template <class R, class F, class T>
std::vector<snapshot<T>> history(R const& method, std::vector<F> const& f, std::vector<T> const& start,
                                 std::size_t rounds, std::uint64_t seed = 1, laconic::threads::settings how = {}) {
    using namespace laconic;
    auto const n = f.size();
    snapshot<T> const empty{std::vector<std::vector<T>>(n), std::vector<std::vector<T>>(n),
                            std::vector<std::vector<T>>(n), std::vector<std::vector<T>>(n),
                            std::vector<std::vector<std::byte>>(n)};
    std::vector<snapshot<T>> all(rounds + 1, empty);
    threads::run(
        static_cast<int>(n),
        [&](threads::member& comm) {
            auto const i = static_cast<std::size_t>(comm.rank());
            auto x = start;
            descent<R, F, threads::member, T> run(method, f[i], comm, std::span<T>(x), seed);
            for (std::size_t k = 0;; ++k) {
                all[k].x[i] = x;
                if constexpr (requires { run.method().feedback.shift(); }) {
                    all[k].known[i] = copied(run.method().feedback.shift());
                    all[k].residual[i] = copied(run.method().feedback.residual());
                    all[k].mean_shift[i] = copied(run.method().feedback.mean_shift());
                }
                if (k == rounds) break;
                run.round();
                auto const sent = comm.from(comm.rank()).bytes;
                all[k + 1].bytes[i].assign(sent.begin(), sent.end());
            }
        },
        how);
    return all;
}

/// What all ranks have handed over, and one rank's place among them: a communicator whose collectives wait for nobody,
/// so that one thread can play all ranks, first each one's send(), then, rank 0 first, each one's receive().
struct table {
    std::vector<laconic::payload> sent;       ///< rank by rank, in an all-gather
    std::vector<laconic::payload> from_root;  ///< one at most, of the last broadcast
    bool starting = true;                     ///< every rank receives its own payload from all, and so agrees
};
struct replayed_rank {
    table* all = nullptr;
    int me = 0;
    bool broadcasts = false;                    ///< the last collective was a broadcast
    laconic::threads::member* pairs = nullptr;  ///< what it communicates through while it receives in threads

    int rank() const { return me; }
    int size() const { return static_cast<int>(all->sent.size()); }
    void all_gather(laconic::payload mine) {
        all->sent[static_cast<std::size_t>(me)] = mine;
        broadcasts = false;
    }
    void gather(int, laconic::payload mine) { all_gather(mine); }
    void broadcast(int root, laconic::payload mine) {
        if (pairs) return pairs->broadcast(root, mine);
        if (me == root) all->from_root.assign(1, mine);
        broadcasts = true;
    }
    laconic::payload from(int r) const {
        if (pairs) return pairs->from(r);
        if (broadcasts) return all->from_root.at(0);
        return all->sent[static_cast<std::size_t>(all->starting ? me : r)];
    }
    laconic::payload exchange(int to, laconic::payload mine, int from) { return pairs->exchange(to, mine, from); }
};

template <class R>
concept HasMemory = requires(R const& r) {
    r.feedback.shift();
};

/// All ranks of a run in one thread; only where a collective adds up their messages, they receive in threads. (What is
/// long to compile stands outside: see the types that are compiled once.)
template <class R, class F = quadratic<>>
class lockstep {
  public:
    lockstep(R const& method, std::vector<F> const& f, vec const& start, std::uint64_t seed)
        : lockstep(std::vector<R>(f.size(), method), f, start, seed) {}
    /// Of ranks whose recursions differ in what they need not agree on.
    lockstep(std::vector<R> const& methods, std::vector<F> const& f, vec const& start, std::uint64_t seed);

    void round();
    /// receive(i) for every rank i, which calls rank(i).receive().
    template <class Receive>
    void receive_all(Receive receive) {
        if (!has_collective()) {
            for (std::size_t i = 0; i < ranks_.size(); ++i) receive(i);
            return;
        }
        laconic::threads::run(static_cast<int>(ranks_.size()), [&](laconic::threads::member& comm) {
            auto const i = static_cast<std::size_t>(comm.rank());
            seats_[i].pairs = &comm;
            receive(i);
        });
    }
    bool has_collective() const { return transport(0).uses_collective(); }
    void rounds(std::size_t n) {
        for (std::size_t k = 0; k < n; ++k) round();
    }

    vec const& x() const { return x_[0]; }
    auto const& method(std::size_t i) const { return ranks_[i]->method(); }
    auto const& transport(std::size_t i) const { return ranks_[i]->transport(); }
    // Behind a face they are not to be seen: part_of() of support/tasks.hpp reads them from its state. Templates, as
    // clang++ 14 makes all members of a class that is instantiated explicitly, whatever these require.
    template <HasMemory = R>
    std::span<double const> known(std::size_t i) const {
        return method(i).feedback.shift();
    }
    template <HasMemory = R>
    std::span<double const> mean_shift() const {
        return method(0).feedback.mean_shift();
    }
    template <HasMemory = R>
    std::span<double const> residual(std::size_t i) const {
        return method(i).feedback.residual();
    }
    auto const& message_of_rank(std::size_t i) const { return ranks_[i]->message(); }
    auto& rank(std::size_t i) { return *ranks_[i]; }
    /// How many bytes rank i sent in the last round.
    std::size_t bytes_of_rank(std::size_t i) const { return all_->sent[i].bytes.size(); }

  private:
    using loop = laconic::descent<R, F, replayed_rank, double>;
    std::unique_ptr<table> all_;
    std::vector<vec> x_;
    std::vector<replayed_rank> seats_;
    std::vector<std::unique_ptr<loop>> ranks_;
};

template <class R, class F>
lockstep<R, F>::lockstep(std::vector<R> const& methods, std::vector<F> const& f, vec const& start, std::uint64_t seed)
    : all_(std::make_unique<table>()), x_(f.size(), start), seats_(f.size()) {
    all_->sent.resize(f.size());
    for (std::size_t i = 0; i < f.size(); ++i) seats_[i] = {all_.get(), static_cast<int>(i)};
    for (std::size_t i = 0; i < f.size(); ++i)
        ranks_.push_back(std::make_unique<loop>(methods[i], f[i], seats_[i], std::span<double>(x_[i]), seed));
    all_->starting = false;
}

template <class R, class F>
void lockstep<R, F>::round() {
    for (auto& r : ranks_) r->send();
    receive_all([&](std::size_t i) { ranks_[i]->receive(); });
}

/// What most methods are composed to.
template <class S = laconic::gradient_step>
using common_recursion = laconic::recursion<laconic::any_compressor<>, laconic::memory<>, S>;

// Compiled once, in toys.cpp. (support/tasks.hpp has every method as one type.)
extern template class lockstep<common_recursion<>>;
extern template std::vector<snapshot<double>> history(common_recursion<> const&, workers const&, vec const&,
                                                      std::size_t, std::uint64_t, laconic::threads::settings);

/// The recursion of a method for a problem, its compressor behind any_compressor where no level tunes it: so that most
/// methods share what is compiled, and send the same bytes.
template <class M>
auto composed(M const& method, laconic::problem const& p) {
    auto r = method.template compose<double, laconic::host>(p);
    if constexpr (std::same_as<decltype(r.level), laconic::fixed_level> &&
                  std::same_as<decltype(r.estimator), laconic::mini_batch> &&
                  std::same_as<decltype(r.over), laconic::gather_all>)
        return common_recursion<decltype(r.step)>{r.compressor, r.feedback, r.step, {}, r.estimator, {}, r.scale};
    else
        return r;
}
template <class M>
auto composed(M const& method, workers const& f) {
    return composed(method, constants(f));
}

/// Keys under which c draws every set of coordinates of a vector of d numbers once.
std::vector<laconic::key> keys_of_all_supports(laconic::rand_k<> const& c, std::size_t d);

/// Exact expectations after one round x <- x - step mean (h_i + m_i), h_i <- h_i + rate m_i with independent
/// m_i = C(grad f_i(x) - h_i), C being rand_k: of |x - x*|^2, of mean |h_i - h_i*|^2, and of
/// <x - x*, mean (h_i - h_i*)>. Every set that each worker may draw goes through the library's memory and compressor.
struct expected_round {
    double x = 0, h = 0, cross = 0;

    expected_round(laconic::rand_k<> const& c, double rate, double step, workers const& f, vec const& at,
                   std::vector<vec> const& known, known_optimum const& best);
    /// The same where each of choices[i] is as likely to be worker i's gradient at x.
    expected_round(laconic::rand_k<> const& c, double rate, double step, std::vector<std::vector<vec>> const& choices,
                   vec const& at, std::vector<vec> const& known, known_optimum const& best);
};

/// The mean of samples and its standard error.
struct estimate {
    double mean = 0, error = 0;

    template <class Sample>
    estimate(std::size_t runs, Sample sample) {
        double sum = 0, squares = 0;
        for (std::size_t r = 0; r < runs; ++r) {
            double const v = sample(r);
            sum += v;
            squares += v * v;
        }
        auto const n = static_cast<double>(runs);
        mean = sum / n;
        error = std::sqrt(std::max(0.0, squares / n - mean * mean) / (n - 1));
    }
};

/// Beznosikov et al. 2020: <a, x>^2 + |x|^2 / 4 for a = (-3, 2, 2) and its rotations.
workers beznosikov();

}  // namespace toys
