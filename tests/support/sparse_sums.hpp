// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/comm/metered.hpp"
#include "support/sparse_vectors.hpp"
#include "support/test.hpp"

/// What every exact sum of sparse vectors must do. make<T>(comm, d) gives one.
namespace sparse_sums {

namespace sv = sparse_vectors;

template <class T, class Make>
auto with_dimension(Make make, std::size_t d) {
    return [=](auto& comm) { return make.template operator()<T>(comm, d); };
}

/// The bytes that each rank sends.
template <class T, class Make>
std::vector<std::uint64_t> bytes_sent_by(sv::lists<T> const& brought, Make make) {
    std::vector<std::uint64_t> sent(brought.size());
    laconic::fibers::run(int(brought.size()), [&](auto& inner) {
        laconic::metered comm(inner);
        laconic::host on;
        auto const me = std::size_t(comm.rank());
        auto v = brought[me];
        auto sum = make.template operator()<T>(comm, v.dimension());
        auto const before = comm.bytes_sent();
        sum(on, comm, v);
        sent[me] = comm.bytes_sent() - before;
    });
    return sent;
}

template <class T, class Make>
void sums_are_right(Make make) {
    for (int const n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33})
        for (auto const how : sv::shapes)
            for (std::size_t const d : {0, 1, 4, 61}) {
                if (n > 9 && how != sv::shape::spread && how != sv::shape::all) continue;
                CAPTURE(n);
                CAPTURE(d);
                auto const brought = sv::all_whole_numbers<T>(how, d, d / 6, n);
                auto const sums = sv::after(brought, with_dimension<T>(make, d)).first;
                for (auto const& v : sums) CHECK(v == sums[0]);
                CHECK(sv::dense(sums[0]) == sv::sum_of(brought));
            }
    // The same bits on all ranks, whatever is rounded, and with threads.
    for (int const n : {6, 7}) {
        sv::lists<T> brought;
        for (auto const& v : sv::all_whole_numbers<T>(sv::shape::spread, 90, 40, n)) {
            brought.emplace_back(90);
            for (std::size_t j = 0; j < v.size(); ++j) brought.back().append(v.support()[j], v.values()[j] / T(7));
        }
        auto const sums = sv::after(brought, with_dimension<T>(make, 90)).first;
        for (auto const& v : sums) CHECK(v == sums[0]);
        CHECK(sv::after<T, laconic::threads>(brought, with_dimension<T>(make, 90)).first == sums);
    }
}

template <class Make>
void refuses(Make make, bool reported_to_all = true) {
    std::size_t const d = 40;
    auto const good = sv::all_whole_numbers<float>(sv::shape::spread, d, 9, 7);
    auto const expected = sv::after(good, with_dimension<float>(make, d)).first[0];
    auto const with = [&](std::vector<int> culprits, laconic::sparse_sum<float> const& bad) {
        auto const errors = sv::errors_on(7, [&](auto& comm) {
            laconic::host on;
            auto sum = make.template operator()<float>(comm, d);
            auto const me = std::size_t(comm.rank());
            auto v = std::count(culprits.begin(), culprits.end(), comm.rank()) > 0 ? bad : good[me];
            std::string text;
            try {
                sum(on, comm, v, 4);
            } catch (laconic::error const& e) {
                text = e.what();
            }
            v = good[me];  // the next round is held
            sum(on, comm, v, 5);
            CHECK(v == expected);
            throw laconic::error(text);
        });
        CHECK(errors == std::vector(7, errors[0]));
        return errors[0];
    };
    auto const bad = sv::of<float>(d, {{5, 1}, {17, NAN}, {20, INFINITY}}), large = sv::of<float>(d, {{23, 3e38f}});
    for (int r = 0; r < 7; ++r) {
        auto const who = "rank " + std::to_string(r);
        CHECK(with({r}, bad) == who + ", round 4: the gradient is not finite at coordinate 17");
        CHECK(with({r, 6}, bad) == who + ", round 4: the gradient is not finite at coordinate 17");
        CHECK(with({r}, sv::list<float>(d - 1)) == who + " has a vector of 39 numbers, the collective is for 40");
        if (r > 0) CHECK(with({r - 1, r}, large) == "round 4: the ranks' sum is not finite at coordinate 23");
    }
    CHECK(with({0, 1, 2, 3, 4, 5, 6}, large) == "round 4: the ranks' sum is not finite at coordinate 23");
    // What a rank hands over first is damaged: too short, too long, no message at all. A rank that throws nothing has
    // the sum.
    for (int culprit = 0; culprit < 7; ++culprit)
        for (auto const damage : {+[](std::vector<std::byte>& b) { b.pop_back(); },
                                  +[](std::vector<std::byte>& b) { b.push_back(std::byte(0)); },
                                  +[](std::vector<std::byte>& b) { b.assign(b.size(), std::byte(0xff)); }}) {
            auto const errors = sv::errors_on(7, [&](auto& inner) {
                sv::damaging comm{&inner, culprit, 0, damage};
                laconic::host on;
                auto sum = make.template operator()<float>(comm, d);
                auto v = good[std::size_t(comm.rank())];
                sum(on, comm, v);
                CHECK(v == expected);
            });
            CHECK(std::count(errors.begin(), errors.end(), "none") <= (reported_to_all ? 0 : 6));
            for (auto const& text : errors)
                CHECK(
                    (text == "none" || text.find("from rank " + std::to_string(culprit) + ": ") != std::string::npos));
        }
    // Ranks that differ.
    for (auto const& text : sv::errors_on(3, [&](auto& comm) {
             if (comm.rank() == 1)
                 make.template operator()<double>(comm, 5);
             else
                 make.template operator()<float>(comm, 5);
         }))
        CHECK(text.find("the bytes of a number: ") != std::string::npos);
    for (auto const& text :
         sv::errors_on(3, [&](auto& comm) { make.template operator()<float>(comm, comm.rank() == 2 ? 6 : 5); }))
        CHECK(text.find("the dimension: 6") != std::string::npos);
}

}  // namespace sparse_sums
