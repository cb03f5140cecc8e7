// SPDX-License-Identifier: Apache-2.0
// A user's own compressor keeps the laws in pipes, and every compressor refuses more than 2^32 - 1 numbers.
#include "laconic/compress/compressor.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"
#include "support/laws/pipelines.hpp"

namespace {

// What a user needs to write for a compressor of his own: scaled signs, as a message of a kind that is there.
struct mean_sign {
    template <Scalar T, class B>
    using message = messages::full_vector<T, B>;

    void check(std::size_t) const {}
    template <class B, Scalar T>
    void blank(B&, std::size_t d, key, messages::full_vector<T, B>& m) const {
        m.values.resize(d);
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key, messages::full_vector<T, B>& m) const {
        T const mean = x.empty() ? T(0) : static_cast<T>(sum_of_magnitudes(on, x) / static_cast<double>(x.size()));
        m.values.assign(x.begin(), x.end());
        for (T& v : m.values) v = v < 0 ? -mean : mean;
    }
    double delta(std::size_t d) const { return 1 / static_cast<double>(d); }
    bool operator==(mean_sign const&) const = default;
    friend std::string to_string(mean_sign) { return "mean_sign"; }
};

struct no_blank {
    template <Scalar T, class B>
    using message = messages::full_vector<T, B>;
    void check(std::size_t) const {}
    template <class B, Scalar T>
    void operator()(B&, std::span<T const>, key, messages::full_vector<T, B>&) const {}
    bool operator==(no_blank const&) const = default;
    [[maybe_unused]] friend std::string to_string(no_blank) { return "no_blank"; }
};

}  // namespace

template <>
inline constexpr bool laws::is_written<mean_sign> = false;
template <>
inline constexpr bool laws::is_written<top_k<mean_sign>> = false;

static_assert(Compressor<mean_sign> && Compressor<mean_sign, float> && Contractive<mean_sign> && !Unbiased<mean_sign>);
static_assert(!Compressor<no_blank> && !Compressor<int> && !Compressor<void> && !Compressor<identity, int>);

TEST_CASE("a compressor of one's own keeps the laws and goes into pipes") {
    laws::is_a_pure_function_with_one_encoding(mean_sign{});
    laws::is_contractive(mean_sign{});
    auto const both = top_k{2} | mean_sign{};
    CHECK(to_string(both) == "top_k(2) | mean_sign");
    CHECK(both.delta(10) == doctest::Approx(0.1));
    std::vector<double> const x{1, -5, 3, 0};
    CHECK(laws::received(both, x, key{1}) == std::vector<double>{0, -4, 4, 0});
}

TEST_CASE("compress takes anything contiguous") {
    std::vector<double> const v{3, -4};
    std::array<double, 2> const a{3, -4};
    Eigen::VectorXd const e = Eigen::Map<Eigen::VectorXd const>(v.data(), 2);
    auto const m = compress(quantize{4}, v, key{5});
    CHECK(compress(quantize{4}, a, key{5}) == m);
    CHECK(compress(quantize{4}, e, key{5}) == m);
    CHECK(compress(quantize{4}, std::span<double const>(v), key{5}) == m);
    std::vector<double> changing = v;
    CHECK(compress(quantize{4}, std::span<double>(changing), key{5}) == m);
    std::vector<float> const f{3, -4};
    static_assert(std::same_as<decltype(compress(quantize{4}, f, key{5})), messages::quantized<float, host>>);
    CHECK(compress(identity{}, f, key{5}).values == f);
}

TEST_CASE("compress checks the parameters against the vector") {
    std::vector<double> const x{1, 2, 3};
    CHECK_THROWS_WITH_AS(compress(top_k{4}, x, key{1}), doctest::Contains("k = 4 is above the dimension d = 3"),
                         argument_error);
    CHECK_THROWS_AS(compress(quantize{0}, x, key{1}), argument_error);
}

namespace {

// There is one number: a look at another, or at as much memory as a message would take, is seen.
template <class T, class C>
void refuses_more_than_2_to_the_32(C const& c) {
    CAPTURE(to_string(c));
    static T const number = 1;
    host on;
    for (std::uint64_t const d : {std::uint64_t{1} << 32, (std::uint64_t{1} << 32) + 9, std::uint64_t{1} << 60}) {
        std::span<T const> const x(&number, d);
        detail::message_of<C, T, host> m;
        CHECK_THROWS_WITH_AS(c(on, x, key{1}, m), doctest::Contains("more than 2^32 - 1 dimensions"), argument_error);
        CHECK_THROWS_WITH_AS(c.blank(on, d, key{1}, m), doctest::Contains("more than 2^32 - 1 dimensions"),
                             argument_error);
        CHECK_THROWS_WITH_AS(compress(c, x, key{1}), doctest::Contains("more than 2^32 - 1 dimensions"),
                             argument_error);
    }
}

}  // namespace

TEST_CASE_TEMPLATE("every compressor refuses more than 2^32 - 1 numbers, before it reads one", T, float, double) {
    laws::each_pipeline<T>([](auto const& c) { refuses_more_than_2_to_the_32<T>(c); });
    refuses_more_than_2_to_the_32<T>(parse_compressor<T>("parts(4294967295, scaled_sign, 4294967295, identity)"));
    refuses_more_than_2_to_the_32<T>(one_of<top_k<>, top_k<scaled_sign>>{});
    refuses_more_than_2_to_the_32<T>(identity_or<scaled_sign>{});
}
