// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "laconic/any/communicator.hpp"
#include "laconic/collective/terms/sparse_sum.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/core/key.hpp"

// Sparse vectors, one for each rank, and what collectives make of them.
namespace sparse_vectors {

template <class T>
using list = laconic::sparse_sum<T>;
template <class T>
using lists = std::vector<list<T>>;

template <class T>
list<T> of(std::size_t d, std::vector<std::pair<std::size_t, T>> const& terms) {
    list<T> v(d);
    for (auto const& [at, value] : terms) v.append(at, value);
    return v;
}
template <class T>
std::vector<double> dense(list<T> const& v) {
    std::vector<double> x(v.dimension());
    for (std::size_t j = 0; j < v.size(); ++j) x[v.support()[j]] = double(v.values()[j]);
    return x;
}
/// The exact sum, where the values are whole numbers.
template <class T>
std::vector<double> sum_of(lists<T> const& all) {
    std::vector<double> x(all.at(0).dimension());
    for (auto const& v : all)
        for (std::size_t j = 0; j < v.size(); ++j) x[v.support()[j]] += double(v.values()[j]);
    return x;
}

/// Supports as they come: spread, all the same, one after another, all in the first few coordinates, none, on one rank
/// only, everything.
enum class shape { spread, same, apart, crowded, none, one_rank, all };
inline constexpr shape shapes[] = {shape::spread, shape::same,     shape::apart, shape::crowded,
                                   shape::none,   shape::one_rank, shape::all};

/// What `rank` of `ranks` brings: about k whole numbers of up to 1000, not 0.
template <class T>
list<T> whole_numbers(shape how, std::size_t d, std::size_t k, int rank, int ranks, std::uint64_t seed = 1) {
    auto const own = laconic::key{seed}.child(std::uint64_t(rank)), shared = laconic::key{seed}.child(1000);
    list<T> v(d);
    for (std::size_t i = 0; i < d; ++i) {
        bool const here = how == shape::spread     ? own.below(2 * i, d) < k
                          : how == shape::same     ? shared.below(i, d) < k
                          : how == shape::apart    ? i % std::size_t(ranks) == std::size_t(rank) && i / ranks < k
                          : how == shape::crowded  ? i < 2 * k && own.below(2 * i, 2) == 0
                          : how == shape::one_rank ? rank == ranks / 2 && i < k
                                                   : how == shape::all;
        auto const size = T(1 + own.below(2 * i + 1, 1000));
        if (here) v.append(i, own.word(7 * i + 3) % 2 ? size : -size);
    }
    return v;
}
template <class T>
lists<T> all_whole_numbers(shape how, std::size_t d, std::size_t k, int ranks, std::uint64_t seed = 1) {
    lists<T> all;
    for (int r = 0; r < ranks; ++r) all.push_back(whole_numbers<T>(how, d, k, r, ranks, seed));
    return all;
}

/// What each rank does, over any engine, so that collectives are compiled once for all of them.
using rank_body = std::function<void(laconic::any_communicator&)>;
using rank_runner = void (*)(int ranks, rank_body const&);
template <class Engine>
void run_over(int ranks, rank_body const& body) {
    Engine::run(ranks, [&](auto& engine) {
        laconic::any_communicator comm(engine);
        body(comm);
    });
}

/// What the collective that make(comm) gives leaves on each rank, and what it returns to it where it returns anything.
template <class T, class Make>
std::pair<lists<T>, lists<T>> after(lists<T> const& brought, Make make,
                                    rank_runner run = run_over<laconic::fibers>) {
    std::pair<lists<T>, lists<T>> all{brought, lists<T>(brought.size())};
    run(static_cast<int>(brought.size()), [&](laconic::any_communicator& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        laconic::host on;
        auto collective = make(comm);
        collective(on, comm, all.first[me]);
        if constexpr (requires { collective.leftover(); }) all.second[me] = collective.leftover();
    });
    return all;
}

/// The errors that the ranks throw, where body(comm) is what each does; "none" where it is none. With threads:
/// the address sanitizer takes a stack that goes on after an exception for broken where it is a fiber's.
inline std::vector<std::string> errors_on(int ranks, rank_body const& body) {
    std::vector<std::string> errors(std::size_t(ranks), "none");
    run_over<laconic::threads>(ranks, [&](laconic::any_communicator& comm) {
        try {
            body(comm);
        } catch (laconic::error const& e) {
            errors[std::size_t(comm.rank())] = e.what();
        }
    });
    return errors;
}

/// A communicator on which what one rank hands over in its n-th collective is changed on the way.
struct damaging {
    laconic::any_communicator inner;
    int culprit;
    int nth;
    void (*damage)(std::vector<std::byte>&);
    int collectives = 0;
    std::vector<std::byte> bytes{};

    int rank() const { return inner.rank(); }
    int size() const { return inner.size(); }
    void all_gather(laconic::payload mine) { inner.all_gather(mine); }
    void gather(int root, laconic::payload mine) { inner.gather(root, mine); }
    void broadcast(int root, laconic::payload mine) { inner.broadcast(root, mine); }
    laconic::payload from(int r) const { return inner.from(r); }
    laconic::payload exchange(int to, laconic::payload mine, int from) {
        if (rank() == culprit && to != laconic::no_rank && collectives++ == nth) {
            bytes.assign(mine.bytes.begin(), mine.bytes.end());
            damage(bytes);
            mine.bytes = bytes;
        }
        return inner.exchange(to, mine, from);
    }
};

}  // namespace sparse_vectors
