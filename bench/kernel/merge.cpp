// SPDX-License-Identifier: Apache-2.0
#include <Eigen/SparseCore>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernel.hpp"
#include "laconic/collective/terms/sparse_sum.hpp"

namespace kernel_bench {

namespace {

using namespace laconic;

template <class T>
std::pair<sparse_sum<T>, sparse_sum<T>> two_lists(std::span<T const> x, std::size_t k) {
    backend on;
    std::vector<coordinate> at;
    select_largest(on, x, 2 * k, at);
    std::pair<sparse_sum<T>, sparse_sum<T>> lists{sparse_sum<T>(x.size()), sparse_sum<T>(x.size())};
    // One list or the other has each, by chance; one in 64 both have.
    for (coordinate const i : at) {
        auto const h = key{1}.below(i, 128);
        if (h % 2 == 0 || h % 64 == 1) lists.first.append(i, x[i]);
        if (h % 2 == 1 || h % 64 == 0) lists.second.append(i, x[i]);
    }
    return lists;
}
template <class T>
Eigen::SparseVector<T> of_eigen(sparse_sum<T> const& list) {
    Eigen::SparseVector<T> v(static_cast<Eigen::Index>(list.dimension()));
    v.reserve(static_cast<Eigen::Index>(list.size()));
    for (std::size_t j = 0; j < list.size(); ++j)
        v.insertBack(static_cast<Eigen::Index>(list.support()[j])) = list.values()[j];
    return v;
}

template <class T>
struct list_of_pairs {
    std::vector<coordinate> at;
    std::vector<T> values;
    explicit list_of_pairs(std::size_t n) : at(n), values(n) {}
};

template <class T>
void two_pointers(sparse_sum<T> const& a, sparse_sum<T> const& b, list_of_pairs<T>& sum) {
    std::size_t i = 0, j = 0, n = 0;
    auto const put = [&](coordinate at, T v) {
        sum.at[n] = at;
        sum.values[n++] = v;
    };
    while (i < a.size() && j < b.size()) {
        if (a.support()[i] < b.support()[j]) {
            put(a.support()[i], a.values()[i]);
            ++i;
        } else if (b.support()[j] < a.support()[i]) {
            put(b.support()[j], b.values()[j]);
            ++j;
        } else {
            put(a.support()[i], a.values()[i] + b.values()[j]);
            ++i, ++j;
        }
    }
    for (; i < a.size(); ++i) put(a.support()[i], a.values()[i]);
    for (; j < b.size(); ++j) put(b.support()[j], b.values()[j]);
}

// Two lists of about k terms each. As bytes: the terms that are read.
template <class T>
void add_case(std::size_t d, std::size_t k) {
    scenario s{"merge", input::gauss, d, k, 2 * k * (sizeof(coordinate) + sizeof(T)), 0, 2 * k};
    add<T>(s, [k](std::span<T const> x) {
        return [lists = two_lists(x, k), sum = list_of_pairs<T>(3 * k)]() mutable {
            auto const& [a, b] = lists;
            auto n =
                laconic::detail::merge<T>{}({a.support(), a.values()}, {b.support(), b.values()}, sum.at, sum.values);
            benchmark::DoNotOptimize(n);
        };
    });
    s.kernel = "merge.eigen_sparse";
    add<T>(s, [k](std::span<T const> x) {
        auto const lists = two_lists(x, k);
        return [a = of_eigen(lists.first), b = of_eigen(lists.second), sum = of_eigen(lists.first)]() mutable {
            sum = a + b;
        };
    });
    s.kernel = "merge.two_pointers";
    add<T>(s, [k](std::span<T const> x) {
        return [lists = two_lists(x, k), sum = list_of_pairs<T>(3 * k)]() mutable {
            two_pointers(lists.first, lists.second, sum);
        };
    });
}

}  // namespace

void add_merge() {
    for (double const share : {1e-3, 1e-2, 1e-1})
        add_case<float>(in_memory, static_cast<std::size_t>(share * static_cast<double>(in_memory)));
    add_case<double>(in_memory, in_memory / 100);
}

}  // namespace kernel_bench
