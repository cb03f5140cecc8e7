// SPDX-License-Identifier: Apache-2.0
// The statistics behind the compressor laws are right by hand, and find broken bounds and damage that is accepted.
#include "laconic/compressor_laws.hpp"

#include "support/everything.hpp"

using namespace laconic::compressor_laws;

moments averages(std::vector<double> const& x, std::vector<std::vector<double>> const& messages) {
    moments m(x.size(), static_cast<int>(messages.size()));
    for (auto const& s : messages) m.add(x, s);
    m.finish();
    return m;
}

TEST_CASE("moments of two messages, by hand") {
    auto const m = averages({1, 2}, {{1, 0}, {3, 4}});
    CHECK(m.mean == std::vector<double>{2, 2});
    CHECK(m.variance == std::vector<double>{2, 4});
    CHECK(m.largest == 4);
    CHECK(m.error == 6);
    CHECK(m.error_variance == 4);
    CHECK(m.nonzeros == 1.5);
    CHECK(m.nonzeros_variance == .25);
}

TEST_CASE("the inequalities, from both sides") {
    std::vector<double> const x{3, 4};
    auto const zero = averages(x, {{0, 0}}), same = averages(x, {x}), half = averages(x, {{3, 0}});
    CHECK(delta_violation(half, x, .36) == "");
    CHECK(delta_violation(half, x, .37) ==
          "delta(2) = 0.37 is too large: |C(x) - x|^2 is 0.64 |x|^2 on average over 1 keys, where 1 - delta is 0.63");
    CHECK(delta_violation(same, x, 1) == "");
    CHECK(delta_violation(same, x, 1.5) == "delta(2) = 1.5 is outside (0, 1]");
    CHECK(delta_violation(same, x, 0) == "delta(2) = 0 is outside (0, 1]");
    CHECK(omega_violation(zero, x, 1) == "");
    CHECK(omega_violation(zero, x, .99) ==
          "omega(2) = 0.99 is too small: |C(x) - x|^2 is 1 |x|^2 on average over 1 keys");
    CHECK(mean_violation(same, x) == "");
    CHECK(mean_violation(averages(x, std::vector<std::vector<double>>(1000, {3, 3.9})), x) ==
          "it has an omega(d) and is biased: coordinate 1 is 4, and 3.9 on average over 1000 keys");
}

TEST_CASE("changes of a message that a reader takes and must not") {
    bytes const message{std::byte{1}, std::byte{2}};
    std::size_t taken = 0;
    auto const when = [&](auto accepts, std::uint64_t unpadded = 16) {
        return changes_violation(
            message, unpadded, [&](std::span<std::byte const> b) { return accepts(b); }, taken);
    };
    using seen = std::span<std::byte const>;
    CHECK(when([](seen b) { return b.size() == 2; }) == "");
    CHECK(taken == 16);
    CHECK(when([](seen) { return false; }) == "the message itself is refused");
    CHECK(when([](seen b) { return b.size() <= 2 && !b.empty(); }) == "cut off after 1 of 2 bytes, it is accepted");
    CHECK(when([](seen b) { return b.size() >= 2; }) == "a byte too many is accepted");
    CHECK(when([](seen b) { return b.size() == 2; }, 12) == "padding that is not zero is accepted");
}

TEST_CASE("a message of 1000 bytes is cut off after each byte, and each of its bits is flipped") {
    std::size_t cuts = 0, taken = 0;
    auto const accepts = [&](std::span<std::byte const> b) {
        cuts += b.size() < 1000;
        return b.size() == 1000;
    };
    CHECK(changes_violation(bytes(1000), 8000, accepts, taken) == "");
    CHECK(cuts == 1000);
    CHECK(taken == 8000);
}

TEST_CASE("of a long message 64 bits are flipped at least, evenly spaced, and all of its padding; it is cut as often") {
    bytes const message(200000);
    std::vector<std::size_t> flipped, cuts;
    std::size_t taken = 0;
    auto const accepts = [&](std::span<std::byte const> b) {
        for (std::size_t i = 0; i < b.size() && b.size() == message.size(); ++i)
            if (b[i] != std::byte{}) flipped.push_back(8 * i + std::size_t(std::countr_zero(unsigned(b[i]))));
        if (b.size() < message.size()) cuts.push_back(b.size());
        return b.size() == message.size() && (flipped.empty() || flipped.back() < 1599997);
    };
    CHECK(changes_violation(message, 1599997, accepts, taken) == "");
    CHECK(taken == 64);
    REQUIRE(flipped.size() == 67);
    REQUIRE(cuts.size() == 64);
    for (std::size_t n = 0; n < 64; ++n) CHECK(cuts[n] == n * 3126);
    for (std::size_t n = 0; n < 64; ++n) CHECK(flipped[n] == n * 25001);
    CHECK(std::vector(flipped.begin() + 64, flipped.end()) == std::vector<std::size_t>{1599997, 1599998, 1599999});
}
