// SPDX-License-Identifier: Apache-2.0
// A rank that sends arrays which do not fit is an error on all ranks, and the next round succeeds.
#include "laconic/transport/message_arrays.hpp"

#include "laconic/compress/identity.hpp"
#include "laconic/compress/identity_or.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/signs.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/transport/rank_messages.hpp"
#include "support/on_device.hpp"
#include "support/test.hpp"

namespace tests_of_lying_ranks {

// Ranks that send something else than they should, over the stand-in.

using namespace laconic;

namespace {

constexpr std::size_t d = 60;

std::vector<float> numbers_of(int rank, std::size_t n = d) {
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = float(int(i * 7 % 31) - 15) * float(rank + 1);
    return x;
}
device::array<float> on_the_device(device& on, std::vector<float> const& x) {
    device::array<float> there(x.size());
    copy_from_host(on, std::span<float const>(x), std::span<float>(there));
    return there;
}

// The errors of the ranks where the last one sends what send_wrong(comm, on, arrays, message) does, for x. Then a good
// round, whose mean must be the one over the host.
template <class C, class SendWrong>
std::vector<std::string> errors_with(int ranks, C const& compressor, SendWrong send_wrong) {
    using message = detail::message_of<C, float, device>;
    std::vector<std::string> errors(std::size_t(ranks), "none");
    std::vector<std::vector<float>> means(static_cast<std::size_t>(ranks));
    std::vector<int> used(static_cast<std::size_t>(ranks));  // messages of the wrong round
    on_device::run(ranks, [&](nccl& comm, device& on) {
        auto const me = std::size_t(comm.rank());
        bool const is_wrong = comm.rank() + 1 == ranks;
        detail::message_arrays<message, device> arrays;
        device::array<float> out(d);
        auto const blank = [&](device& b, int, message& m) { return compressor.blank(b, d, key{1}, m), compressor; };
        auto const x = on_the_device(on, numbers_of(comm.rank()));
        message mine;
        compressor(on, std::span<float const>(x), key{1}, mine);
        try {
            if (is_wrong)
                send_wrong(comm, on, arrays, mine);
            else
                arrays.send(on, comm, mine);
            arrays.receive(on, comm, comm, blank, d, [&](int, message const&) { used[me] += 1; });
        } catch (wire_error const& e) {
            errors[me] = e.why;
        }
        compressor(on, std::span<float const>(x), key{1}, mine);
        arrays.send(on, comm, mine);
        fill(on, std::span<float>(out), 0.0f);
        arrays.receive(on, comm, comm, blank, d, [&](int, auto const& m) {
            add_message(on, std::span<float>(out), 1.0f / static_cast<float>(ranks), m);
        });
        means[me].resize(d);
        copy_to_host(on, std::span<float const>(out), std::span<float>(means[me]));
    });
    host cpu;
    std::vector<float> mean(d);
    for (int r = 0; r < ranks; ++r) {
        detail::message_of<C, float, host> m;
        auto const x = numbers_of(r);
        compressor(cpu, std::span<float const>(x), key{1}, m);
        add_message(cpu, std::span<float>(mean), 1 / float(ranks), m);
    }
    for (auto const& each : means) CHECK(each == mean);
    CHECK(used == std::vector<int>(used.size()));
    return errors;
}

std::vector<std::string> same_on_all(int ranks, std::string const& why) {
    return std::vector<std::string>(std::size_t(ranks), "from rank " + std::to_string(ranks - 1) + ": " + why);
}
// The message is changed before it is sent.
template <class C, class Change>
void is_refused(C const& compressor, std::string const& why, Change change) {
    for (int const n : nccl_ranks::counts()) {
        CAPTURE(n);
        auto const send_wrong = [&](auto& comm, auto& on, auto& arrays, auto& m) {
            change(m);
            arrays.send(on, comm, m);
        };
        CHECK(errors_with(n, compressor, send_wrong) == same_on_all(n, why));
    }
}
// The outline is changed on its way.
template <class C, class Change>
void is_refused_as_bytes(C const& compressor, std::string const& why, Change change) {
    for (int const n : nccl_ranks::counts()) {
        CAPTURE(n);
        auto const send_wrong = [&](auto& comm, auto& on, auto&, auto& m) {
            std::vector<std::byte> outline;
            auto const value = [&](auto const& v) {
                auto const bytes = std::as_bytes(std::span(&v, 1));
                outline.insert(outline.end(), bytes.begin(), bytes.end());
            };
            auto const array = [&](auto const& a) { value(std::uint64_t{a.size()}); };
            detail::walk(std::as_const(m), value, array);
            change(outline);
            comm.require_stream_of(on);
            comm.all_gather({outline, false});
        };
        CHECK(errors_with(n, compressor, send_wrong) == same_on_all(n, why));
    }
}
void set_last_word(std::vector<std::byte>& outline, std::uint64_t n) {
    std::memcpy(outline.data() + outline.size() - sizeof n, &n, sizeof n);
}

constexpr char const* other_lengths = "arrays of other lengths than such a message has";
constexpr char const* too_long = "an array longer than the vector";

}  // namespace

TEST_CASE("a rank whose arrays have other lengths: all throw, nothing is allocated, and the next round succeeds") {
    for (auto const n : {std::uint64_t{d + 1}, std::uint64_t{1} << 31, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
        CAPTURE(n);
        is_refused_as_bytes(identity{}, too_long, [n](auto& outline) { set_last_word(outline, n); });
        is_refused_as_bytes(top_k{6}, too_long, [n](auto& outline) { set_last_word(outline, n); });
        is_refused_as_bytes(threshold{1.5}, too_long, [n](auto& outline) { set_last_word(outline, n); });
        is_refused_as_bytes(quantize{3, 20}, too_long, [n](auto& outline) { set_last_word(outline, n); });
    }
    is_refused_as_bytes(identity{}, other_lengths, [](auto& outline) { set_last_word(outline, d - 1); });
    is_refused_as_bytes(top_k{6}, other_lengths, [](auto& outline) { set_last_word(outline, 7); });
    is_refused_as_bytes(scaled_sign{}, other_lengths, [](auto& outline) { set_last_word(outline, 0); });
}

TEST_CASE("a rank whose message is about another vector, or makes no sense") {
    is_refused(identity{}, too_long, [](auto& m) { m.values.resize(d + 1); });
    is_refused(identity{}, other_lengths, [](auto& m) { m.values.resize(0); });
    is_refused(top_k{6}, other_lengths, [](auto& m) { m.length = d + 1; });
    is_refused(top_k{6}, other_lengths, [](auto& m) { m.support.resize(5); });
    is_refused(top_k{6} | quantize{7}, other_lengths, [](auto& m) { m.payload.codes.resize(5); });
    is_refused(quantize{3, 20}, other_lengths, [](auto& m) { m.bucket = 0; });
    is_refused(quantize{3, 20}, other_lengths, [](auto& m) { m.bucket = 7; });
    is_refused(quantize{3, 20}, other_lengths, [](auto& m) { m.steps.resize(2); });
    is_refused(scaled_sign{}, other_lengths, [](auto& m) { m.count = std::size_t{1} << 40; });
    is_refused(scaled_sign{}, other_lengths, [](auto& m) { m.bucket = 1; });
}

TEST_CASE("a rank whose outline is cut, goes on, or holds neither true nor false") {
    is_refused_as_bytes(identity{}, "the outline of a message ends too early",
                        [](auto& outline) { outline.pop_back(); });
    is_refused_as_bytes(top_k{6}, "the outline of a message ends too early", [](auto& outline) { outline.clear(); });
    is_refused_as_bytes(identity{}, "the outline of a message goes on where it should end",
                        [](auto& outline) { outline.push_back({}); });
    is_refused_as_bytes(identity_or<top_k<>>{top_k{6}}, "the outline of a message has no truth value",
                        [](auto& outline) { outline[0] = std::byte{2}; });
}

TEST_CASE("ranks that disagree about d are refused on all of them") {
    for (int const n : nccl_ranks::counts(2)) {
        auto const errors = nccl_ranks::errors_on(n, [&](nccl& comm) {
            auto on = on_device::made_for(comm.stream());
            std::size_t const own = comm.rank() == 0 ? d + 1 : d;
            auto const x = on_the_device(on, numbers_of(comm.rank(), own));
            detail::message_of<top_k<>, float, device> mine;
            detail::message_arrays<decltype(mine), device> arrays;
            top_k{6}(on, std::span<float const>(x), key{1}, mine);
            arrays.send(on, comm, mine);
            auto const blank = [&](device& b, int, auto& m) { return top_k{6}.blank(b, own, key{1}, m), top_k{6}; };
            arrays.receive(on, comm, comm, blank, own, [](int, auto const&) {});
        });
        // Each names the first whose vector is not its own.
        for (int r = 0; r < n; ++r)
            CHECK(errors[std::size_t(r)].find("from rank " + std::to_string(r == 0 ? 1 : 0) + ": " + other_lengths) !=
                  std::string::npos);
    }
}

}  // namespace tests_of_lying_ranks
