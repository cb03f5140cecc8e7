// SPDX-License-Identifier: Apache-2.0
// A message of any type adds the numbers of its transform and turns them back, where it has one, and clears what it has
// of another vector; any/compressor.cpp has the rest.
#include "laconic/any/message.hpp"

#include "laconic/compress/transforms.hpp"
#include "support/everything.hpp"

TEST_CASE("the numbers of a transform that all ranks have alike are added as they are, and turned back") {
    host on;
    std::vector<double> const x{4, -3, 2, 8, 1, 0, -5, 7};
    auto const decoded = [&](auto const& compressor, bool turns) {
        CAPTURE(to_string(compressor));
        using message = detail::message_of<std::decay_t<decltype(compressor)>, double>;
        any_message<double, host> any;
        std::vector<double> none(x.size());
        any.add_unturned(on, none, 1), any.turn_back(on, none);
        CHECK(none == std::vector<double>(x.size()));
        compressor(on, std::span<double const>(x), key{3}, any.as<message>());
        std::vector<double> right(x.size()), y(x.size(), 1);
        add_message(on, std::span<double>(right), 1., any);
        any.add_unturned(on, y, 1);
        for (double& v : y) v -= 1;
        bool const turned = !(y == right);
        CHECK(turned == turns);
        any.turn_back(on, y);
        for (std::size_t j = 0; j < x.size(); ++j) CHECK(y[j] == doctest::Approx(right[j]).epsilon(1e-12));
        auto left = x;
        messages::clear_sent(on, std::span(left), std::span(none), any);
        for (std::size_t j = 0; j < x.size(); ++j) CHECK(left[j] == doctest::Approx(x[j] - right[j]).epsilon(1e-12));
    };
    decoded(dct<>{4} | top_k{3}, true);
    decoded(top_k{3}, false);
    decoded(hadamard<>{8} | top_k{3}, false);
}
