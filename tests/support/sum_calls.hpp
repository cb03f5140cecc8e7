// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/any/collective.hpp"
#include "laconic/any/communicator.hpp"
#include "laconic/sum.hpp"

/// What a user who calls sum(), mean() and reduce_scatter() finds, on any engine, beside plain loops. Each wrong_with
/// is called on all ranks, and returns what is wrong on this one, or nothing; sum_calls.cpp has them, compiled once for
/// all engines.
namespace sum_calls {

using namespace laconic;

/// The i-th number of a rank: a small whole number, so that sums are exact in every order; some are 0.
template <class E>
E number(int rank, std::size_t i) {
    auto const n = static_cast<int>((i * 7 + static_cast<std::size_t>(rank) * 5) % 11);
    return static_cast<E>(static_cast<float>(std::is_unsigned_v<E> || n > 8 ? n : n - 4));
}
template <class E>
std::vector<E> numbers(int rank, std::size_t d) {
    std::vector<E> x;
    for (std::size_t i = 0; i < d; ++i) x.push_back(number<E>(rank, i));
    return x;
}
/// Their sum over all ranks, divided.
template <class E>
std::vector<E> sums(int ranks, std::size_t d, int divisor = 1) {
    using T = detail::addend_type<E>;
    std::vector<E> x;
    for (std::size_t i = 0; i < d; ++i) {
        float all = 0;
        for (int r = 0; r < ranks; ++r) all += static_cast<float>(number<E>(r, i));
        x.push_back(static_cast<E>(static_cast<T>(all) / static_cast<T>(divisor)));
    }
    return x;
}
/// The vector without its zeros.
template <class E>
sparse_vector<E> without_zeros(std::vector<E> const& x) {
    sparse_vector<E> v{x.size()};
    for (std::size_t i = 0; i < x.size(); ++i)
        if (x[i] != static_cast<E>(0)) {
            v.indices.push_back(static_cast<coordinate>(i));
            v.values.push_back(x[i]);
        }
    return v;
}
/// The same vector as a user may have it: backwards, and one term as two.
template <class E>
sparse_vector<E> in_disorder(sparse_vector<E> const& x) {
    sparse_vector<E> v{x.dimension, {x.indices.rbegin(), x.indices.rend()}, {x.values.rbegin(), x.values.rend()}};
    if (v.indices.empty()) return v;
    v.indices.push_back(v.indices[0]);
    v.values.push_back(v.values[0]);
    v.values[0] = static_cast<E>(0);
    return v;
}

/// What call() throws on this rank: its text, and whether it is an Error.
template <class Error, class Call>
std::string thrown(Call call) {
    try {
        call();
    } catch (Error const& e) {
        return e.what();
    } catch (std::exception const& e) {
        return std::string("another type: ") + e.what();
    }
    return "nothing";
}

/// By one collective of floats; of all types of numbers, by automatic; by all exact collectives.
std::string wrong_with(any_communicator& comm, std::size_t d, any_collective<float> const& how);
std::string wrong_with_types(any_communicator& comm, std::size_t d);
std::string wrong_with_collectives(any_communicator& comm, std::size_t d);
/// On all ranks the same error, which names rank 1 of several; nothing has changed, and the next call works.
std::string wrong_with_errors(any_communicator& comm);

}  // namespace sum_calls
