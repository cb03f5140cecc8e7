// SPDX-License-Identifier: Apache-2.0
// Users' messages are written, read, limited and refused like the library's, also by decoder.py.
#include "laconic/wire/user_message.hpp"

#include "support/decoder.hpp"
#include "support/everything.hpp"
#include "support/own_messages.hpp"

static_assert(UserMessage<own::multiples<float, host>, float, host>);
static_assert(UserMessage<own::multiples<double, reference>, double, reference>);
static_assert(!UserMessage<own::multiples<double, host>, float, host>);
static_assert(UserMessage<own::one_number<float>, float, reference>);
static_assert(!UserMessage<full_vector<float, host>, float, host>);

std::vector<float> const five_floats{1, -2, 0, 0.3f, 1e9f};

template <class T, class Held>
struct numbers_on {
    using type = T;
    using backend = Held;
};

// What a message that levelled wraps needs of the compressor, where it is only written.
struct one_level {
    bool operator==(one_level const&) const = default;
};

// Each kind of stage around messages of users' types, and such messages alone: use(name, message, on).
template <class T, class B, class Use>
void each_own_message(std::vector<T> const& x, Use use) {
    B on;
    std::size_t const d = x.size();
    own::round_to const rounded{0.25, 6}, coarse{3, 2}, fine{0.001, 16};
    auto const all = [&](auto const&... c) { (use(to_string(c), compress(c, x, key{5}, on), on), ...); };
    all(rounded, coarse, fine, own::mean{}, top_k{d / 2} | rounded, threshold{1} | coarse, rand_k{d / 3 + 1} | fine,
        bernoulli{0.4} | rounded, zero_blocks{4} | rounded, threshold{0.5} | rand_k{0.5} | top_k{0.5} | own::mean{});
    parts<any_compressor<T, B>> const mixed{{0, own::mean{}},
                                            {d / 3, rounded},
                                            {d / 3, top_k{1} | coarse},
                                            {d - d / 3 * 2, parts<own::round_to>{{d - d / 3 * 2, fine}}}};
    all(mixed);
    using message = own::multiples<T, B>;
    auto const inside = compress(rounded, x, key{5}, on);
    use("scaled", scaled<message, T>{static_cast<T>(0.3), inside}, on);
    levelled<one_level, message> at_third;
    at_third.level = 3;
    at_third.levels = 7;
    at_third.length = d;
    at_third.inside = inside;
    use("levelled", at_third, on);
}

template <class B, class T>
std::vector<T> numbers_of(std::span<std::byte const> file, std::size_t d) {
    auto const read = read_described<B>(file, {}, own::messages);
    REQUIRE(read.dimension == d);
    std::vector<T> added(d, T(0));
    read.add_to(std::span<T>(added));
    return added;
}

template <class... C>
void refused(std::span<std::byte const> file, std::string const& why, reading_limits limits,
             detail::user_messages_t<C...> users, std::uint64_t bit = ~std::uint64_t{0}) {
    CAPTURE(why);
    try {
        read_described(file, limits, users);
        FAIL_CHECK("it is read");
    } catch (wire_error const& e) {
        CHECK_MESSAGE(e.why.find(why) != std::string::npos, e.why);
        if (bit != ~std::uint64_t{0}) CHECK(e.bit == bit);
    }
}

using by_hand::number;
using by_hand::word;
using by_hand::words_of;

// The shape of multiples of a float in codes of `width` bits, then words.
std::vector<std::byte> by_hand_multiples(std::uint64_t d, std::vector<word> words, unsigned width = 4) {
    words.insert(words.begin(), {{130, 8}, {5, 8}, {width, 8}, number(0.5f)});
    return decoder::by_hand(0, d, words);
}

