// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>

#include "laconic/backend/arguments.hpp"
#include "laconic/backend/array.hpp"
#include "laconic/backend/code_words.hpp"
#include "laconic/backend/host.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/stream.hpp"

/// Many codes of one width, one after another, with the same bits as if each were put and taken alone. Some thousand at
/// a time are packed, and unpacked, by kernels of the backend.
namespace laconic::detail {

// How many codes are written or read at a time: so many that they and their bytes stay in the first cache.
inline constexpr std::size_t codes_together = 4096;

}  // namespace laconic::detail

namespace laconic::wire {

/// How many bytes n words take.
constexpr std::size_t bytes_of_words(std::size_t n, kernels::code_words words) { return (n * words.width + 7) / 8; }

/// Puts the words of codes, of 8 or 16 bits each, which fit; returns whether each word stands for a code. A sink that
/// only adds widths gets the number of bits, and the codes are not read.
template <class B, BitSink W, class Code>
bool put_codes(B& on, W& sink, std::span<Code const> codes, kernels::code_words words, bool past_caches = false) {
    if constexpr (!std::same_as<W, bit_writer>) {
        sink.add(std::uint64_t{words.width} * codes.size());
        return true;
    } else {
        using lane = std::make_unsigned_t<Code>;
        std::span const lanes(reinterpret_cast<lane const*>(codes.data()), codes.size());
        alignas(64) std::array<std::byte, sizeof(Code) * detail::codes_together + 64> room;  // kernels like some behind
        bool right = true;
        for (std::size_t i = 0; i < lanes.size(); i += detail::codes_together) {
            auto const part = lanes.subspan(i, std::min(detail::codes_together, lanes.size() - i));
            right &= pack_codes(on, part, words, std::span<std::byte>(room));
            auto const bits = std::uint64_t{words.width} * part.size();
            if (past_caches && bits % 8 == 0) {
                std::span const packed(room.data(), detail::as_size(bits / 8));
                detail::copy_past_caches<simd::arch>(packed, sink.append(packed.size()));
            } else {
                sink.put_bits(room, bits);
            }
        }
        return right;
    }
}
/// The same by the kernel that the sink has, or else the host's, of codes that all have words.
template <BitSink W, class Codes>
void put_codes(W& sink, Codes const& all, kernels::code_words words) {
    using Code = std::remove_cvref_t<decltype(all[0])>;
    std::span<Code const> const codes(all);
    if constexpr (std::same_as<W, bit_writer>) {
        if constexpr (std::endian::native == std::endian::little)
            if (words.width == 8 * sizeof(Code) && words.offset == 0) return sink.put_bytes(std::as_bytes(codes));
        if (sink.packer.on != nullptr) {
            put_codes(sink.packer, sink, codes, words);
            return;
        }
    }
    host on;
    put_codes(on, sink, codes, words);
}

/// write(sink, m), whose codes the kernels of `on` pack.
template <OnHost B>
void write_on(B& on, bit_writer& sink, auto const& m) {
    struct packing {
        bit_writer& sink;
        packing(bit_writer& s, kernels::code_packer const& by) : sink(s) { sink.packer = by; }
        packing(packing const&) = delete;
        ~packing() { sink.packer = {}; }
    } const until_written(
        sink,
        {&on,
         [](void* b, auto codes, auto words, auto to) { return pack_codes(*static_cast<B*>(b), codes, words, to); },
         [](void* b, auto codes, auto words, auto to) { return pack_codes(*static_cast<B*>(b), codes, words, to); }});
    write(sink, m);
}

/// Puts n codes, which make(stream) gives to a kernels::code_stream of them, as they are made.
template <class Code, OnHost B>
bool put_made(B& on, bit_writer& sink, kernels::code_words words, std::size_t n, auto make) {
    bool const past_caches =
        sink.bits() % 8 == 0 && sink.is_laid_out(bytes_of_words(n, words)) && n >= detail::bytes_past_caches / 2;
    struct writer {
        B& on;
        bit_writer& sink;
        kernels::code_words words;
        bool past_caches;
        bool right = true;
    } to{on, sink, words, past_caches};
    // Where the memory is there, but in no cache: what these bytes are not read for is spared.
    make(kernels::code_stream<Code>{&to, [](void* w, Code const* codes, std::size_t count) {
                                        auto& all = *static_cast<writer*>(w);
                                        all.right &= put_codes(all.on, all.sink, std::span(codes, count), all.words,
                                                               all.past_caches);
                                    }});
    if (past_caches) detail::order_past_caches<simd::arch>();
    return to.right;
}

/// Fills codes, of 8 or 16 bits each, by the next words; refuses the first that stands for none, for the reason
/// `wrong`.
template <OnHost B, class Code>
void take_codes(B& on, bit_reader& source, std::span<Code> codes, kernels::code_words words, char const* wrong) {
    using lane = std::make_unsigned_t<Code>;
    std::array<std::byte, sizeof(Code) * detail::codes_together> shifted;
    for (std::size_t i = 0; i < codes.size(); i += detail::codes_together) {
        auto const part = codes.subspan(i, std::min(detail::codes_together, codes.size() - i));
        auto const bits = std::uint64_t{words.width} * part.size();
        if (auto const before = source; bits <= source.left()) {
            std::span const lanes(reinterpret_cast<lane*>(part.data()), part.size());
            if (unpack_codes(on, source.take_bits(bits, shifted), words, lanes)) continue;
            source = before;
        }
        for (Code& c : part) {  // one by one, to find the place
            auto const word = static_cast<unsigned>(source.take(words.width));
            if (!words.has(word)) source.refuse(wrong);
            c = static_cast<Code>(static_cast<int>(word) - words.offset);
        }
    }
}

/// Where the numbers of a message that is read are added.
template <Scalar T>
struct added_to {
    std::span<T> numbers;
    /// The message is all that the source has left, and is checked, with the source's end, before `numbers` change.
    bool checked_first = false;
    bool anew = false;      ///< What is read replaces `numbers`: they are set to 0 first.
    bool unturned = false;  ///< As add_unturned() says, which add_message() would otherwise do.

