// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "laconic/any/collective.hpp"
#include "laconic/any/grammar.hpp"
#include "laconic/any/norm.hpp"
#include "laconic/collective/automatic.hpp"
#include "laconic/collective/dense/engine_all_reduce.hpp"
#include "laconic/collective/dense/halving_doubling.hpp"
#include "laconic/collective/dense/omni_reduce.hpp"
#include "laconic/collective/dense/ring.hpp"
#include "laconic/collective/dense/switch_ml.hpp"
#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/collective/select/ok_top_k.hpp"
#include "laconic/collective/select/spar_reduce_scatter.hpp"
#include "laconic/collective/sparse/compressed_split_all_gather.hpp"
#include "laconic/collective/sparse/gathered_sum.hpp"
#include "laconic/collective/sparse/recursive_doubling.hpp"
#include "laconic/collective/sparse/split_all_gather.hpp"
#include "laconic/collective/sparse/sum_by_server.hpp"

namespace laconic {

/// The description of a collective in a list: its text, and what it does.
struct collective_description {
    std::string name, parameters, about;
};

namespace detail {

template <Scalar T, class B>
struct named_collective {
    collective_description about;
    any_collective<T, B> (*make)(grammar::arguments&);
};

// With quantize as any/parse.hpp reads it, but without damping, which is another compressor.
template <Scalar T, class B>
any_collective<T, B> split_all_gather_named(grammar::arguments& a) {
    auto const* const i = a.find("then");
    if (!i || (a.is_word(*i) && i->word == "sparse")) return split_all_gather{second_stage::sparse};
    if (a.is_word(*i) && i->word == "dense") return split_all_gather{second_stage::dense};
    if (i->calls.size() != 1 || i->calls[0].name != "quantize")
        a.refuse(i->position, "what is gathered is sparse, dense or quantize(levels)");
    grammar::arguments q(a.text(), i->calls[0]);
    auto const levels = q.whole("levels", 1, 1, 32767), bucket = q.whole("bucket", 0, 0, 0x1p53);
    quantize const how{static_cast<int>(levels), bucket, norm_named(q)};
    q.finish();
    return compressed_split_all_gather{how, a.whole("seed", 0, 0, 0x1p53)};
}

inline automatic automatic_named(grammar::arguments& a) {
    automatic_settings s;
    s.net.latency = a.number("latency", s.net.latency);
    s.net.seconds_per_bit = a.number("seconds_per_bit", s.net.seconds_per_bit);
    s.net.overhead = a.number("overhead", s.net.overhead);
    s.net.half_duplex = a.yes("half_duplex");
    s.reading.per_term = a.number("per_term", s.reading.per_term);
    s.reading.per_number = a.number("per_number", s.reading.per_number);
    s.every = static_cast<int>(a.whole("every", static_cast<std::size_t>(s.every), 1, 1e9));
    return {s};
}

template <Scalar T, class B>
std::vector<named_collective<T, B>> const& named_collectives() {
    using any = any_collective<T, B>;
    using arguments = grammar::arguments;
    static std::vector<named_collective<T, B>> const all = {
        {{"gather", "", "every rank, or a server, receives all messages"},
         [](arguments&) -> any { return gather_all{}; }},
        {{"ring", "", "dense: Patarasuk, Yuan, JPDC 2009"}, [](arguments&) -> any { return ring{}; }},
        {{"halving_doubling", "", "dense: Rabenseifner, ICCS 2004"},
         [](arguments&) -> any { return halving_doubling{}; }},
        {{"recursive_doubling", "", "sparse: Renggli et al., SC 2019"},
         [](arguments&) -> any { return recursive_doubling{}; }},
        {{"split_all_gather", "(then=sparse)",
          "sparse, the sum gathered sparse, dense or quantize(levels): Renggli et al., SC 2019"},
         [](arguments& a) -> any { return split_all_gather_named<T, B>(a); }},
        {{"gtop_k", "(k=0.01, as_published=no)", "k terms of sums along a tree: Shi et al., ICDCS 2019"},
         [](arguments& a) -> any {
             double const k = a.number("k", 0.01);
             return gtop_k{k, a.yes("as_published") ? left_out::as_published : left_out::to_merger};
         }},
        {{"spar_reduce_scatter", "(k=0.01, seed=0, as_published=no)",
          "k terms of the sum by blocks: SparDL, ICDE 2024"},
         [](arguments& a) -> any {
             double const k = a.number("k", 0.01);
             auto const seed = a.whole("seed", 0, 0, 0x1p53);
             return spar_reduce_scatter{k, a.yes("as_published"), seed};
         }},
        {{"ok_top_k", "(k=0.01, threshold=32, regions=64)", "about k terms of the sum: Li, Hoefler, PPoPP 2022"},
         [](arguments& a) -> any {
             double const k = a.number("k", 0.01);
             auto const threshold = a.whole("threshold", 32, 1, 0x1p53), regions = a.whole("regions", 64, 1, 0x1p53);
             return ok_top_k{k, {threshold, regions}};
         }},
        {{"sum_by_server", "", "sparse: rank 0 adds up all, and sends the sum"},
         [](arguments&) -> any { return sum_by_server{}; }},
        {{"gathered_sum", "", "sparse: every rank receives all terms in log2 P messages, and adds them up"},
         [](arguments&) -> any { return gathered_sum{}; }},
        {{"omni_reduce", "(block=256)", "dense, without the blocks that are 0: OmniReduce, SIGCOMM 2021"},
         [](arguments& a) -> any { return omni_reduce{a.whole("block", 256, 1, 0x1p32)}; }},
        {{"switch_ml", "", "dense, in integers as a switch adds them up: SwitchML, NSDI 2021"},
         [](arguments&) -> any { return switch_ml{}; }},
        {{"engine_all_reduce", "", "dense: the engine's own, which MPI has"},
         [](arguments&) -> any { return engine_all_reduce{}; }},
        {{"auto",
          "(latency=2e-05, seconds_per_bit=1e-09, overhead=0, half_duplex=no, per_term=0, per_number=0, every=16)",
          "whichever exact sum is quickest over that network for as many terms as there are"},
         [](arguments& a) -> any { return automatic_named(a); }},
    };
    return all;
}

template <Scalar T, class B>
any_collective<T, B> make_collective(std::string_view text, grammar::pipe const& calls) {
    return grammar::make_named(named_collectives<T, B>(), text, calls, "a collective");
}

}  // namespace detail

/// Reads the text of a collective, such as "gtop_k(0.01)"; to_string of the result reads back as the same. Throws
/// parse_error with the place and the valid names.
template <Scalar T = double, class B = host>
any_collective<T, B> parse_collective(std::string_view text) {
    return detail::make_collective<T, B>(text, grammar::read_pipe(text));
}

/// All collectives that parse_collective reads. (A template, so that only its callers compile all collectives.)
template <Scalar T = double, class B = host>
std::vector<collective_description> describe_collectives() {
    std::vector<collective_description> all;
    for (auto const& x : detail::named_collectives<T, B>()) all.push_back(x.about);
    return all;
}

}  // namespace laconic
