// SPDX-License-Identifier: Apache-2.0
// Ranks of one process add up a part of the mean each, with the same bits, bytes and errors as alone.
#include "laconic/transport/shared_mean.hpp"

#include <mutex>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"

// Counts the numbers that are added to a vector.
struct counting_host : host {
    std::size_t added = 0;
};
template <Scalar T, class Terms>
void add_terms(counting_host& on, std::span<T> out, T w, Terms terms) {
    on.added += terms.size();
    add_terms(static_cast<host&>(on), out, w, terms);
}

// An engine that hides where its ranks are.
template <class C>
using anywhere = passed_on<C>;
// An engine that damages what some ranks hand over.
struct damaging : threads::member {
    std::vector<std::byte> copy{};
    void (*damage)(int rank, std::vector<std::byte>&) = nullptr;

    void all_gather(payload mine) {
        copy.assign(mine.bytes.begin(), mine.bytes.end());
        damage(rank(), copy);
        threads::member::all_gather({copy, mine.is_error});
    }
    void start_all_gather(payload mine, int = 0) { all_gather(mine); }
    void finish(int = 0) {}
};

template <class T>
std::vector<T> numbers(std::size_t d, int rank) {
    std::vector<T> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = T(key{3}.child(std::uint64_t(rank)).uniform(i) - .5);
    return x;
}

struct cost {
    std::size_t added = 0;
    std::uint64_t sent = 0, received = 0;
};
// What a rank of n has after two rounds, over a communicator that wrap(engine) makes.
template <class T, class Compressor, class Wrap>
std::vector<T> mean_of(int n, std::size_t d, Compressor const& c, Wrap wrap, cost& of_a_rank) {
    std::vector<std::vector<T>> means(std::size_t(n), std::vector<T>(d, T(0.25)));
    std::mutex one_at_a_time;
    threads::run(n, [&](threads::member& engine) {
        auto&& inner = wrap(engine);
        metered comm(inner);
        counting_host on;
        gathered<detail::message_of<Compressor, T, counting_host>, T, counting_host> collective(
            {}, d, position_code::smallest);
        detail::message_of<Compressor, T, counting_host> mine;
        auto& mean = means[std::size_t(comm.rank())];
        auto const x = numbers<T>(d, comm.rank());
        for (int again = 0; again < 2; ++again) {
            c(on, std::span<T const>(x), key{}, mine);
            collective.send(on, comm, {}, mine, {});
            collective.receive(
                on, comm, {}, mine, {}, [&](auto& there, int, auto& m) { c.blank(there, d, key{}, m); }, nullptr,
                std::span<T>(mean));
        }
        std::lock_guard lock(one_at_a_time);
        of_a_rank.added = std::max(of_a_rank.added, on.added);
        of_a_rank.sent = std::max(of_a_rank.sent, comm.bytes_sent());
        of_a_rank.received = std::max(of_a_rank.received, comm.bytes_received());
    });
    for (auto const& each : means) CHECK(each == means[0]);
    return means[0];
}

auto const the_engine = [](threads::member& engine) -> threads::member& { return engine; };
auto const as_any_engine = [](threads::member& engine) { return anywhere<threads::member>{&engine}; };

template <class T>
void is_shared(int n, std::size_t d) {
    CAPTURE(n);
    cost shared, alone, any;
    auto const mean = mean_of<T>(n, d, identity{}, the_engine, shared);
    CHECK(mean == mean_of<T>(n, d, identity{}, as_any_engine, alone));
    auto const faces = [](threads::member& engine) { return any_communicator(engine); };
    CHECK(mean == mean_of<T>(n, d, any_compressor<T, counting_host>(identity{}), faces, any));
    // In two rounds; the parts of the ranks differ by one number.
    CHECK(alone.added == 2 * std::size_t(n) * d);
    CHECK(shared.added <= 2 * std::size_t(n) * (d / std::size_t(n) + 1));
    CHECK(any.added == shared.added);
    for (auto const& c : {shared, alone, any}) {
        CHECK(c.sent == 2 * d * sizeof(T));
        CHECK(c.received == 2 * d * sizeof(T) * std::size_t(n - 1));
    }
}

TEST_CASE("in one process a rank adds up its part of full vectors: the same bits, and the same bytes counted") {
    is_shared<double>(2, 70001);
    is_shared<float>(3, 33333);
    is_shared<double>(8, 20011);
    static_assert(detail::OneProcess<threads::member&> && detail::OneProcess<fibers::member> &&
                  detail::OneProcess<any_communicator>);
    static_assert(!detail::OneProcess<anywhere<threads::member>> && !detail::OneProcess<metered<threads::member>>);
}

TEST_CASE("short vectors, one rank and messages of other kinds are read by all") {
    cost c;
    mean_of<double>(3, 100, identity{}, the_engine, c);
    CHECK(c.added == 2 * 300);
    mean_of<double>(1, 70000, identity{}, the_engine, c = {});
    CHECK(c.added == 2 * 70000);
}

TEST_CASE("damage is the same error on all ranks as where each reads everything") {
    std::size_t const d = 40000;
    auto const errors_after = [&](auto damage, bool share) {
        std::vector<std::string> all(3, "none");
        threads::run(3, [&](threads::member& engine) {
            damaging inner{engine};
            inner.damage = damage;
            anywhere<damaging> elsewhere{&inner};
            host on;
            auto const x = numbers<double>(d, inner.rank());
            std::vector<double> mean(d);
            try {
                gathered<messages::full_vector<double, host>, double> collective({}, d, position_code::smallest);
                messages::full_vector<double, host> const mine{{x.begin(), x.end()}};
                auto const run = [&](auto& comm) {
                    collective.send(on, comm, {}, mine, {});
                    collective.receive(
                        on, comm, {}, mine, {}, [&](auto&, int, auto& m) { m.values.resize(d); }, nullptr,
                        std::span<double>(mean));
                };
                share ? run(inner) : run(elsewhere);
            } catch (wire_error const& e) {
                all[std::size_t(inner.rank())] = e.what();
            }
        });
        CHECK(all == std::vector(3, all[0]));
        return all[0];
    };
    static constexpr auto no_number = [](std::vector<std::byte>& bytes, std::size_t i) {
        double const nan = std::numeric_limits<double>::quiet_NaN();
        std::memcpy(bytes.data() + 8 * i, &nan, 8);
    };
    auto const same = [&](auto damage) {
        auto const text = errors_after(damage, true);
        CHECK(text == errors_after(damage, false));
        return text;
    };
    auto const one = same([](int r, std::vector<std::byte>& b) {
        if (r == 2) no_number(b, 7);
    });
    CHECK(one.find("from rank 2: a number that is not finite") != std::string::npos);
    // Several, which different ranks read: the first rank's first.
    auto const many = same([](int r, std::vector<std::byte>& b) {
        if (r == 2) no_number(b, 7);
        if (r == 1) no_number(b, 39999), no_number(b, 20000);
    });
    CHECK(many.find("from rank 1: ") != std::string::npos);
    CHECK(many.find(std::to_string(20001 * 64)) != std::string::npos);
    CHECK(same([](int r, std::vector<std::byte>& b) {
              if (r == 1) b.pop_back();
          }).find("from rank 1: ") != std::string::npos);
}
