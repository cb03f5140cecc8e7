// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/parse.hpp"
#include "laconic/backend/host.hpp"
#include "laconic/core/error.hpp"
#include "laconic/message/message.hpp"
#include "laconic/wire/message.hpp"
#include "support/both.hpp"
#include "support/laws/messages.hpp"
#include "support/laws/pipelines.hpp"
#include "support/test.hpp"

/// The messages of compressors on a backend, beside those on the host.
namespace laws {

using namespace laconic;

// What a message adds to zeros.
template <class T, class B, class M>
std::vector<T> decoded(B& on, M const& m) {
    typename B::template array<T> sum(m.dimension());
    add_message(on, std::span<T>(sum), T(-1.5), m);
    return ::both::here(on, sum);
}

// One compressor on the host and on B: its messages, and what is received of them.
template <class T, class B>
class compressor_pair {
  public:
    explicit compressor_pair(std::string const& text)
        : here_(parse_compressor<T>(text)), there_(parse_compressor<T, B>(text)) {}

    // False where x is refused, by both compressors or by every reader of their messages.
    bool agree(std::vector<T> const& x, key from) {
        bool const compresses = compresses_to(here_, cpu_, std::span<T const>(x), from, message_);
        auto const moved = ::both::there(on_, x);
        REQUIRE(compresses_to(there_, on_, std::span<T const>(moved), from, message_there_) == compresses);
        if (!compresses) return false;

        copy_message(on_, message_there_, cpu_, copied_);
        auto const words = written(message_);
        CHECK(laws::written(copied_) == words);
        here_.blank(cpu_, x.size(), from, received_);
        wire::bit_reader source(words);
        try {
            read(cpu_, source, received_, here_);
        } catch (wire_error const&) {
            return false;
        }
        there_.blank(on_, x.size(), from, received_there_);
        copy_message(cpu_, received_, on_, received_there_);

        CHECK(copied_ == message_);
        CHECK(received_there_ == message_there_);
        auto const wanted = decoded<T>(cpu_, message_);
        CHECK(decoded<T>(on_, message_there_) == wanted);
        CHECK(decoded<T>(on_, received_there_) == wanted);
        return true;
    }

  private:
    template <class On>
    static bool compresses_to(any_compressor<T, On> const& c, On& on, std::span<T const> x, key from,
                              any_message<T, On>& m) {
        try {
            c(on, x, from, m);
            return true;
        } catch (argument_error const&) {
            return false;
        }
    }

    host cpu_;
    B on_;
    any_compressor<T> here_;
    any_compressor<T, B> there_;
    any_message<T, host> message_, copied_, received_;
    any_message<T, B> message_there_, received_there_;
};

/// Every compressor's messages are the same bytes, and add the same numbers, on B as on the host.
template <class B>
void encodes_as_on_the_host() {
    using T = float;  // the parser takes long to compile
    auto vectors = laws::vectors<T>();
    vectors.push_back(laws::noise<T>(1000, 5, 3));
    for (T const bad : {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
        vectors.push_back(laws::noise<T>(70, 6));
        vectors.back()[65] = bad;
    }
    std::size_t accepted = 0, refused = 0;
    for (auto const& text : laws::pipelines()) {
        CAPTURE(text);
        compressor_pair<T, B> c(text);
        for (std::size_t i = 0; i < vectors.size(); ++i) ++(c.agree(vectors[i], key{50 + i}) ? accepted : refused);
    }
    for (auto const& text : laws::in_parts()) {
        CAPTURE(text);
        compressor_pair<T, B> c(text);
        for (std::uint64_t n = 0; n < 4; ++n)
            ++(c.agree(laws::noise<T>(laws::length_in_parts, n, static_cast<int>(n)), key{n}) ? accepted : refused);
    }
    CHECK(accepted > 2000);
    CHECK(refused > 100);
}

}  // namespace laws
