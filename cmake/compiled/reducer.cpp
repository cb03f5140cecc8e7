// SPDX-License-Identifier: Apache-2.0
#include "laconic/compiled.hpp"
#include "named_reductions.hpp"

namespace laconic::compiled {

struct reducer::held {
    any_reducer<float> inside;
};

reducer::reducer(std::string_view reduction, any_communicator comm, std::vector<layer> const& layers,
                 reducer_options options)
    : held_(new held{{parse_reduction<float>(reduction), comm, layers, std::move(options)}}) {}
reducer::reducer(reducer&&) noexcept = default;
reducer& reducer::operator=(reducer&&) noexcept = default;
reducer::~reducer() = default;

void reducer::reduce(std::span<float> x, step_options const& options) { held_->inside(x, options); }
void reducer::start_layer(std::size_t l, std::span<float> x, step_options const& options) {
    held_->inside.start(l, x, options);
}
void reducer::bind_layer(std::size_t l, std::span<float> x) { held_->inside.bind(l, x); }
void reducer::finish(step_options const& options) { held_->inside.finish(options); }
void reducer::drop() { held_->inside.drop(); }
std::vector<std::byte> reducer::save() const { return held_->inside.save(); }
void reducer::restore(std::span<std::byte const> saved) { held_->inside.restore(saved); }
void reducer::restore(std::span<std::vector<std::byte> const> saved) { held_->inside.restore(saved); }
void reducer::rebind(any_communicator comm) { held_->inside.rebind(comm); }
std::uint64_t reducer::steps() const { return held_->inside.steps(); }
std::uint64_t reducer::seed() const { return held_->inside.seed(); }
reducer_statistics reducer::statistics() const { return held_->inside.statistics(); }

std::vector<listed_value> list_compressors() { return laconic::list_compressors<float>(); }
std::vector<listed_value> list_reductions() { return laconic::list_reductions(); }
std::vector<listed_value> list_collectives() { return laconic::list_collectives(); }

}  // namespace laconic::compiled
