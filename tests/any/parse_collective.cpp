// SPDX-License-Identifier: Apache-2.0
// Every collective is read from its text and written back, adds up floats, and each mistake has its column.
#include "laconic/any/parse_collective.hpp"

#include "laconic/comm/fibers.hpp"
#include "named_collectives.hpp"
#include "support/everything.hpp"
#include "support/refused.hpp"

// The library's collectives with their defaults.
template <class... X>
std::vector<std::string> default_texts(detail::type_list<X...>) {
    return {to_string(any_collective<>(X{}))...};
}

TEST_CASE("every collective is read and written back") {
    std::set<std::string> read, listed, names;
    auto texts = default_texts(detail::library_collectives{});
    for (char const* text : {"split_all_gather(dense)",
                             "gtop_k(100)",
                             "gtop_k(0.001, as_published=yes)",
                             "spar_reduce_scatter(100, seed=7)",
                             "spar_reduce_scatter(0.25, as_published=yes)",
                             "ok_top_k(0.5, threshold=8, regions=3)",
                             "split_all_gather(quantize(7))",
                             "split_all_gather(quantize(127, bucket=1024, p=inf), seed=5)",
                             "omni_reduce(32)",
                             "two_shot(bf16)",
                             "two_shot(quantize(7, bucket=128), seed=5)",
                             "arc_top_k(rows=4, k=2, sketch=3, seed=1)",
                             "shared_factors(rows=4, rank=2, refresh=5, in_full=yes, seed=1)",
                             "auto(latency=0.001, seconds_per_bit=1e-06)",
                             "auto(latency=0, seconds_per_bit=0, overhead=3e-06, half_duplex=yes, "
                             "per_term=2e-09, per_number=1e-09, every=1)",
                             "robust(coordinate_median)",
                             "robust(trimmed_mean(2))",
                             "robust(geometric_median(passes=9))",
                             "robust(krum(2), beside_memory=yes)",
                             "robust(centered_clip(0.5, passes=2))",
                             "robust(median_norm_clip)",
                             "robust(mean_over_senders(clip=yes), beside_memory=yes)"})
        texts.push_back(text);
    for (auto const& text : texts) {
        CAPTURE(text);
        auto const x = parse_collective(text);
        CHECK(to_string(x) == text);
        CHECK(x.gathers() == (text == "gather"));
        read.insert(text.substr(0, text.find('(')));
    }
    for (auto const& x : list_collectives()) {
        CHECK(listed.insert(x.name + x.parameters).second);
        names.insert(x.name);
        CHECK(!x.about.empty());
        if (x.name == "robust") CHECK(x.fields[0].values.starts_with("coordinate_median, trimmed_mean(drop=1), "));
    }
    CHECK(read == names);
}

TEST_CASE("blanks, names and defaults are free") {
    auto const same = [](char const* text, any_collective<> const& x) { CHECK(parse_collective(text) == x); };
    same(" ring()\n", ring{});
    same("split_all_gather", split_all_gather{});
    same("split_all_gather( then = dense )", split_all_gather{split_all_gather::second_stage::dense});
    same("gtop_k", gtop_k{});
    same("gtop_k(as_published=no,k=3)", gtop_k{3});
    same("spar_reduce_scatter", spar_reduce_scatter{});
    same("spar_reduce_scatter(seed=9, 0.5)", spar_reduce_scatter{0.5, false, 9});
    same("ok_top_k", ok_top_k{});
    same("spar_reduce_scatter(0.5, 9)", spar_reduce_scatter{0.5, false, 9});
    same("split_all_gather(quantize)", compressed_split_all_gather{quantize{1}});
    same("split_all_gather(seed=3, then=quantize( bucket=64, levels=7, p=1 ))",
         compressed_split_all_gather{quantize{7, 64, p_norm::one}, 3});
    same("robust", robust{robust_rules::coordinate_median{}});
    same("robust(krum)", robust{robust_rules::krum{}});
    same("omni_reduce", omni_reduce{});
    same("two_shot", two_shot{bf16::random{}});
    same("two_shot(bf16)", two_shot{bf16{}});
    same("two_shot(seed=3, compressor=uniform(4))", two_shot{uniform<>{4}, 3});
    same("two_shot(uniform(8), ring=yes)", two_shot{uniform<>{8}, 0, true});
    same("two_shot(scaled_sign, owner_keeps=yes)", two_shot{scaled_sign{}, 0, false, true});
    same("arc_top_k(rows=8, k=0.08)", arc_top_k{8});
    same("shared_factors(rank=2, rows=8)", shared_factors{8, 2});
    same("auto", automatic{});
    same("auto(every=3, 0, 1e-9)", automatic{{0, 1e-9}, {}, 3});
    same("auto(0, 1e-9, 2, 3, 4, half_duplex=yes)", automatic{{0, 1e-9, 2, true}, {3, 4}});
}

