// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/collective/layout/pieces.hpp"
#include "laconic/comm/metered.hpp"
#include "support/sparse_vectors.hpp"
#include "support/test.hpp"

/// What every sum of dense vectors must do. make<T>(comm, d) gives one.
namespace dense_sums {

template <class T>
using vectors = std::vector<std::vector<T>>;

template <class T>
vectors<T> whole_numbers(std::size_t d, int ranks) {
    vectors<T> all;
    for (int r = 0; r < ranks; ++r) {
        all.emplace_back(d);
        for (std::size_t i = 0; i < d; ++i)
            all.back()[i] = T(laconic::key{3}.child(std::uint64_t(r)).below(i, 2001)) - T(1000);
    }
    return all;
}
template <class T>
vectors<T> fractions(std::size_t d, int ranks) {
    auto all = whole_numbers<T>(d, ranks);
    for (auto& x : all)
        for (auto& v : x) v /= T(7);
    return all;
}

/// What each rank then has, and the bytes that it sent for that.
template <class T, class Engine = laconic::fibers, class Make>
vectors<T> after(vectors<T> all, Make make, std::vector<std::uint64_t>* sent = nullptr) {
    Engine::run(int(all.size()), [&](auto& inner) {
        laconic::metered comm(inner);
        laconic::host on;
        auto const me = std::size_t(comm.rank());
        auto sum = make.template operator()<T>(comm, all[me].size());
        auto const before = comm.bytes_sent();
        sum(on, comm, std::span<T>(all[me]));
        if (sent) (*sent)[me] = comm.bytes_sent() - before;
    });
    return all;
}

template <class T, class Make>
void sums_are_right(Make make) {
    for (int const n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33})
        for (std::size_t const d : {0, 1, 2, 5, 16, 61}) {
            CAPTURE(n);
            CAPTURE(d);
            auto const all = whole_numbers<T>(d, n);
            std::vector<T> sum(d);
            for (auto const& x : all)
                for (std::size_t i = 0; i < d; ++i) sum[i] += x[i];
            for (auto const& x : after(all, make)) CHECK(x == sum);
        }
    // The same bits on all ranks, whatever is rounded, and with threads.
    for (int const n : {6, 7}) {
        auto const all = fractions<T>(50, n);
        auto const sums = after(all, make);
        for (auto const& x : sums) CHECK(std::memcmp(x.data(), sums[0].data(), 50 * sizeof(T)) == 0);
        CHECK(after<T, laconic::threads>(all, make) == sums);
    }
}

template <class Make>
void refuses(Make make) {
    std::size_t const d = 20;
    auto const good = whole_numbers<float>(d, 7), sums = after(good, make);
    auto const with = [&](std::vector<std::vector<float>> const& bad) {
        auto const errors = sparse_vectors::errors_on(7, [&](auto& comm) {
            auto const me = std::size_t(comm.rank());
            laconic::host on;
            auto sum = make.template operator()<float>(comm, d);
            auto x = bad[me];
            std::string text;
            try {
                sum(on, comm, std::span(x), 4);
            } catch (laconic::error const& e) {
                text = e.what();
            }
            x = good[me];  // the next round is held
            sum(on, comm, std::span(x), 5);
            CHECK(x == sums[me]);
            if (!text.empty()) throw laconic::error(text);
        });
        CHECK(errors == std::vector(7, errors[0]));
        return errors[0];
    };
    CHECK(with(good) == "none");
    for (std::size_t r = 0; r < 7; ++r) {
        auto bad = good;
        bad[r][13] = NAN;
        bad[r][15] = INFINITY;
        CHECK(with(bad) == "rank " + std::to_string(r) + ", round 4: the gradient is not finite at coordinate 13");
        bad[6][2] = NAN;
        CHECK(with(bad) == "rank " + std::to_string(r) + ", round 4: the gradient is not finite at coordinate " +
                               (r == 6 ? "2" : "13"));
        bad = good;
        bad[r].pop_back();
        CHECK(with(bad) == "rank " + std::to_string(r) + " has a vector of 19 numbers, the collective is for 20");
    }
    for (std::size_t i = 0; i < d; ++i) {
        auto bad = good;
        for (auto& x : bad) x[i] = 1e38f;
        CHECK(with(bad) == "round 4: the ranks' sum is not finite at coordinate " + std::to_string(i));
    }
    for (auto const& [r, other] : {std::pair(0, 4), {1, 2}, {5, 6}})
        for (std::size_t i = 0; i < d; ++i) {
            auto bad = good;
            bad[std::size_t(r)][i] = bad[std::size_t(other)][i] = 3e38f;
            CHECK(with(bad) == "round 4: the ranks' sum is not finite at coordinate " + std::to_string(i));
        }
    // What a rank hands over first is damaged: too short, too long, not finite.
    auto const damaged = [&](int culprit, void (*damage)(std::vector<std::byte>&)) {
        return sparse_vectors::errors_on(7, [&](auto& inner) {
            sparse_vectors::damaging comm{&inner, culprit, 0, damage};
            laconic::host on;
            auto sum = make.template operator()<float>(comm, d);
            auto x = good[std::size_t(comm.rank())];
            sum(on, comm, std::span(x));
        });
    };
    for (int culprit = 0; culprit < 7; ++culprit)
        for (auto const damage : {+[](std::vector<std::byte>& b) { b.pop_back(); },
                                  +[](std::vector<std::byte>& b) { b.push_back(std::byte(0)); },
                                  +[](std::vector<std::byte>& b) { b.assign(b.size(), std::byte(0xff)); }}) {
            auto const errors = damaged(culprit, damage);
            CHECK(errors == std::vector(7, errors[0]));
            CHECK(errors[0].find("from rank " + std::to_string(culprit) + ": ") != std::string::npos);
        }
    // Ranks that differ.
    for (auto const& text : sparse_vectors::errors_on(3, [&](auto& comm) {
             if (comm.rank() == 1)
                 make.template operator()<double>(comm, 5);
             else
                 make.template operator()<float>(comm, 5);
         }))
        CHECK(text.find("the bytes of a number: ") != std::string::npos);
    for (auto const& text : sparse_vectors::errors_on(
             3, [&](auto& comm) { make.template operator()<float>(comm, comm.rank() == 2 ? 6 : 5); }))
        CHECK(text.find("the dimension: 6") != std::string::npos);
}

// Of more numbers than go in one piece.
template <class Make>
void long_parts(Make make) {
    std::size_t const d = 21 * laconic::detail::in_pieces<float>::longest + 3;
    for (int const n : {2, 3}) {
        auto const all = whole_numbers<float>(d, n);
        std::vector<float> sum(d);
        for (auto const& x : all)
            for (std::size_t i = 0; i < d; ++i) sum[i] += x[i];
        auto const sums = after(all, make);
        for (auto const& x : sums) CHECK(x == sum);
        auto bad = all;
        for (auto& x : bad) x[d - 2] = x[70] = 3e38f;
        for (auto const& text : sparse_vectors::errors_on(n, [&](auto& comm) {
                 laconic::host on;
                 auto collective = make.template operator()<float>(comm, d);
                 auto x = bad[std::size_t(comm.rank())];
                 collective(on, comm, std::span(x), 2);
             }))
            CHECK(text == "round 2: the ranks' sum is not finite at coordinate 70");
    }
}

}  // namespace dense_sums
