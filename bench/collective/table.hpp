// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

// What the programs print: tables in Markdown, of the same columns, by rank 0.
namespace laconic::bench {

/// In seconds.
struct times {
    double median = 0, least = 0;
};
inline times times_of(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    return {seconds[seconds.size() / 2], seconds[0]};
}

/// Fields that are 0 are left empty.
struct row {
    std::string name{};
    double megabytes = 0;  ///< what the busiest port takes in or gives out
    double on_link = 0;    ///< seconds that the bytes need there, one after another as the schedule has them
    times alone{}, all{};  ///< without and with selection and accumulation
    double empty = 0;      ///< the least time of the same schedule with empty messages
    bool right = true;
};

class table {
  public:
    explicit table(int rank) : rank_(rank) {}

    /// Begins a table, which is printed once it has a row.
    void head(std::string what) { head_ = std::move(what); }
    /// `mpi` and `mpi16` are the medians of the best MPI_Allreduce of float32 and of as many numbers of 16 bits, 0
    /// where there is none.
    void add(row const& r, double mpi, double mpi16) {
        if (rank_ != 0) return;
        if (!head_.empty())
            fmt::print(
                "\n{}\n\n| collective | MB | on the link | alone | least | / link | empty messages | with selection "
                "and "
                "sum | least | MPI / it | 16 bits / it |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
                std::exchange(head_, {}));
        auto const ms = [](double s) {
            return s == 0 ? std::string() : s < 1 ? fmt::format("{:.3g}", 1e3 * s) : fmt::format("{:.0f}", 1e3 * s);
        };
        auto const ratio = [](double a, double b) {
            return a == 0 || b == 0 ? std::string() : fmt::format("{:.2f}", a / b);
        };
        fmt::print("| `{}` | {:.4g} | {} | {} | {} | {} | {} | {} | {} | {} | {} |{}\n", r.name, r.megabytes,
                   ms(r.on_link), ms(r.alone.median), ms(r.alone.least), ratio(r.alone.least, r.on_link), ms(r.empty),
                   ms(r.all.median), ms(r.all.least), ratio(mpi, r.all.median), ratio(mpi16, r.all.median),
                   r.right ? "" : " WRONG SUM");
        std::fflush(stdout);
    }
    /// A paragraph.
    void say(std::string const& text) const {
        if (rank_ != 0) return;
        fmt::print("\n{}\n", text);
        std::fflush(stdout);
    }

  private:
    int rank_;
    std::string head_;
};

/// "8 ranks, 25000000 float32, links of 1000 Mbit/s; times in ms".
inline std::string setting(int ranks, std::size_t d, double link) {
    return fmt::format("{} ranks, {} float32{}; times in ms", ranks, d,
                       link == 0 ? "" : fmt::format(", links of {:.4g} Mbit/s", link / 1e6));
}

}  // namespace laconic::bench