// Kind, five bytes of parameters (the width, the step), then -2 and 3.5 as codes -4 and 7 of four bits.
TEST_CASE("a user's message, to the bit") {
    auto const m = compress(own::round_to{0.5, 4}, std::vector<float>{-2, 3.6f}, key{1});
    auto const file = write_described(m, {.with_checksum = false});
    CHECK(file == by_hand_multiples(2, {{3, 4}, {14, 4}}));
    auto const books = account_described(m, {.with_checksum = false});
    CHECK(books.bits() == 8 * file.size());
    CHECK(books.values() == 8);
    CHECK(books.scalars() == 0);
    auto const read = read_described(file, {}, own::messages);
    CHECK(read.dense);
    CHECK(read.values == std::vector<double>{-2, 3.5});
    // No parameters; any order of the types.
    auto const same =
        write_described(compress(own::mean{}, std::vector<float>{1, 3}, key{1}), {.with_checksum = false});
    CHECK(same == decoder::by_hand(0, 2, {{255, 8}, {0, 8}, number(2.0f)}));
    CHECK(read_described(same, {}, user_messages<own::mean, own::round_to>).values == std::vector<double>{2, 2});
    CHECK(read_described(same, {}, user_messages<own::mean>).values == std::vector<double>{2, 2});
}

TEST_CASE_TEMPLATE("users' messages inside every stage come back bit for bit, also from decoder.py", P,
                   numbers_on<double, host>, numbers_on<float, reference>) {
    using T = typename P::type;
    using B = typename P::backend;
    using other = std::conditional_t<std::same_as<B, host>, reference, host>;
    decoder::both_readers readers({.dimension = 1000}, decoder::folder() / "own_kinds.py");
    std::vector<std::vector<std::byte>> files;
    for (std::size_t const d : {std::size_t{3}, std::size_t{12}, std::size_t{130}})
        each_own_message<T, B>(compressor_laws::noise<T>(d, d, 2), [&](std::string name, auto const& m, B&) {
            CAPTURE(name);
            std::erase(name, ' ');
            auto const expected = compressor_laws::decoded<std::remove_cvref_t<decltype(m)>, T, B>(m);
            for (bool const with_checksum : {true, false}) {
                description const how{with_checksum, position_code::smallest};
                auto const file = write_described(m, how);
                auto const books = account_described(m, how);
                CHECK(books.bits() == 8 * file.size());
                CHECK(books.values() == account(m).values());
                CHECK(books.positions() == account(m).positions());
                CHECK((numbers_of<B, T>(file, d) == expected));
                readers.read(name, file, own::messages);
                files.push_back(file);
            }
        });
    CHECK(readers.accepted() == files.size());
    readers.agree();
    // The same bytes from both backends.
    std::size_t n = 0;
    for (std::size_t const d : {std::size_t{3}, std::size_t{12}, std::size_t{130}})
        each_own_message<T, other>(compressor_laws::noise<T>(d, d, 2), [&](std::string const&, auto const& m, other&) {
            CHECK(write_described(m) == files[n]);
            n += 2;
        });
    CHECK(n == files.size());
}

TEST_CASE("a reader without the type refuses it by its number, and its kind of numbers") {
    auto const file = write_described(compress(top_k{2} | own::round_to{}, five_floats, key{1}));
    std::uint64_t const behind_shape = 8 * (4 + 1 + 1 + 1 + 1 + 3 + 2 + 5);
    refused(file, "user kind 130, of which this reader was given no message of float", {}, user_messages<>,
            behind_shape);
    refused(file, "user kind 130, of which this reader was given no message of float", {}, user_messages<own::mean>);
    auto const of_doubles = write_described(compress(own::mean{}, std::vector<double>{1, 2}, key{1}));
    refused(of_doubles, "user kind 255, of which this reader was given no message of double", {}, user_messages<>);
    // Before anything else is read, such as a first part.
    refused(decoder::by_hand(0, 3, words_of({34, 2, 2, 1, 1, 200, 0}, {number(1.0f)})), "user kind 200", {},
            own::messages);
    // 127 is none.
    refused(decoder::by_hand(0, 0, {{127, 8}, {0, 8}}), "an unknown kind of message: 127", {}, own::messages);
}

