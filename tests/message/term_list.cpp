// SPDX-License-Identifier: Apache-2.0
#include "laconic/message/term_list.hpp"

#include <doctest/doctest.h>

#include <span>
#include <utility>
#include <vector>

#include "laconic/any/compressor.hpp"
#include "laconic/backend/host.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/top_k.hpp"

using namespace laconic;

namespace {

TEST_CASE("a list takes terms up to its length, refuses more without any of them, and is added term by term") {
    using list = detail::term_list<float>;
    messages::term<float> const terms[] = {{0, 1}, {2, 2}, {2, 4}};
    auto const first_of = [&](std::size_t n) { return list::view{std::span(terms).first(n)}; };
    auto const three = first_of(3);
    list all(5);
    CHECK(all.append(three));
    CHECK_FALSE(all.append(three));
    CHECK(all.terms().size() == 3);
    CHECK(all.append(first_of(2)));
    CHECK_FALSE(all.append(first_of(1)));
    host on;
    std::vector<float> x{8, 8, 8, 8};
    add_terms(on, std::span(x), 0.5f, all.terms());
    CHECK(x == std::vector<float>{9, 8, 12, 8});
    all.clear();
    CHECK(all.terms().size() == 0);
    CHECK(all.append(three));
    list none(0);
    CHECK(none.append(first_of(0)));
    CHECK_FALSE(none.append(first_of(1)));
}

TEST_CASE("a list is written out as zeros to which its terms are added, each coordinate's in the order of messages") {
    using list = detail::term_list<float>;
    host on;
    constexpr std::size_t d = 100'000;  // several blocks, and a part of one
    for (bool const ascending : {true, false}) {
        list all(d);
        std::vector<float> expected(d), x(d, 7.0f);
        for (std::size_t m = 0; m < 4; ++m) {
            std::vector<messages::term<float>> terms;
            for (std::size_t i = m == 2 ? d : 0; i < d; i += 1 + key{m}.word(i) % 40)  // the third has none
                terms.push_back({static_cast<coordinate>(i), static_cast<float>(key{m}.uniform(i) - 0.5)});
            if (m != 2) terms.push_back({static_cast<coordinate>(d - 1), 1e6f});  // rounds what came before
            if (!ascending && m == 1) std::swap(terms[0], terms[terms.size() / 2]);
            REQUIRE(all.append(list::view{std::span<messages::term<float> const>(terms)}));
            add_terms(on, std::span(expected), 0.3f, list::view{std::span<messages::term<float> const>(terms)});
        }
        all.write_out(on, std::span(x), 0.3f);
        CHECK(x == expected);
        all.write_out(on, std::span(x), 0.3f);  // again
        CHECK(x == expected);
    }
    list none(0);
    std::vector<float> x{1, 2};
    none.write_out(on, std::span(x), 1.0f);
    CHECK(x == std::vector<float>{0, 0});
    none.write_out(on, std::span<float>(), 1.0f);
}

TEST_CASE("a message whose kind is chosen at run time appends its terms where it lists some of the coordinates") {
    host on;
    std::vector<float> const x{1, -3, 2, 0};
    auto const appended = [&](any_compressor<float> const& c, std::size_t most) {
        any_message<float, host> m;
        detail::term_list<float> list(most);
        bool const none_yet = append_terms(on, list, m);
        CHECK_FALSE(none_yet);
        c(on, std::span<float const>(x), key{1}, m);
        return append_terms(on, list, m) ? list.terms().size() : std::size_t{99};
    };
    CHECK(appended(top_k{2}, 2) == 2);
    CHECK(appended(top_k{2}, 1) == 99);
    CHECK(appended(identity{}, 10) == 99);
    CHECK(appended(top_k{2} | any_compressor<float>(quantize{7}), 2) == 2);
    CHECK(appended(top_k{2} | any_compressor<float>(quantize{7}), 1) == 99);
}

}  // namespace
