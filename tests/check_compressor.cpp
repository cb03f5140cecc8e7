// SPDX-License-Identifier: Apache-2.0
// `check_compressor` accepts the library's compressors and reports which law a user's own compressor breaks.
#include "laconic/check_compressor.hpp"

#include "support/everything.hpp"

enum class fault { none, biased, small_omega, remembers, refuses, throws_, no_name };

// All of x doubled, or nothing of it: omega = 1.
struct all_or_nothing {
    fault is = fault::none;

    template <Scalar T, class B>
    using message = messages::full_vector<T, B>;

    void check(std::size_t d) const {
        if (is == fault::refuses && d != 1000) throw argument_error("only for 1000 numbers");
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, messages::full_vector<T, B>& m) const {
        if (is == fault::throws_ && x.size() == 12) throw argument_error("not today");
        static int calls = 0;
        bool const all = is == fault::remembers ? ++calls % 3 == 0 : from.words(0)[0] % 2 == 0;
        std::vector<T> y(x.begin(), x.end());
        for (T& v : y) v *= !all ? T(0) : is == fault::biased ? T(1.5) : T(2);
        identity{}(on, std::span<T const>(y), from, m);
    }
    template <class B, class M>
    void blank(B& on, std::size_t d, key from, M& m) const {
        identity{}.blank(on, d, from, m);
    }
    double omega(std::size_t) const { return is == fault::small_omega ? .9 : 1; }
    bool operator==(all_or_nothing const&) const = default;
    friend std::string to_string(all_or_nothing const& c) { return c.is == fault::no_name ? "" : "all_or_nothing"; }
};

// A message of one's own: every coordinate is the same number.
template <bool Careful>
struct one_number {
    std::size_t length = 0;
    double value = 0;

    std::size_t dimension() const { return length; }
    bool operator==(one_number const&) const = default;
    template <class W>
    friend void write(W& sink, one_number const& m) {
        sink.put(std::bit_cast<std::uint64_t>(m.value), 64);
    }
    template <class B, class R>
    friend void read(B&, R& source, one_number& m) {
        m.value = std::bit_cast<double>(source.take(64));
        if (Careful && !(std::abs(m.value) <= 1e300)) source.refuse("a number that is not finite");
    }
    template <class B>
    friend void add_message(B&, std::span<double> out, double w, one_number const& m) {
        for (double& v : out) v += w * m.value;
    }
};
// Sends a message of this kind with 1.5 in it.
template <class M>
struct always {
    template <Scalar, class>
    using message = M;

    void check(std::size_t) const {}
    template <class B>
    void operator()(B&, std::span<double const> x, key, M& m) const {
        m = {x.size(), 1.5};
    }
    template <class B>
    void blank(B&, std::size_t d, key, M& m) const {
        m = {d};
    }
    bool operator==(always const&) const = default;
    friend std::string to_string(always const&) { return "always"; }
};

// A message with a kind of its own, for files: every coordinate is a parameter.
enum class file_fault { none, forgets, throws_, refuses };
struct one_parameter {
    static inline file_fault is = file_fault::none;
    using value_type = double;
    static constexpr unsigned user_kind = 200;
    std::size_t length = 0;
    double value = 1.5;

    std::size_t dimension() const { return length; }
    bool operator==(one_parameter const&) const = default;
    reading_bounds per_number() const { return {.least_bits = 0}; }
    void resize(std::size_t n) { length = n; }
    friend void write(auto&, one_parameter const&) {}
    friend void read(auto&, auto&, one_parameter&) {}
    friend void write_parameters(auto& sink, one_parameter const& m) {
        sink.put(static_cast<std::uint64_t>(2 * m.value), 8);
    }
    friend void read_parameters(auto& source, one_parameter& m) {
        auto const doubled = source.take(8);
        if (one_parameter::is == file_fault::refuses) source.refuse("not this one");
        if (one_parameter::is == file_fault::throws_ && doubled > 127) throw std::out_of_range("too much");
        m.value = one_parameter::is == file_fault::forgets ? 0 : static_cast<double>(doubled) / 2;
    }
    friend void add_message(auto&, std::span<double> out, double w, one_parameter const& m) {
        for (double& v : out) v += w * m.value;
    }
};
// top_k, whose text or with() forgets the rest.
enum class rest_fault { none, no_text, no_rest };
template <class Rest = identity>
struct top_two {
    rest_fault is = rest_fault::none;
    Rest rest{};

    template <Scalar T, class B>
    using message = detail::message_of<top_k<Rest>, T, B>;

