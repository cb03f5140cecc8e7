// SPDX-License-Identifier: Apache-2.0
// A rank restores its own state, or the mean of all ranks' states, and nothing where one is wrong.
#include "laconic/reduction/restore.hpp"

#include "laconic/backend/host.hpp"
#include "laconic/collective/seed.hpp"
#include "laconic/core/error.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace {

// What controls steps and remembers one number, which is that of its layers, too.
struct counting_step {
    struct place {
        int rank_ = 0, size_ = 1;
        int rank() const { return rank_; }
        int size() const { return size_; }
    };
    struct layers_of_it {
        counting_step* of;
        detail::shared_seed own_seed{std::nullopt};
        host on_{};
        place comm_{};
        detail::shared_seed const& seed() const { return own_seed; }
        void replace_seed(std::uint64_t seed) { own_seed.replace(seed); }
        static std::string identity(int rank, int ranks, std::uint64_t seed) {
            return "the seed: " + std::to_string(seed) + "\n" + std::to_string(rank) + " of " + std::to_string(ranks);
        }
        host& on() { return on_; }
        place const& comm() const { return comm_; }
        void require_add() const {}
        void add_state() { of->sum += of->number; }
        void take_mean_state(int ranks) { of->number = of->sum / ranks; }
        template <class Archive>
        void state(Archive&) {}
    };
    double number = 0, sum = 0;
    std::string events;
    layers_of_it layers{this};

    template <class Archive>
    void state(Archive& archive) {
        archive(number);
    }
    void require_no_step(char const*) const {}
    void break_off() { events += "broken "; }
    void recover() { events += "whole"; }

    static std::vector<std::byte> saved(double number, int rank, int ranks) {
        counting_step s;
        s.number = number;
        wire::state_writer archive(layers_of_it::identity(rank, ranks, 9));
        s.state(archive);
        return archive.finish();
    }
};

}  // namespace

TEST_CASE("a rank restores its own state, or the mean of all ranks'") {
    counting_step s;
    detail::restore_own(s, s.layers, std::span<std::byte const>(counting_step::saved(7, 0, 1)));
    CHECK(s.number == 7);
    CHECK(s.events == "whole");
    CHECK(s.layers.seed().value() == 9);
    std::vector<std::vector<std::byte>> all{counting_step::saved(3, 0, 2), counting_step::saved(5, 1, 2)};
    s.events.clear();
    detail::restore_means(s, s.layers, all, 9);
    CHECK(s.number == 4);
    CHECK(s.events == "broken whole");
}

TEST_CASE("where one of the states is of another rank, or damaged, nothing has changed") {
    counting_step s;
    s.number = 1;
    std::vector<std::vector<std::byte>> all{counting_step::saved(3, 0, 2), counting_step::saved(5, 0, 2)};
    CHECK_THROWS_AS(detail::restore_means(s, s.layers, all, 9), shape_error);
    all[1] = counting_step::saved(5, 1, 2);
    all[1].back() ^= std::byte{1};
    CHECK_THROWS_AS(detail::restore_means(s, s.layers, all, 9), wire_error);
    CHECK_THROWS_AS(detail::restore_own(s, s.layers, std::span<std::byte const>(all[0])), shape_error);
    CHECK(s.number == 1);
    CHECK(s.events.empty());
}
