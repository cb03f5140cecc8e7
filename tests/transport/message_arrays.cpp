// SPDX-License-Identifier: Apache-2.0
// `walk` visits every value and array that a message sends, and no other.
#include "laconic/transport/message_arrays.hpp"

#include "support/everything.hpp"

// What walks over messages, on the host; summed_on_device.cpp and nccl/lying_ranks.cpp have the ranks.

struct found {
    std::size_t values = 0, arrays = 0, bytes = 0;
    bool operator==(found const&) const = default;
};
template <class M>
found all_of(M const& m) {
    found f;
    auto const value = [&](auto const&) { ++f.values; };
    auto const array = [&](auto const& a) {
        ++f.arrays;
        f.bytes += detail::bytes_of(a).size();
    };
    detail::walk(m, value, array);
    return f;
}
template <class C>
auto sent(C const& compressor, std::vector<float> const& x) {
    host on;
    typename C::template message<float, host> m;
    compressor(on, std::span<float const>(x), key{3}, m);
    return m;
}

TEST_CASE("a walk comes to all that a message sends, and to no more") {
    std::vector<float> x(100, 1);
    CHECK(all_of(sent(identity{}, x)) == found{0, 1, 400});
    CHECK(all_of(sent(top_k{7}, x)) == found{4, 2, 28 + 28});
    CHECK(all_of(sent(top_k{7} | quantize{3}, x)).arrays == 4);
    CHECK(all_of(sent(rand_k{7}, x)) == found{0, 1, 28});  // the places are drawn at both ends
    messages::either<detail::message_of<identity, float, host>, detail::message_of<top_k<>, float, host>> one{
        true, sent(identity{}, x), sent(top_k{7}, x)};
    CHECK(all_of(one) == found{1, 1, 400});
    one.is_first = false;
    CHECK(all_of(one) == found{5, 2, 56});
}

// Messages that are known at run time only are not made of arrays, nor are those with one inside.
static_assert(detail::is_made_of_arrays<detail::message_of<top_k<quantize>, float, host>>());
static_assert(detail::is_made_of_arrays<detail::message_of<rand_k<natural>, float, host>>());
static_assert(!detail::is_made_of_arrays<any_message<float, host>>());
static_assert(!detail::is_made_of_arrays<detail::message_of<top_k<any_compressor<float>>, float, host>>());
static_assert(!detail::CarriesMessages<threads::member, detail::message_of<top_k<>, float, host>, host>);
