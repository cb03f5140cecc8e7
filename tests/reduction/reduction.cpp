// SPDX-License-Identifier: Apache-2.0
// Each named reduction has the rates of its row, its text, and is refused where no theorem covers it.
#include "laconic/reduction/reduction.hpp"

#include "support/everything.hpp"

static_assert(Reduction<plain<>> && Reduction<error_feedback<identity>, double> &&
              Reduction<unproved<shifted<identity>>>);

TEST_CASE("each reduction is the row of the table: alpha, decay, and whether a theorem covers its compressor") {
    auto const row = [](auto const& r, std::size_t d) {
        auto const m = r.template feedback<double, host>(d);
        return std::pair(m.rate(), m.decay());
    };
    CHECK(row(plain{}, 10) == std::pair(0.0, 0.0));
    CHECK(row(plain{rand_k{2}}, 10) == std::pair(0.0, 0.0));
    CHECK(row(error_feedback{top_k{2}}, 10) == std::pair(0.0, 1.0));
    CHECK(row(error_feedback{top_k{2}, 0.9}, 10) == std::pair(0.0, 0.9));
    CHECK(row(shifted{rand_k{2}}, 10) == std::pair(1 / (2 * (1 + 4.0)), 0.0));  // omega = d / k - 1
    CHECK(row(ef21_shift{top_k{2}}, 10) == std::pair(1.0, 0.0));
    CHECK(row(unproved{error_feedback{rand_k{2}, 0.5}}, 10) == std::pair(0.0, 0.5));

    CHECK(plain<rand_k<>>::is_proved);
    CHECK_FALSE(plain<top_k<>>::is_proved);
    CHECK(error_feedback<top_k<>>::is_proved);
    CHECK_FALSE(error_feedback<rand_k<>>::is_proved);
    CHECK(shifted<rand_k<>>::is_proved);
    CHECK_FALSE(shifted<top_k<>>::is_proved);
    CHECK(ef21_shift<top_k<>>::is_proved);
    CHECK_FALSE(ef21_shift<rand_k<>>::is_proved);
    CHECK(unproved<plain<top_k<>>>::is_proved);
}

TEST_CASE("the theory of a compressor that is chosen at run time is checked then, and so is a pipe's") {
    using any = any_compressor<double>;
    plain{any(rand_k{2})}.check_proof(10);
    shifted{any(rand_k{2})}.check_proof(10);
    error_feedback{any(top_k{2})}.check_proof(10);
    ef21_shift{any(top_k{2})}.check_proof(10);
    CHECK_THROWS_WITH_AS(plain{any(top_k{2})}.check_proof(10),
                         "plain{top_k(2)}: the compressor is biased, so that errors add up; take error_feedback{...} "
                         "or ef21_shift{...}, or unproved{plain{...}}",
                         theory_error);
    CHECK_THROWS_AS(shifted{any(top_k{2})}.check_proof(10), theory_error);
    CHECK_THROWS_WITH_AS(error_feedback{any(rand_k{2})}.check_proof(10),
                         "error_feedback{rand_k(2)}: the compressor is not known to be contractive; scaled_down{...} "
                         "makes an unbiased one so, or take unproved{error_feedback{...}}",
                         theory_error);
    CHECK_THROWS_AS(ef21_shift{any(rand_k{2})}.check_proof(10), theory_error);
    unproved{plain{any(top_k{2})}}.check_proof(10);
    // omega of quantize{1} on as many numbers is above 1: what top_k keeps may be lost again.
    CHECK_THROWS_AS(error_feedback{top_k{100} | quantize{1}}.check_proof(1000), theory_error);
}

TEST_CASE("a reduction's text has its arguments, and equal ones compare equal") {
    CHECK(to_string(plain{}) == "plain(identity)");
    CHECK(to_string(plain{rand_k{2}}) == "plain(rand_k(2))");
    CHECK(to_string(error_feedback{top_k{0.01}}) == "error_feedback(top_k(0.01))");
    CHECK(to_string(error_feedback{top_k{3}, 0.5, gtop_k{3}}) ==
          "error_feedback(top_k(3), decay=0.5, over=" + to_string(gtop_k{3}) + ")");
    CHECK(to_string(shifted{rand_k{2}}) == "shifted(rand_k(2))");
    CHECK(to_string(ef21_shift{top_k{2}}) == "ef21_shift(top_k(2))");
    CHECK(to_string(unproved{plain{top_k{2}}}) == "unproved(plain(top_k(2)))");
    CHECK(error_feedback{top_k{2}} == error_feedback{top_k{2}});
    CHECK(error_feedback{top_k{2}} != error_feedback{top_k{2}, 0.5});
    CHECK(unproved{plain{top_k{2}}} != unproved{plain{top_k{3}}});
}

// A collective without a default.
struct ring_of_mine {
    int size;
    explicit ring_of_mine(int n) : size(n) {}
    template <Scalar T, class B = host>
    auto make(std::size_t d, position_code positions = position_code::smallest) const {
        return make_sum<T, B>(ring{}, d, positions);
    }
    bool operator==(ring_of_mine const&) const = default;
    friend std::string to_string(ring_of_mine const& r) { return "mine" + std::to_string(r.size); }
};

TEST_CASE("a collective needs no default, and is in the text") {
    CHECK(to_string(plain{rand_k{2}, ring_of_mine{3}}) == "plain(rand_k(2), over=mine3)");
    CHECK(to_string(plain{rand_k{2}, ring{}}) == "plain(rand_k(2), over=ring)");
    CHECK(to_string(plain{rand_k{2}}) == "plain(rand_k(2))");
}