// A message of double alone.
struct only_doubles {
    template <Scalar T, class B>
    requires std::same_as<T, double>
    using message = own::one_number<T>;
};

TEST_CASE("a type may have messages of one type of numbers") {
    auto const users = user_messages<only_doubles>;
    auto const doubles = write_described(compress(own::mean{}, std::vector<double>{1, 2}, key{1}));
    CHECK(read_described(doubles, {}, users).values == std::vector<double>{1.5, 1.5});
    refused(write_described(compress(own::mean{}, std::vector<float>{1, 2}, key{1})), "no message of float", {}, users);
}

TEST_CASE("parameters are refused that are too long, cut off, left over or not padded with zeros") {
    auto const with = [](std::vector<word> words) {
        words.insert(words.begin(), {130, 8});
        return decoder::by_hand(0, 0, words);
    };
    std::uint64_t const begin = 8 * (4 + 1 + 1 + 1 + 1);
    refused(with({{129, 8}, {32, 8}}), "4097 where at most 4096 may be", {}, own::messages);
    refused(with({{5, 8}, {4, 8}}), "too early", {}, own::messages);
    refused(with({{0, 8}}), "too early", {}, own::messages, begin + 16);
    refused(with({{4, 8}, {4, 8}, {0, 24}}), "it ends 8 bits too early", {}, own::messages, begin + 24);
    refused(with({{4, 8}, {4, 8}, {0, 24}, {0, 8}}), "it ends 8 bits too early", {}, own::messages, begin + 24);
    refused(with({{6, 8}, {4, 8}, {0, 32}, {0, 8}}), "8 bits of the parameters of user kind 130 are left over", {},
            own::messages, begin + 16 + 40);
    refused(with({{5, 8}, {1, 8}, number(1.0f)}), "codes of less than two bits", {}, own::messages, begin + 24);
    refused(with({{5, 8}, {17, 8}, number(1.0f)}), "17 where at most 16 may be", {}, own::messages);
    refused(with({{5, 8}, {16, 8}, number(1e38f)}), "not finite", {}, own::messages);
    CHECK(read_described(with({{5, 8}, {16, 8}, number(1.0f)}), {}, own::messages).values.empty());
}

TEST_CASE("the limits hold for users' messages") {
    auto const file = by_hand_multiples(10, std::vector<word>(10, {9, 4}));
    auto const users = own::messages;
    CHECK(read_described(file, {.dimension = 10, .memory = 10 * 18 + 5, .work = 10}, users).values.size() == 10);
    refused(file, "dimension 10, where the limit is 9", {.dimension = 9}, users);
    refused(file, "more memory than the limit", {.memory = 10 * 18 + 4}, users);
    refused(file, "more work than the limit", {.work = 9}, users);
    refused(by_hand_multiples(1000000, {{0, 64}}), "it ends too early for 1000000 numbers", {}, users);
    refused(by_hand_multiples(17, {{0, 64}}), "it ends too early for 17 numbers", {}, users);
    // Few bits that stand for many numbers.
    auto const many = [](std::uint64_t n) { return decoder::by_hand(0, n, {{255, 8}, {0, 8}, number(1.0f)}); };
    CHECK(read_described(many(1000), {.memory = 16000}, users).values == std::vector<double>(1000, 1));
    refused(many(1000), "more memory than the limit", {.memory = 15999}, users);
    refused(many(detail::largest_dimension), "more memory than the limit", {}, users);
    refused(many(detail::largest_dimension), "more work than the limit", {.memory = std::uint64_t{1} << 40}, users);
    reading_limits const unlimited{
        .dimension = longest_support, .memory = std::uint64_t{1} << 60, .work = std::uint64_t{1} << 60};
    refused(many(detail::largest_dimension + 1), "user kind 255 of more than 2^32 - 1 numbers", unlimited, users);
}

