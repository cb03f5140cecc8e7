// SPDX-License-Identifier: Apache-2.0
// The checks of compressors' laws, compiled once: a compressor sends the same bytes on both backends.
#include "support/laws/compressor.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "named.hpp"
#include "support/laws/definitions.hpp"

namespace laws {

namespace {

template <class M>
std::span<std::byte const> written_to(laconic::wire::bit_writer& sink, M const& m) {
    sink.clear();
    write(sink, m);
    return sink.finish();
}

// Messages of a compressor, once both backends have encoded the same.
template <class T>
class checked_messages {
  public:
    using message = laconic::any_message<T, host>;

    explicit checked_messages(forms<T> const& c) : compressor_(c) {}

    message const& operator()(std::vector<T> const& x, key from) {
        std::span<T const> const v(x);
        compressor_.host(on_, v, from, message_);
        compressor_.defined(defined_on_, v, from, definition_);
        auto const encoded = written_to(sink_, message_), other = written_to(other_, definition_);
        if (!std::equal(encoded.begin(), encoded.end(), other.begin(), other.end()))
            FAIL(to_string(compressor_.host) << ": the reference backend encodes other bytes");
        return message_;
    }
    host& on() { return on_; }

  private:
    forms<T> const& compressor_;
    host on_;
    reference defined_on_;
    message message_;
    laconic::any_message<T, reference> definition_;
    laconic::wire::bit_writer sink_, other_;
};

// The bytes and the numbers of one message, whose laws hold.
template <class T, class B>
std::pair<bytes, std::vector<T>> lawful(laconic::any_compressor<T, B> const& c, std::vector<T> const& x,
                                        std::vector<T> const& other, key from) {
    std::pair<bytes, std::vector<T>> all;
    CHECK(laconic::compressor_laws::check_message<T, B>(c, x, other, from, all.first, all.second) == "");
    return all;
}

}  // namespace

template <class T>
laconic::any_compressor<T> as_written(std::string const& text) {
    auto c = laconic::parse_compressor<T>(text);
    if (to_string(c) != text) FAIL(text << " is read as " << to_string(c));
    return c;
}
template <class T>
definition<T> as_defined(std::string const& text) {
    auto c = laconic::parse_compressor<T, reference>(text);
    if (to_string(c) != text) FAIL(text << " is read as " << to_string(c));
    return c;
}

template <class T>
bytes encoded_by(definition<T> const& c, std::vector<T> const& x, key from) {
    return written(laconic::compress(c, x, from, reference{}));
}

template <class T>
void obeys_the_laws(same<forms<T>> const& c, std::vector<T> const& x, std::vector<T> const& other, key from) {
    CAPTURE(to_string(c.host));
    CAPTURE(x.size());
    CHECK(lawful(c.host, x, other, from) == lawful(c.defined, x, other, from));
}

template <class T>
moments moments_of(same<forms<T>> const& c, std::vector<T> const& x, int n, key seed) {
    moments r(x.size(), n);
    checked_messages<T> message_about(c);
    std::vector<T> out(x.size());
    for (int t = 0; t < n; ++t) {
        auto const& m = message_about(x, seed.child(static_cast<std::uint64_t>(t)));
        std::fill(out.begin(), out.end(), T(0));
        add_message(message_about.on(), std::span<T>(out), T(1), m);
        r.add(x, out);
    }
    r.finish();
    return r;
}

template <class T>
moments has_mean(same<forms<T>> const& c, std::vector<T> const& x, key seed, int n) {
    CAPTURE(to_string(c.host));
    CAPTURE(x.size());
    auto m = moments_of(c, x, n, seed);
    CHECK(laconic::compressor_laws::mean_violation(m, x) == "");
    return m;
}

template <class T>
void is_unbiased_about(same<forms<T>> const& c, std::vector<T> const& x, key seed, int n) {
    auto const m = has_mean(c, x, seed, n);
    CAPTURE(to_string(c.host));
    CAPTURE(x.size());
    double const omega = c.host.omega(x.size());
    CHECK(c.defined.omega(x.size()) == omega);
    CHECK(laconic::compressor_laws::omega_violation(m, x, omega) == "");
}

template <class T>
exact_moments moments_by_values(same<forms<T>> const& c, std::vector<T> const& x, int keys) {
    std::vector<double> low(x.size(), std::numeric_limits<double>::infinity()), high(x.size(), -low.front());
    checked_messages<T> message_about(c);
    for (int t = 0; t < keys; ++t) {
        auto const v =
            decoded<laconic::any_message<T, host>, T>(message_about(x, key{31}.child(static_cast<std::uint64_t>(t))));
        for (std::size_t i = 0; i < x.size(); ++i) {
            low[i] = std::min(low[i], static_cast<double>(v[i]));
            high[i] = std::max(high[i], static_cast<double>(v[i]));
            REQUIRE((v[i] == low[i] || v[i] == high[i]));
        }
    }
    exact_moments r;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const v = static_cast<double>(x[i]);
        if (low[i] == high[i]) {
            CHECK(low[i] == doctest::Approx(v));
            r.nonzeros += low[i] != 0;
        } else {
            double const up = (v - low[i]) / (high[i] - low[i]);
            CHECK(up >= 0);
            CHECK(up <= 1);
            r.variance += (high[i] - v) * (v - low[i]);
            r.nonzeros += (high[i] != 0) * up + (low[i] != 0) * (1 - up);
        }
    }
    return r;
}