    added_to(std::span<T> to, bool checks_first = false, bool is_anew = false, bool is_unturned = false)  // NOLINT
        : numbers(to), checked_first(checks_first), anew(is_anew), unturned(is_unturned) {}
};

/// Reads `out.numbers.size()` words of `width` bits each, some at a time, and adds what they stand for: so where it
/// throws, some are added, unless all are checked first. take(on, source, room) reads some, and checks them;
/// add(on, part, first, read) adds them to the numbers from number `first` on: a part begins where a bucket begins, or
/// lies within one bucket.
template <class Word, OnHost B, Scalar T>
void add_in_parts(B& on, bit_reader& source, unsigned width, std::size_t bucket, added_to<T> out, auto take, auto add) {
    constexpr std::size_t most = std::min(detail::codes_together, 2 * detail::codes_together / sizeof(Word));
    std::size_t const d = out.numbers.size();
    auto const use_part = [&](auto& own, bit_reader& from, std::size_t first, std::size_t end, auto use) {
        alignas(64) std::array<Word, most> room;  // so that no store crosses a cache line
        for (std::size_t n; first < end; first += n) {
            n = bucket <= most ? most / bucket * bucket : std::min(most, bucket - first % bucket);
            n = std::min(n, end - first);
            take(own, from, std::span(room).first(n));
            use(own, out.numbers.subspan(first, n), first, room.data());
        }
    };
    auto const use_all = [&](auto& whole, auto use) {  // `on`: nvcc asks for its members only where they depend
        auto const bits = std::uint64_t{width} * d;
        if constexpr (requires { whole.splits(d); })  // several threads, each of which reads a part
            if (whole.splits(d) && bits <= source.left()) {
                auto const unit = std::lcm(bucket <= most ? bucket : 1, std::size_t{64});
                in_parts(whole, d, unit, [&](auto& own, auto part) {
                    auto from = source;
                    from.skip(width * std::uint64_t{part.first});
                    use_part(own, from, part.first, part.first + part.count, use);
                });
                return source.skip(bits);
            }
        use_part(whole, source, 0, d, use);
    };
    if (out.checked_first) {
        auto const before = source;
        use_all(on, [](auto&, auto, auto, auto) {});
        source.finish();
        source = before;
    }
    use_all(on, [&](auto& own, std::span<T> part, std::size_t first, Word const* read) {
        if (out.anew) fill(own, part, T(0));  // in the first cache
        add(own, part, first, read);
    });
}

/// Reads the codes of the message m, which has made room for them, and adds w times its numbers to out.
/// m.terms_of(first, codes, n) are the terms of n numbers from number `first` on.
template <class Code, OnHost B, class M, Scalar T>
void add_codes(B& on, bit_reader& source, M const& m, std::size_t bucket, kernels::code_words words, char const* wrong,
               T w, added_to<T> out) {
    add_in_parts<Code>(
        on, source, words.width, bucket, out,
        [&](auto& own, bit_reader& from, std::span<Code> to) { take_codes(own, from, to, words, wrong); },
        [&](auto& own, std::span<T> part, std::size_t first, Code const* codes) {
            add_terms(own, part, w, m.terms_of(first, codes, part.size()));
        });
}

/// Reads uncompressed numbers, and adds w times each to out.
template <OnHost B, Scalar T>
void add_numbers(B& on, bit_reader& source, T w, added_to<T> out) {
    add_in_parts<T>(
        on, source, 8 * sizeof(T), 1, out, [](auto&, bit_reader& from, std::span<T> to) { take_numbers(from, to); },
        [&](auto& own, std::span<T> part, std::size_t, T const* numbers) {
            add_scaled(own, w, std::span(numbers, part.size()), part);
        });
}

}  // namespace laconic::wire