enum class flaw { none, reads_less, reads_more, length, not_finite, throws, throws_early, memory, steps };

std::size_t living = 0;  // numbers of messages that have not been freed
flaw present = flaw::none;

// A byte for each number, read with the flaw that is present.
struct flawed {
    using value_type = float;
    static constexpr unsigned user_kind = 128;
    std::size_t length = 0;
    std::vector<std::shared_ptr<int>> held{};
    std::vector<float> values{};

    struct counted {
        counted() { ++living; }
        counted(counted const&) { ++living; }
        ~counted() { --living; }
    };
    std::vector<counted> alive{};

    std::size_t dimension() const { return present == flaw::length ? length + 1 : length; }
    bool operator==(flawed const& other) const { return values == other.values; }
    reading_bounds per_number() const {
        return {.least_bits = 8,
                .most_bytes = present == flaw::memory ? ~std::uint64_t{0} : 6,
                .most_steps = present == flaw::steps ? ~std::uint64_t{0} : 0};
    }
    void resize(std::size_t n) {
        length = n;
        values.resize(n);
        alive.resize(n);
        if (present == flaw::throws_early) throw std::logic_error("not today");
    }
    friend void write(auto& sink, flawed const& m) {
        for (float const v : m.values) sink.put(static_cast<std::uint64_t>(v), 8);
    }
    friend void read(auto&, bit_reader& source, flawed& m) {
        for (float& v : m.values) v = static_cast<float>(source.take(present == flaw::reads_less ? 7 : 8));
        if (present == flaw::reads_more) source.take(3);
        if (present == flaw::not_finite && !m.values.empty()) m.values.back() = std::numeric_limits<float>::infinity();
        if (present == flaw::throws) throw std::runtime_error("no");
    }
    friend void add_message(auto&, std::span<float> out, float w, flawed const& m) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] += w * m.values[i];
    }
};
struct of_flawed {
    template <Scalar, class>
    using message = flawed;
};

// Three numbers of a byte, whole or with a bit before them, alone or as the first part.
std::vector<std::byte> three(std::vector<word> more = {}) {
    std::vector<word> words{{128, 8}, {0, 8}, {1, 8}, {2, 8}, {3, 8}};
    words.insert(words.end(), more.begin(), more.end());
    return decoder::by_hand(0, 3, words);
}

TEST_CASE("what a user's functions do wrong is a wire_error, or their own exception") {
    auto const read_with = [](flaw which, std::span<std::byte const> file, reading_limits limits = {}) {
        present = which;
        return read_described(file, limits, user_messages<of_flawed>);
    };
    CHECK(read_with(flaw::none, three()).values == std::vector<double>{1, 2, 3});
    std::uint64_t const begin = 8 * (4 + 1 + 1 + 1 + 1 + 2), any = ~std::uint64_t{0};
    struct {
        flaw which;
        std::vector<std::byte> file;
        std::string why;
        std::uint64_t bit;
        reading_limits limits = {};
    } const rows[] = {
        {flaw::reads_less, three(), "it is shorter than announced", begin + 21},
        {flaw::reads_more, three(), "it ends 3 bits too early", begin + 24},
        {flaw::reads_more, three({{0, 1}}), "it is longer than announced", begin + 27},
        {flaw::none, three({{0, 1}}), "it is shorter than announced", begin + 24},
        {flaw::length, three(), "user kind 128 of 4 numbers, where 3 are due", any},
        {flaw::not_finite, three(), "user kind 128 with a number that is not finite", any},
        {flaw::memory, three(), "more memory than the limit", begin},
        {flaw::steps, three(), "more work than the limit", begin},
        {flaw::none, three(), "more work than the limit", any, {.work = 2}},  // no steps are stated: one each
    };
    for (auto const& row : rows) {
        present = row.which;
        refused(row.file, row.why, row.limits, user_messages<of_flawed>, row.bit);
    }
    CHECK(living == 0);
    CHECK_THROWS_WITH_AS(read_with(flaw::throws, three()), "no", std::runtime_error);
    CHECK_THROWS_WITH_AS(read_with(flaw::throws_early, three()), "not today", std::logic_error);
    CHECK(living == 0);
    // Half read as the first part, what follows is not where it should be.
    auto const parts = decoder::by_hand(0, 4, words_of({34, 2, 3, 128, 0, 1, 4, 0, 1, 2, 3}, {{1, 1}}));
    CHECK(read_with(flaw::none, parts).values == std::vector<double>{1, 2, 3, -1});
    CHECK_THROWS_WITH_AS(read_with(flaw::reads_less, parts), doctest::Contains("it is shorter than announced"),
                         wire_error);
}

