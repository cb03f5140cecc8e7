// SPDX-License-Identifier: Apache-2.0
// Each kind of message goes to another backend and comes back equal, whatever the receiver held before.
#include "laconic/message/copy_message.hpp"

#include "support/apart.hpp"
#include "support/everything.hpp"
#include "support/laws/messages.hpp"

using laconic_test::apart;

// The message that c makes about x goes to B and from there to a message that held another.
template <class B, class C>
void goes_and_returns(C const& c) {
    CAPTURE(to_string(c));
    using message = detail::message_of<C, float>;
    static_assert(std::is_same_v<moved_to<B, message>, detail::message_of<C, float, B>>);
    static_assert(std::is_same_v<moved_to<host, detail::message_of<C, float, B>>, message>);
    host here;
    B there;
    for (std::size_t const d : {12u, 36u, 6u}) {  // also where there is less and more room
        auto const x = laws::noise<float>(d, d, 2), other = laws::noise<float>(d + 6, d);
        message m, back;
        c(here, std::span<float const>(x), key{1}, m);
        if (d != 12) c(here, std::span<float const>(other), key{2}, back);
        detail::message_of<C, float, B> moved;
        copy_message(here, m, there, moved);
        copy_message(there, moved, here, back);
        CHECK(back == m);
        CHECK(back.dimension() == d);
        CHECK(laws::written(back) == laws::written(m));
        CHECK(laws::decoded<message, float>(back) == laws::decoded<message, float>(m));
    }
}

TEST_CASE_TEMPLATE("each kind of message goes to another backend and comes back as it was", B, host, reference, apart) {
    goes_and_returns<B>(identity{});
    goes_and_returns<B>(quantize{3, 5});
    goes_and_returns<B>(natural_dithering{3, 5});
    goes_and_returns<B>(natural{});
    goes_and_returns<B>(fp16{});
    goes_and_returns<B>(scaled_sign{5});
    goes_and_returns<B>(two_means{5});
    goes_and_returns<B>(uniform<>{3, 5});
    goes_and_returns<B>(low_rank<>{2, 1});
    goes_and_returns<B>(top_k{3});
    goes_and_returns<B>(rand_block{2, 5} | natural{});
    goes_and_returns<B>(scaled_down{quantize{1}});
    goes_and_returns<B>(best_level{top_k{1}});
    goes_and_returns<B>(identity_or{scaled_sign{}, true});
    goes_and_returns<B>(identity_or{scaled_sign{}, false});
}

TEST_CASE("parts go as well, however many there were") {
    host here;
    apart there;
    using pieces = parts<top_k<>>;
    auto const x = laws::noise<float>(6, 1);
    detail::message_of<pieces, float> m, back;
    pieces{{4, {2}}, {2, {1}}}(here, std::span<float const>(x), key{1}, m);
    pieces{{6, {2}}}(here, std::span<float const>(x), key{1}, back);
    detail::message_of<pieces, float, apart> moved;
    copy_message(here, m, there, moved);
    copy_message(there, moved, here, back);
    CHECK(back == m);
    CHECK(back.each.size() == 2);
}