// Whether both backends take such a message, or neither does; what is wrong otherwise is a failure of the test.
template <class T>
bool accepted_by_both(forms<T> const& c, std::size_t d, key from, std::span<std::byte const> encoded) {
    bool accepted = false, by_definition = false;
    auto const trouble = violation<T>(c.host, d, from, encoded, accepted);
    if (trouble != "") FAIL_CHECK("the host: " << trouble);
    auto const theirs = violation<T, reference>(c.defined, d, from, encoded, by_definition);
    if (theirs != "") FAIL_CHECK("the reference: " << theirs);
    if (accepted != by_definition) FAIL_CHECK("one backend takes it, the other does not");
    return accepted;
}

template <class T>
std::size_t survives_small_changes(same<forms<T>> const& c, std::vector<T> const& x, key from) {
    CAPTURE(to_string(c.host));
    CAPTURE(x.size());
    checked_messages<T> message_about(c);
    auto const& m = message_about(x, from);
    std::size_t passed = 0;
    CHECK(laconic::compressor_laws::changes_violation(
              written(m), account(m).unpadded(),
              [&](std::span<std::byte const> changed) { return accepted_by_both(c, x.size(), from, changed); },
              passed) == "");
    return passed;
}

template <class T>
void is_a_pure_function(forms<T> const& c) {
    auto const all = vectors<T>();
    for (std::size_t i = 0; i < all.size(); ++i) obeys_the_laws(c, all[i], all[(i + 1) % all.size()], key{100 + i});
}

template <class T>
void is_unbiased_for_all(forms<T> const& c, std::uint64_t seed, int n) {
    for (auto const& x : theory_vectors<T>()) is_unbiased_about(c, x, key{seed++}, n);
}

template <class T>
void is_contractive_for_all(forms<T> const& c, std::uint64_t seed, int n) {
    for (auto const& x : theory_vectors<T>()) {
        CAPTURE(to_string(c.host));
        CAPTURE(x.size());
        double const delta = c.host.delta(x.size());
        CHECK(c.defined.delta(x.size()) == delta);
        CHECK(laconic::compressor_laws::delta_violation(moments_of(c, x, n, key{seed++}), x, delta) == "");
    }
}

template laconic::any_compressor<float> as_written<float>(std::string const&);
template definition<float> as_defined<float>(std::string const&);
template bytes encoded_by(definition<float> const&, std::vector<float> const&, key);
template void obeys_the_laws(forms<float> const&, std::vector<float> const&, std::vector<float> const&, key);
template moments moments_of(forms<float> const&, std::vector<float> const&, int, key);
template moments has_mean(forms<float> const&, std::vector<float> const&, key, int);
template void is_unbiased_about(forms<float> const&, std::vector<float> const&, key, int);
template exact_moments moments_by_values(forms<float> const&, std::vector<float> const&, int);
template std::size_t survives_small_changes(forms<float> const&, std::vector<float> const&, key);
template void is_a_pure_function(forms<float> const&);
template void is_unbiased_for_all(forms<float> const&, std::uint64_t, int);
template void is_contractive_for_all(forms<float> const&, std::uint64_t, int);

template laconic::any_compressor<double> as_written<double>(std::string const&);
template definition<double> as_defined<double>(std::string const&);
template bytes encoded_by(definition<double> const&, std::vector<double> const&, key);
template void obeys_the_laws(forms<double> const&, std::vector<double> const&, std::vector<double> const&, key);
template moments moments_of(forms<double> const&, std::vector<double> const&, int, key);
template moments has_mean(forms<double> const&, std::vector<double> const&, key, int);
template void is_unbiased_about(forms<double> const&, std::vector<double> const&, key, int);
template exact_moments moments_by_values(forms<double> const&, std::vector<double> const&, int);
template std::size_t survives_small_changes(forms<double> const&, std::vector<double> const&, key);
template void is_a_pure_function(forms<double> const&);
template void is_unbiased_for_all(forms<double> const&, std::uint64_t, int);
template void is_contractive_for_all(forms<double> const&, std::uint64_t, int);

}  // namespace laws