// Parameters of any length.
struct long_parameters {
    using value_type = double;
    static constexpr unsigned user_kind = 129;
    std::size_t length = 0, bits = 0;

    std::size_t dimension() const { return length; }
    bool operator==(long_parameters const&) const = default;
    reading_bounds per_number() const { return {.least_bits = 0}; }
    void resize(std::size_t n) { length = n; }
    friend void write_parameters(auto& sink, long_parameters const& m) {
        sink.charge(message_part::values);
        for (std::size_t i = 0; i < m.bits; ++i) sink.put(1, 1);
    }
    friend void read_parameters(auto& source, long_parameters& m) {
        while (source.left() > 0 && source.take(1) == 1) ++m.bits;
    }
    friend void write(auto&, long_parameters const&) {}
    friend void read(auto&, auto&, long_parameters&) {}
    friend void add_message(auto&, std::span<double> out, double w, long_parameters const& m) {
        for (double& v : out) v += w * static_cast<double>(m.bits);
    }
};
struct of_long_parameters {
    template <Scalar, class>
    using message = long_parameters;
};

TEST_CASE("parameters are padded to whole bytes, are no values, and are at most 4096 bytes") {
    auto const users = user_messages<of_long_parameters>;
    for (std::size_t const bits : {1u, 7u, 9u, 8u * 4096 - 1}) {
        long_parameters const m{2, bits};
        auto const file = write_described(m);
        auto const books = account_described(m);
        CHECK(books.bits() == 8 * file.size());
        CHECK(books.values() == 0);
        CHECK(read_described(file, {}, users).values == std::vector<double>(2, static_cast<double>(bits)));
    }
    CHECK_NOTHROW(write_described(long_parameters{2, 8 * 4096}));
    CHECK_THROWS_WITH_AS(write_described(long_parameters{2, 8 * 4096 + 1}),
                         "user kind 129 writes 4097 bytes of parameters, where at most 4096 may be", argument_error);
    CHECK_THROWS_AS(account_described(long_parameters{2, 8 * 4096 + 1}), argument_error);
    // 1, then a zero that is a padding's, and one that is not.
    CHECK(read_described(decoder::by_hand(2, 1, {{129, 8}, {1, 8}, {1, 8}}), {}, users).values ==
          std::vector<double>{1});
    refused(decoder::by_hand(2, 1, {{129, 8}, {1, 8}, {9, 8}}), "the padding of the last byte is not zero", {}, users);
    refused(decoder::by_hand(2, 1, {{129, 8}, {1, 8}, {9, 8}}), "more memory than the limit", {.memory = 0}, users);
}

