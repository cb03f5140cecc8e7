// SPDX-License-Identifier: Apache-2.0
// What is a party, and what is none.
#include "laconic/objective/party.hpp"

#include "support/everything.hpp"

struct least {
    std::size_t dimension() const { return 1; }
    std::size_t samples() const { return 1; }
    std::size_t outputs() const { return 1; }
    bool has_labels() const { return false; }
    void embedding(row_choice, std::span<double const>, std::span<double>) const {}
    void block_gradient(row_choice, std::span<double const>, std::span<double const>, std::span<double>) const {}
};
struct labelled : least {
    void slopes(row_choice, std::span<double const>, std::span<double>) const {}
    double loss(row_choice, std::span<double const>) const { return 0; }
    double penalty(std::span<double const>) const { return 0; }
};
struct affine : least {
    double curvature() const { return 1; }
    void subtract_targets(row_choice, std::span<double>) const {}
};
struct without_outputs : least {
    std::size_t outputs() const = delete;
};

static_assert(Party<least> && !Party<least, float> && !LabelledParty<least> && !AffineParty<least>);
static_assert(LabelledParty<labelled> && !AffineParty<labelled>);
static_assert(AffineParty<affine> && !LabelledParty<affine>);
static_assert(!Party<without_outputs> && !Party<int>);

TEST_CASE("party") { CHECK(Party<least>); }