TEST_CASE("what is wrong, where, and what there is instead") {
    auto const refused = [](std::string const& text, std::size_t column, std::string const& why) {
        refuses(parse_collective<double, host>, text, column, why, false);
    };
    std::string const names = "there are gather, ring, halving_doubling, recursive_doubling, split_all_gather, gtop_k";
    refused("rings", 1, "there is no collective 'rings' (did you mean ring?); " + names);
    refused("tree", 1, "there is no collective 'tree'; " + names);
    refused("ring | gtop_k", 8, "a collective cannot be part of a pipe");
    refused("ring(3)", 6, "ring takes no arguments");
    for (std::string const then : {"quick", "dense(3)", "quantize|scaled_sign", "scaled_sign"})
        refused("split_all_gather(" + then + ")", 18, "then is sparse or dense, or then is quantize");
    refused("split_all_gather(dense, seed=3)", 30, "split_all_gather takes then; 'seed' is none of them");
    refused("split_all_gather(quantize(0))", 27, "levels is a whole number from 1 to 32767");
    refused("split_all_gather(quantize(7, damped=yes))", 37, "damped is no here");
    refused("omni_reduce(0)", 13, "block is a whole number from 1 to");
    refused("two_shot(bf17)", 10, "there is no compressor 'bf17' (did you mean bf16?)");
    refused("auto(latency=much)", 14, "latency is a number");
    refused("auto(every=0)", 12, "every is a whole number from 1 to");
    refused("robust(krumm(2))", 8, "there is no rule 'krumm' (did you mean krum?)");
    refused("robust(trimmed)", 8, "geometric_median");
    refused("robust(krum(2), yes)", 17, "robust takes rule or beside_memory");
    refused("robust(centered_clip(-1))", 22, "radius is from 0 to 1e+300");
    refused("engine_all_reduce(2)", 19, "engine_all_reduce takes no arguments");
    refused("gtop_k(many)", 8, "k is a number");
    refused("gtop_k(3, yes)", 11, "gtop_k takes k or as_published; this is none of them");
    refused("gtop_k(as_published=maybe)", 21, "as_published is yes or no");
    refused("spar_reduce_scatter(3, 0.5)", 24, "seed is a whole number from 0 to");
    refused("", 1, "a name is expected here");
    CHECK_THROWS_AS(parse_collective("auto(-1)").check(3), argument_error);
}

TEST_CASE("of floats, too: all that add up over three ranks give the sum") {
    constexpr std::size_t n = 9;
    for (auto const& known : list_collectives<float>()) {
        if (known.name == "gather" || known.name == "robust" || known.name == "engine_all_reduce")
            continue;  // no sums; an engine that has it
        auto const x = parse_collective<float>(known.parameters.starts_with("(k=") ? known.name + "(9)" : known.name);
        CAPTURE(to_string(x));
        fibers::run(3, [&](fibers::member& comm) {
            host on;
            auto sum = make_sum<float>(x, n);
            auto const mine = static_cast<float>(1 + comm.rank());
            std::vector<float> dense(n);
            if (sum.wants_terms()) {
                sparse_sum<float> v(n);
                v.append(4, mine);
                sum(on, comm, v);
                for (std::size_t j = 0; j < v.size(); ++j) dense[v.support()[j]] = v.values()[j];
            } else {
                dense[4] = mine;
                sum(on, comm, std::span<float>(dense));
            }
            CHECK(dense == std::vector<float>{0, 0, 0, 0, 6, 0, 0, 0, 0});
        });
    }
}
