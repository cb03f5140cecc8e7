// SPDX-License-Identifier: Apache-2.0
// Steps of single coordinates are those by hand and PyTorch's, and go on from a saved state.
// Also tests lion.hpp.
#include "laconic/optim/adam.hpp"

#include "laconic/backend/reference.hpp"
#include "support/everything.hpp"
#include "support/laws/known_steps.hpp"
#include "support/steps.hpp"

using vec = std::vector<double>;

static_assert(Step<adam<float>, float> && Step<rmsprop<float>, float> && Step<lion<float>, float>);
static_assert(detail::HasRateFunction<adam<>> && detail::HasRateFunction<lion<>>);

TEST_CASE("what steps remember is saved, and their numbers are their own") {
    steps::goes_on(adam<>(.1));
    steps::goes_on<float>(adam<float>({.rate = .1, .beta2 = .5, .amsgrad = true}));
    steps::goes_on(rmsprop<>(.5));
    steps::goes_on(lion<>(lion_options{.rate = .5, .weight_decay = .1}));
    CHECK(to_string(adam<>(.1)) == "adam(0.1)");
    CHECK(to_string(adam<>({.beta1 = .5, .weight_decay = .01, .decoupled = true, .bias_correction = false})) ==
          "adam(0.001, beta1=0.5, weight_decay=0.01, decoupled=yes, bias_correction=no)");
    CHECK(to_string(rmsprop<>{}) == "rmsprop(0.001, 0.9, 1e-10)");
    CHECK(to_string(lion<>()) == "lion(1e-04)");
    CHECK(rmsprop<>{0.25}.rate() == 0.25);
    CHECK(adam<>(.25).rate() == .25);
    CHECK(lion<>(.25).rate() == .25);
}

TEST_CASE("numbers that make no step are refused") {
    auto const refused = [](adam_options const& how, char const* why) {
        CHECK_THROWS_WITH_AS(adam<>{how}, why, argument_error);
    };
    refused({.beta1 = 1}, "adam: beta1 = 1 is outside [0, 1)");
    refused({.beta2 = -.1}, "adam: beta2 = -0.1 is outside [0, 1)");
    refused({.epsilon = 0}, "adam: epsilon = 0 is outside (0, oo)");
    CHECK_THROWS_AS(adam<float>({.epsilon = 1e-50}), argument_error);
    refused({.rate = -1}, "adam: rate = -1 is outside 0 .. 1e+300");
    refused({.weight_decay = NAN}, "adam: weight_decay = nan is outside 0 .. 1e+300");
    refused({.weight_decay = .1, .freeze_after = 1},
            "adam: with freeze_after a weight decay is decoupled, as d is a mean");
    auto const no_lion = [](lion_options const& how, char const* why) {
        CHECK_THROWS_WITH_AS(lion<>{how}, why, argument_error);
    };
    no_lion({.beta1 = 1}, "lion: beta1 = 1 is outside [0, 1)");
    no_lion({.beta2 = NAN}, "lion: beta2 = nan is outside [0, 1)");
    no_lion({.weight_decay = -1}, "lion: weight_decay = -1 is outside 0 .. 1e+300");
    for (double const decay : {-0.1, 1., std::nan("")}) CHECK_THROWS_AS(rmsprop<>(1, decay), argument_error);
    for (double const epsilon : {0., -1., std::nan("")}) CHECK_THROWS_AS(rmsprop<>(1, 0.9, epsilon), argument_error);
}

TEST_CASE_TEMPLATE("Adam, AdamW and AMSGrad come to PyTorch's numbers, FedAdam and Lion to those of their equations", B,
                   host, reference) {
    laws::known_adam_and_lion<B>();
}