TEST_CASE_TEMPLATE("changed files: refused, or some message within the limits, and decoder.py agrees", T, float,
                   double) {
    reading_limits const limits{.dimension = 1000, .memory = 100000};
    decoder::both_readers readers({.dimension = 1000}, decoder::folder() / "own_kinds.py");
    std::size_t passed = 0, n = 0;
    each_own_message<T, host>(compressor_laws::noise<T>(11, 3), [&](std::string name, auto const& m, host&) {
        std::erase(name, ' ');
        auto file = write_described(m, {.with_checksum = false});
        for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
            file[bit / 8] ^= std::byte(1u << bit % 8);
            try {
                auto const read = read_described(file, limits, own::messages);
                REQUIRE(read.dimension <= 1000);
                REQUIRE(read.values.size() <= 100000 / 16);
                for (double const v : read.values) REQUIRE(std::isfinite(v));
                ++passed;
            } catch (wire_error const& e) {
                REQUIRE(e.bit <= 8 * file.size());
            }
            if (bit >= 64 && ++n % 3 == 0) readers.read(name, file, own::messages);
            file[bit / 8] ^= std::byte(1u << bit % 8);
        }
        for (std::size_t length = 0; length < file.size(); ++length) {
            CHECK_THROWS_AS(read_described(std::span(file).first(length), limits, own::messages), wire_error);
            if (length % 7 == 0) readers.read(name, std::span(file).first(length), own::messages);
        }
    });
    CHECK(passed > 500);
    CHECK(readers.refused() > 100);
    CHECK(readers.accepted() > 100);
    readers.agree();
}

TEST_CASE("decoder.py lists a shape with users' kinds, and refuses them by number without a decoder") {
    auto const file =
        write_described(compress(parts<any_compressor<float>>{{2, own::round_to{0.5, 4}}, {3, top_k{1} | own::mean{}}},
                                 five_floats, key{1}),
                        {.with_checksum = false});
    own_file const on_disk(std::string(reinterpret_cast<char const*>(file.data()), file.size()));
    auto const name = "\"" + on_disk.path() + "\"";
    auto const listed = decoder::run("--shape " + name);
    if (!listed) return;
    CHECK(listed->out == "5 34[2 130(040000003f), 3 17(1, 1) 255()]\n");
    CHECK(listed->status == 0);
    auto const unknown = decoder::run(name);
    CHECK(unknown->out.find("user kind 130, for which no decoder was given") != std::string::npos);
    CHECK(unknown->status == 1);
    auto const known = decoder::run("--users \"" + (decoder::folder() / "own_kinds.py").string() + "\" " + name);
    CHECK(known->out == "5 0:0x1.0000000000000p+0 1:-0x1.0000000000000p+1 4:0x1.dcd6500000000p+29\n");
    CHECK(known->status == 0);
}

TEST_CASE("the file of golden.txt with a user's kind is read where the type is given") {
    std::size_t found = 0;
    for (auto const& l : decoder::golden())
        if (l.name == "user_kind") {
            ++found;
            CHECK(decoder::meaning(decoder::from_hex(l.data), {}, own::messages) ==
                  "5 0:0x1.8p+1 1:-0x1.cp+1 2:0x0p+0 3:0x1p+0 4:0x1p+1");
        }
    CHECK(found == 1);
}

TEST_CASE("numbers of a user's message are counted as values, also behind positions and by no paper's formula") {
    std::vector<float> const x{1, -2, 0, 0.25, 8};
    auto const alone = account(compress(own::round_to{0.25, 6}, std::vector<float>{-2, 8}, key{1}));
    auto const behind = account(compress(top_k{2} | own::round_to{0.25, 6}, x, key{1}));
    CHECK(alone.values() > 0);
    CHECK(behind.values() == alone.values());
    CHECK(behind.positions() > 0);
    auto const any = compress(any_compressor<float>(own::mean{}), x, key{1});
    CHECK(bits_as_paper(any) == double(account(any).bits()));
}

TEST_CASE("the compressors of this test keep the laws") {
    CHECK(check_compressor(own::round_to{}) == std::vector<std::string>{});
    CHECK(check_compressor(top_k{3} | own::round_to{0.1, 12}) == std::vector<std::string>{});
    CHECK(check_compressor(own::mean{}) == std::vector<std::string>{});
}
