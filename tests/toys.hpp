// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "laconic/any/compressor.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/core/key.hpp"
#include "laconic/descent.hpp"
#include "laconic/objective/problem.hpp"
#include "solvers.hpp"

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
struct optimum {
    vec x;
    double value = 0;
    std::vector<vec> gradients;

    explicit optimum(workers const& f);
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
    std::vector<std::vector<T>> x, known, unsaid, mean_known;
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
                all[k].known[i] = copied(run.remembered().known());
                all[k].unsaid[i] = copied(run.remembered().unsaid());
                all[k].mean_known[i] = copied(run.remembered().mean_known());
                if (k == rounds) break;
                run.round();
                auto const said = comm.from(comm.rank()).bytes;
                all[k + 1].bytes[i].assign(said.begin(), said.end());
            }
        },
        how);
    return all;
}

/// A communicator that says what was put into it: what a rank hears is up to the test.
struct replay {
    std::vector<laconic::contribution> said;
    int me = 0;

    int rank() const { return me; }
    int size() const { return static_cast<int>(said.size()); }
    void all_gather(laconic::contribution mine) { said[static_cast<std::size_t>(me)] = mine; }
    laconic::contribution from(int r) const { return said[static_cast<std::size_t>(r)]; }
};

/// All ranks of a run in one thread, with the library's memory, level, compressor, bytes and step.
template <class R, class F = quadratic<>>
class lockstep {
  public:
    lockstep(R const& method, std::vector<F> const& f, vec start, std::uint64_t seed)
        : f_(&f), x_(std::move(start)), seed_{seed}, mean_(x_.size()) {
        for (std::size_t i = 0; i < f.size(); ++i)
            ranks_.push_back({method,
                              {x_.size(), method.memory_rate, method.keep_unsaid},
                              vec(x_.size()),
                              {},
                              laconic::bit_writer()});
        air_.said.resize(f.size());
    }

    void round() {
        auto const& at = std::as_const(x_);
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            auto& r = ranks_[i];
            (*f_)[i].gradient(at, r.news);
            for (double& v : r.news) v *= r.method.scale;
            r.memory.before(on_, r.news);
            r.method.level.tune(on_, r.method.compressor, std::span<double const>(at), std::span<double const>(r.news));
            r.method.compressor(on_, std::span<double const>(r.news), key_of(i), r.message);
            r.sink.clear();
            write(r.sink, r.message);
            air_.said[i] = {r.sink.finish(), false};
        }
        exchange_.mean(
            on_, air_, ranks_[0].message,
            [&](int r, message_type& m) {
                ranks_[0].method.compressor.blank(on_, x_.size(), key_of(static_cast<std::size_t>(r)), m);
            },
            [](int, std::span<std::byte const>) {}, std::span<double>(mean_));
        for (auto& r : ranks_) r.memory.after(on_, std::span<double const>(r.news), r.message);
        vec const said = mean_;
        for (auto& r : ranks_) {
            mean_ = said;
            r.memory.estimate(on_, std::span<double>(mean_));
            r.method.level.said(on_, std::span<double const>(x_), r.message);
        }
        ranks_[0].method.step(on_, std::span<double>(x_), std::span<double>(mean_));
        ++round_;
    }
    void rounds(std::size_t n) {
        for (std::size_t k = 0; k < n; ++k) round();
    }

    vec const& x() const { return x_; }
    std::span<double const> known(std::size_t i) const { return ranks_[i].memory.known(); }
    std::span<double const> mean_known() const { return ranks_[0].memory.mean_known(); }
    std::span<double const> unsaid(std::size_t i) const { return ranks_[i].memory.unsaid(); }
    auto const& message_of_rank(std::size_t i) const { return ranks_[i].message; }

  private:
    using message_type = laconic::message_of<decltype(R::compressor), double, laconic::host>;
    struct rank_state {
        R method;
        laconic::memory<double> memory;
        vec news;
        message_type message;
        laconic::bit_writer sink;
    };
    laconic::key key_of(std::size_t rank) const { return seed_.child(round_).child(rank); }

    std::vector<F> const* f_;
    vec x_;
    laconic::key seed_;
    laconic::host on_;
    std::vector<rank_state> ranks_;
    replay air_;
    laconic::by_gather<message_type, double> exchange_;
    vec mean_;
    std::uint64_t round_ = 0;
};

/// The recursion of a method for a problem, its compressor behind any_compressor where no level tunes it: so that most
/// methods share what is compiled, and say the same bytes.
template <class M>
auto composed(M const& method, laconic::problem const& p) {
    auto r = method.template compose<double, laconic::host>(p);
    if constexpr (std::same_as<decltype(r.level), laconic::fixed_level>)
        return laconic::recursion<laconic::any_compressor<>, decltype(r.step)>{
            r.compressor, r.memory_rate, r.keep_unsaid, r.scale, r.step, {}};
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
                   std::vector<vec> const& known, optimum const& best);
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