// Where five steps lead from and along odd numbers.
template <class T, class S>
std::vector<T> odd_steps(S step, auto on) {
    std::vector<T> x(37), d(37);
    for (int t = 0; t < 5; ++t) {
        for (std::size_t j = 0; j < x.size(); ++j)
            d[j] = j % 9 == 4 ? T(0) : static_cast<T>(2 * key{3}.child(std::uint64_t(t)).uniform(j) - 1);
        step(on, std::span<T>(x), std::span<T>(d));
    }
    return x;
}
TEST_CASE_TEMPLATE("steps by vectors come to the bits of steps by numbers, in zeros and at the ends of x, too", T,
                   float, double) {
    auto const same = [](auto on_host, auto by_numbers) {
        CAPTURE(to_string(on_host));
        CHECK(odd_steps<T>(on_host, host{}) == odd_steps<T>(by_numbers, reference{}));
    };
    for (adam_options const& how : {adam_options{},
                                    {.rate = .1, .weight_decay = .1},
                                    {.rate = .1, .weight_decay = .1, .decoupled = true},
                                    {.amsgrad = true},
                                    {.bias_correction = false, .freeze_after = 2}})
        same(adam<T>(how), adam<T, reference>(how));
    same(rmsprop<T>(), rmsprop<T, reference>());
    lion_options const how{.rate = .1, .weight_decay = .1};
    same(lion<T>(how), lion<T, reference>(how));
}

TEST_CASE("in floats Adam's squares neither vanish nor overflow before those of PyTorch") {
    host on;
    adam<float> large(.1);
    std::vector<float> x{1};
    for (float const d : {1e20f, 1.f, 1.f}) large(on, std::span(x), std::span(std::vector{d}.data(), 1));
    CHECK(x[0] == doctest::Approx(.7812).epsilon(1e-3));      // v overflows where it is divided by 1 - beta2^3
    adam_options const slow{.rate = .1, .beta2 = .99999999};  // 1 in floats
    adam<float> narrow(slow);
    adam<> wide(slow);
    std::vector<float> y{1};
    vec z{1};
    for (int t = 0; t < 5; ++t) {
        narrow(on, std::span(y), std::span(std::vector{float(t) - 1}.data(), 1));
        wide(on, std::span(z), std::span(std::vector{double(t) - 1}.data(), 1));
        CHECK(y[0] == doctest::Approx(z[0]).epsilon(1e-5));
    }
}

TEST_CASE("with freeze_after d is m: the same steps as along the gradient until v stays as it is") {
    host on;
    auto const run = [&](adam_options how) {
        how.freeze_after = 0;
        adam<> along_gradient(how);
        how.freeze_after = 3;
        adam<> along_mean(how);
        vec x{1, -2}, y = x, m(2), v;
        for (int t = 0; t < 5; ++t) {
            vec g{.5 * y[0] + t, y[1] - 1}, d = g;
            for (std::size_t j = 0; j < 2; ++j) m[j] = d[j] = how.beta1 * m[j] + (1 - how.beta1) * g[j];
            along_mean(on, std::span(y), std::span(d));
            if (t < 3) {
                along_gradient(on, std::span(x), std::span(g));
                for (std::size_t j = 0; j < 2; ++j) CHECK(y[j] == doctest::Approx(x[j]).epsilon(1e-13));
                v.assign(along_mean.square().begin(), along_mean.square().end());
            } else {
                CHECK(std::ranges::equal(along_mean.square(), v));
                double const last = how.bias_correction ? 1 - std::pow(how.beta2, 3) : 1,
                             first = how.bias_correction ? 1 - std::pow(how.beta1, t + 1) : 1;
                for (std::size_t j = 0; j < 2; ++j) {
                    x[j] *= how.decoupled ? 1 - how.rate * how.weight_decay : 1;
                    x[j] -= how.rate * m[j] / first / (std::sqrt(v[j] / last) + how.epsilon);
                    CHECK(y[j] == doctest::Approx(x[j]).epsilon(1e-13));
                }
            }
        }
    };
    run({.rate = .1});
    run({.rate = .1, .weight_decay = .1, .decoupled = true, .bias_correction = false});
    steps::goes_on(adam<>({.rate = .1, .freeze_after = 2}));
    CHECK(to_string(adam<>({.bias_correction = false, .freeze_after = 7})) ==
          "adam(0.001, bias_correction=no, freeze_after=7)");
}