    top_k<Rest> as_top_k() const { return {.k = 2, .rest = rest}; }
    void check(std::size_t d) const { as_top_k().check(d); }
    template <class B, Scalar T, class M>
    void operator()(B& on, std::span<T const> x, key from, M& m) const {
        as_top_k()(on, x, from, m);
    }
    template <class B, class M>
    void blank(B& on, std::size_t d, key from, M& m) const {
        as_top_k().blank(on, d, from, m);
    }
    template <class R>
    top_two<R> with(R const& r) const {
        return {is, is == rest_fault::no_rest ? R{} : r};
    }
    bool operator==(top_two const&) const = default;
    friend std::string to_string(top_two const& c) {
        return "top_two" + (c.is == rest_fault::no_text ? "" : " | " + to_string(c.rest));
    }
};

using list = std::vector<std::string>;
bool reports(list const& all, std::string const& what) {
    for (auto const& s : all)
        if (s.find(what) != std::string::npos) return true;
    CAPTURE(what);
    for (auto const& s : all) MESSAGE(s);
    return false;
}

TEST_CASE("the library's own compressors break no law") {
    CHECK(check_compressor(identity{}) == list{});
    CHECK(check_compressor(top_k{0.3}) == list{});
    CHECK(check_compressor(rand_k{0.3} | natural{}) == list{});
    CHECK(check_compressor(quantize{4}, {.seed = 9}) == list{});
    CHECK(check_compressor(any_compressor<double>(top_k{1} | quantize{1000}), {.dimension = 20, .keys = 500}) ==
          list{});
    CHECK(check_compressor(rand_k{0.1}, {.dimension = 30000, .keys = 10}) == list{});
}

TEST_CASE("a compressor of your own that keeps the laws, and what is reported of one that does not") {
    CHECK(check_compressor(all_or_nothing{}) == list{});
    auto const biased = check_compressor(all_or_nothing{fault::biased});
    CHECK(reports(biased, "double: it has an omega(d) and is biased: coordinate 0 is 1, and 0.7"));
    CHECK(reports(biased, "float: it has an omega(d) and is biased"));
    auto const small = check_compressor(all_or_nothing{fault::small_omega});
    REQUIRE(small.size() == 2);
    CHECK(small[0] ==
          "double: omega(1) = 0.9 is too small: |C(x) - x|^2 is 1 |x|^2 on average over 4000 keys; x = {1}, "
          "d = 1");
    compressor_trial const few{.keys = 200};  // enough for what no average shows
    CHECK(reports(check_compressor(all_or_nothing{fault::remembers}, few),
                  "the same vector and key give another message where the message is reused; x = {"));
    CHECK(check_compressor(all_or_nothing{fault::throws_}, few) ==
          list{"double: it throws: not today; x = {0.7805, 0.344, -0.5052, 0.5153, ...}, d = 12",
               "float: it throws: not today; x = {0.7805, 0.344, -0.5052, 0.5153, ...}, d = 12"});
    CHECK(check_compressor(all_or_nothing{fault::no_name}, few) == list{"to_string(c) is empty"});
    CHECK(check_compressor(all_or_nothing{fault::refuses}) ==
          list{"double: check(d) refuses every vector that was tried; name a dimension",
               "float: check(d) refuses every vector that was tried; name a dimension"});
    CHECK(check_compressor(all_or_nothing{fault::refuses}, {.dimension = 1000, .keys = 200}) == list{});
}

TEST_CASE("a sparsifier of your own whose text or with() forgets the rest is reported") {
    CHECK(check_compressor(top_two<>{}) == list{});
    CHECK(check_compressor(top_two<>{rest_fault::no_text}) ==
          list{"the text of c | quantize(5, bucket=77) does not have the rest: top_two"});
    CHECK(check_compressor(top_two<>{rest_fault::no_rest}) == list{"the rest of c.with(rest) is another"});
}

TEST_CASE("a message of your own, and one that accepts damaged bytes") {
    auto const careful = check_compressor(always<one_number<true>>{}),
               trusting = check_compressor(always<one_number<false>>{});
    CHECK(careful == list{});
    CHECK(reports(trusting, "double: a damaged message is accepted, and then: a number that is not finite; x = {"));
    CHECK(trusting.size() == 1);
}

TEST_CASE("a message with a kind of your own is tried in the self-describing form") {
    auto const reported_of = [](file_fault f) {
        one_parameter::is = f;
        return check_compressor(always<one_parameter>{});
    };
    CHECK(reported_of(file_fault::none) == list{});
    CHECK(reports(reported_of(file_fault::forgets),
                  "double: in the self-describing form, it is read as another message; x = {"));
    CHECK(reports(reported_of(file_fault::throws_),
                  "double: in the self-describing form, a damaged one throws another type than wire_error: too much"));
    CHECK(reports(reported_of(file_fault::refuses),
                  "double: in the self-describing form, it is refused: at bit 88 of a message: not this one"));
}
