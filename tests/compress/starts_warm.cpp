// SPDX-License-Identifier: Apache-2.0
// low_rank starts from what is given, and other compressors have no start, also where they are chosen at run time.
#include "laconic/compress/starts_warm.hpp"

#include "support/everything.hpp"

static_assert(detail::StartsWarm<low_rank<>, float, host> && detail::StartsWarm<any_compressor<float>, float, host>);
static_assert(!detail::StartsWarm<top_k<>, float, host>);

TEST_CASE("a message is made from a start where the compressor has one") {
    std::vector<double> x(24);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = key{1}.uniform(i) - 0.5;
    auto const next = [&](auto const& c, std::span<double const> start) {
        host on;
        detail::message_of<std::remove_cvref_t<decltype(c)>> m;
        detail::compress_from<double>(on, c, x, key{2}, start, m);
        auto const after = detail::start_after<double, host>(c, m);
        std::vector<double> sent(x.size());
        add_message(on, std::span(sent), 1.0, m);
        return std::pair(sent, std::vector<double>(after.begin(), after.end()));
    };
    low_rank<> const drawn{6, 2}, warm{6, 2, {}, true};
    auto const [first, start] = next(warm, {});
    CHECK(first == next(drawn, {}).first);
    CHECK(start.size() == 8);
    CHECK(next(warm, start).first != first);
    CHECK(next(warm, std::span(start).first(7)).first == first);  // of another shape
    CHECK(next(drawn, {}).second.empty());
    CHECK(next(top_k{3}, start) == next(top_k{3}, {}));
    CHECK(next(any_compressor<double>(warm), {}) == next(warm, {}));
    CHECK(next(any_compressor<double>(warm), start) == next(warm, start));
    CHECK(next(any_compressor<double>(top_k{3}), start) == next(top_k{3}, {}));
}