TEST_CASE("gradients of zero move nothing but by the weight decay, and NaN does not get lost") {
    host on;
    auto const moved = [&](auto step, double gradient) {
        vec x{1}, d{gradient};
        step(on, std::span(x), std::span(d));
        return x[0];
    };
    CHECK(moved(adam<>(.5), 0) == 1);
    CHECK(moved(adam<>({.rate = .5, .amsgrad = true, .bias_correction = false}), 0) == 1);
    CHECK(moved(adam<>({.rate = .5, .weight_decay = .5, .decoupled = true}), 0) == .75);
    CHECK(moved(lion<>(.5), 0) == 1);
    CHECK(moved(lion<>({.rate = .5, .weight_decay = .5}), 0) == .75);
    CHECK(moved(lion<>(.5), 1e-300) == .5);
    CHECK(std::isnan(moved(adam<>(.5), NAN)));
    CHECK(std::isnan(moved(lion<>(.5), NAN)));
}

TEST_CASE("adam: two steps by hand") {
    host on;
    adam<> step({.rate = .5, .beta1 = .5, .beta2 = .75, .epsilon = 1});
    vec x{0, 1}, d{4, -2};
    step(on, std::span(x), std::span(d));
    // m = (2, -1), v = (4, 1); corrected they are (4, -2) and (16, 4).
    CHECK(x[0] == doctest::Approx(-.5 * 4 / (4 + 1)));
    CHECK(x[1] == doctest::Approx(1 + .5 * 2 / (2 + 1)));
    d = {0, 2};
    auto const before = x;
    step(on, std::span(x), std::span(d));
    // m = (1, 0.5), v = (3, 1.75); the corrections are 3/4 and 7/16.
    CHECK(x[0] - before[0] == doctest::Approx(-.5 * (1 / .75) / (std::sqrt(3 * 16 / 7.) + 1)));
    CHECK(x[1] - before[1] == doctest::Approx(-.5 * (.5 / .75) / (std::sqrt(1.75 * 16 / 7.) + 1)));
    CHECK(step.mean()[1] == .5);
    CHECK(step.square()[0] == 3);
}

TEST_CASE("adam: the first step moves each coordinate by about the rate, whatever the scale of the gradient") {
    host on;
    adam<float> step(.01);
    std::vector<float> x{1, 1, 1}, d{1e-3f, -1e4f, 0};
    step(on, std::span(x), std::span(d));
    CHECK(x[0] == doctest::Approx(.99));
    CHECK(x[1] == doctest::Approx(1.01));
    CHECK(x[2] == 1);
}

TEST_CASE("rmsprop: two steps by hand") {
    host on;
    rmsprop<> step(0.5, 0.75, 1e-10);
    vec x{0, 8, 1}, d{2, -1, 0};
    step(on, std::span(x), std::span(d));  // s = (1.75, 1, 0.75)
    CHECK(x[0] == doctest::Approx(-1 / std::sqrt(1.75)).epsilon(1e-9));
    CHECK(x[1] == doctest::Approx(8.5).epsilon(1e-9));
    CHECK(x[2] == 1);
    CHECK(vec(step.square().begin(), step.square().end()) == vec{1.75, 1, 0.75});
    d = {0, 3, 0};
    step(on, std::span(x), std::span(d));  // s = (1.3125, 3, 0.5625)
    CHECK(x[0] == doctest::Approx(-1 / std::sqrt(1.75)).epsilon(1e-9));
    CHECK(x[1] == doctest::Approx(8.5 - 1.5 / std::sqrt(3.)).epsilon(1e-9));
}

TEST_CASE("rmsprop: epsilon stands below the root") {
    host on;
    rmsprop<> step(1, 0, 3);
    vec x{0}, d{1};
    step(on, std::span(x), std::span(d));
    CHECK(x[0] == -0.5);
}
