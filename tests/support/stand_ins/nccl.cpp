// SPDX-License-Identifier: Apache-2.0
// NCCL and the CUDA functions it needs, for ranks that are threads; stops the program on every misuse.
#include "support/stand_ins/nccl.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

[[noreturn]] void misuse(std::string const& what) {
    std::fprintf(stderr, "the stand-in for NCCL: %s\n", what.c_str());
    std::abort();
}

// Everything below is under this one lock; whoever changes something wakes all.
std::mutex mutex;
std::condition_variable changed;
template <class Done>
void await(std::unique_lock<std::mutex>& lock, std::string const& what, Done done) {
    if (!changed.wait_for(lock, std::chrono::seconds(20), done)) misuse(what + ": nobody came for 20 s");
}

std::size_t bytes_of(ncclDataType_t type) {
    switch (type) {
        case ncclUint8:
            return 1;
        case ncclFloat:
            return 4;
        case ncclDouble:
            return 8;
        default:
            misuse("a type of numbers that it does not know");
    }
}

struct order {  // of something that is not there yet
    int left;
    int status;
};
std::map<std::pair<std::string, int>, order> orders;
constexpr int any_rank = -1;
int refusal(std::string const& call, int rank) {
    auto const found = orders.find({call, rank});
    if (found == orders.end() || found->second.left-- > 0) return 0;
    int const status = found->second.status;
    orders.erase(found);
    return status;
}
std::map<int, ncclResult_t> later_errors;
std::set<void*> memory;
std::size_t allocated = 0, aborts = 0, waited = 0;

struct collective {
    std::string call;
    std::size_t count;
    ncclDataType_t type;
    int root;
    bool operator==(collective const&) const = default;
};
struct part {
    void const* from;
    void* to;
};
struct collective_call {
    collective what;
    std::vector<part> parts;
    std::size_t here = 0;
    bool over = false, broken = false;  // broken: an abort took a rank out of it
};
struct parcel {
    void const* from;
    std::size_t bytes;
    std::shared_ptr<bool> taken;
};
struct world {
    explicit world(int ranks) : size(ranks), joined(static_cast<std::size_t>(ranks)) {}
    int size;
    std::vector<bool> joined;
    int here = 0;
    std::map<std::uint64_t, std::shared_ptr<collective_call>> calls;
    std::map<std::pair<int, int>, std::deque<parcel>> parcels;  // from, to
};
std::map<std::string, std::shared_ptr<world>> worlds;

// Sums in the order of ranks.
template <class T>
void sum_up(collective_call& m) {
    for (std::size_t i = 0; i < m.what.count; ++i) {
        T sum = 0;
        for (auto const& p : m.parts) sum += static_cast<T const*>(p.from)[i];
        for (auto const& p : m.parts) static_cast<T*>(p.to)[i] = sum;
    }
}
void hold(collective_call& m) {
    auto const bytes = m.what.count * bytes_of(m.what.type);
    if (m.what.call == "ncclAllReduce") return m.what.type == ncclFloat ? sum_up<float>(m) : sum_up<double>(m);
    for (auto const& p : m.parts)
        for (std::size_t r = 0; r < m.parts.size(); ++r) {
            bool const gathers = m.what.call == "ncclAllGather";
            if (!gathers && static_cast<int>(r) != m.what.root) continue;
            std::memmove(static_cast<std::byte*>(p.to) + (gathers ? r * bytes : 0), m.parts[r].from, bytes);
        }
}

}  // namespace

struct ncclComm {
    std::shared_ptr<world> all;
    int rank = 0;
    std::uint64_t collectives = 0;  // collectives so far
    int under_way = 0;
    bool is_aborted = false;
};

namespace {

std::map<ncclComm_t, std::shared_ptr<ncclComm>> comms;
std::shared_ptr<ncclComm> living(ncclComm_t comm) {
    auto const found = comms.find(comm);
    if (found == comms.end()) misuse("a communicator that is not, or not any more");
    return found->second;
}

// One thing that a stream does: of a group, all.
struct transfer {
    std::shared_ptr<ncclComm> comm;
    collective what;
    part place;
    std::uint64_t number = 0;  // of a collective
    int peer = -1;
};
using transfers = std::vector<transfer>;

void attend(std::unique_lock<std::mutex>& lock, transfer const& t) {
    auto& slot = t.comm->all->calls[t.number];
    if (!slot)
        slot = std::make_shared<collective_call>(
            collective_call{t.what, std::vector<part>(std::size_t(t.comm->all->size))});
    auto const m = slot;
    if (!(m->what == t.what)) misuse("ranks differ: " + m->what.call + " and " + t.what.call + ", or their arguments");
    m->parts[std::size_t(t.comm->rank)] = t.place;
    if (++m->here == m->parts.size() && !m->broken) {
        hold(*m);
        m->over = true;
        t.comm->all->calls.erase(t.number);
        changed.notify_all();
    }
    await(lock, t.what.call, [&] { return m->over || t.comm->is_aborted; });
    m->broken = !m->over;
}

// All of a group at the same time: what is sent is on offer before anything is awaited.
void carry_out(std::unique_lock<std::mutex>& lock, transfers const& group) {
    std::vector<std::pair<transfer const*, std::shared_ptr<bool>>> sent;
    for (auto const& t : group)
        if (t.what.call == "ncclSend") {
            sent.emplace_back(&t, std::make_shared<bool>(false));
            t.comm->all->parcels[{t.comm->rank, t.peer}].push_back({t.place.from, t.what.count, sent.back().second});
            changed.notify_all();
        }
    for (auto const& t : group) {
        if (t.what.call == "ncclSend") continue;
        if (t.what.call != "ncclRecv") {
            attend(lock, t);
            continue;
        }
        auto& queue = t.comm->all->parcels[{t.peer, t.comm->rank}];
        await(lock, "ncclRecv", [&] { return !queue.empty() || t.comm->is_aborted; });
        if (t.comm->is_aborted) continue;
        if (queue.front().bytes != t.what.count)
            misuse(std::to_string(queue.front().bytes) + " bytes are sent, " + std::to_string(t.what.count) +
                   " received");
        std::memcpy(t.place.to, queue.front().from, t.what.count);
        *queue.front().taken = true;
        queue.pop_front();
        changed.notify_all();
    }
    for (auto const& [t, taken] : sent) {
        await(lock, "ncclSend", [whom = t, is = taken] { return *is || whom->comm->is_aborted; });
        std::erase_if(t->comm->all->parcels[{t->comm->rank, t->peer}], [is = taken](auto& p) { return p.taken == is; });
    }
    for (auto const& t : group) --t.comm->under_way;
    changed.notify_all();
}

}  // namespace

namespace {

thread_local int device = 0;
thread_local cudaError_t last_error = cudaSuccess;
std::set<cudaStream_t> streams;

}  // namespace

struct CUstream_st {
    int on = device;
    std::deque<std::function<void(std::unique_lock<std::mutex>&)>> queue;
    bool busy = false, ends = false;
    std::thread worker{[this] {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [this] { return ends || !queue.empty(); });
            if (queue.empty()) return;
            auto const next = std::move(queue.front());
            queue.pop_front();
            busy = true;
            next(lock);
            busy = false;
            changed.notify_all();
        }
    }};
};

namespace {

void enqueue(std::unique_lock<std::mutex>& lock, cudaStream_t stream,
             std::function<void(std::unique_lock<std::mutex>&)> what) {
    if (stream == nullptr) return what(lock);
    stream->queue.push_back(std::move(what));
    changed.notify_all();
}

thread_local int depth = 0;
thread_local transfers grouped;
thread_local cudaStream_t stream_of_group = nullptr;
thread_local bool group_failed = false;

ncclResult_t enqueue(transfer t, ncclComm_t comm, cudaStream_t stream) {
    std::unique_lock lock(mutex);
    t.comm = living(comm);
    if (int const status = refusal(t.what.call, t.comm->rank)) {
        group_failed = depth > 0;
        return static_cast<ncclResult_t>(status);
    }
    bool const pair = t.peer >= 0;
    if (pair && (t.peer >= t.comm->all->size || t.peer == t.comm->rank)) misuse("a peer that is none");
    if (!pair) t.number = t.comm->collectives++;
    t.what.count *= pair ? bytes_of(t.what.type) : 1;
    ++t.comm->under_way;
    if (depth > 0) {
        if (!grouped.empty() && stream_of_group != stream) misuse("two streams in one group");
        stream_of_group = stream;
        grouped.push_back(std::move(t));
        return ncclSuccess;
    }
    enqueue(lock, stream, [group = transfers{std::move(t)}](auto& held) { carry_out(held, group); });
    return ncclSuccess;
}

cudaError_t give(char const* call, void** p, std::size_t n) {
    std::lock_guard const lock(mutex);
    if (int const status = refusal(call, any_rank)) return static_cast<cudaError_t>(status);
    memory.insert(*p = std::malloc(n));
    ++allocated;
    return cudaSuccess;
}
// As CUDA, it waits for the device.
cudaError_t take_back(void* p) {
    std::unique_lock lock(mutex);
    for (auto* const s : streams)
        if (s->on == device) await(lock, "cudaFree", [&] { return s->queue.empty() && !s->busy; });
    if (p != nullptr && memory.erase(p) == 0) misuse("memory is freed that is not there");
    std::free(p);
    return cudaSuccess;
}

}  // namespace

// The functions of NCCL.

char const* ncclGetErrorString(ncclResult_t status) {
    switch (status) {
        case ncclSystemError:
            return "unhandled system error";
        case ncclRemoteError:
            return "remote process exited or there was a network error";
        case ncclInvalidArgument:
            return "invalid argument";
        default:
            return "another error";
    }
}
char const* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    static std::atomic<unsigned> made{0};
    std::memset(id, 0, sizeof *id);
    std::snprintf(id->internal, sizeof id->internal, "world %u", ++made);
    return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
    std::unique_lock lock(mutex);
    if (int const status = refusal("ncclCommInitRank", rank)) return static_cast<ncclResult_t>(status);
    if (rank < 0 || rank >= ranks) return ncclInvalidArgument;
    auto& slot = worlds[id.internal];
    if (!slot) slot = std::make_shared<world>(ranks);
    auto const all = slot;
    if (all->size != ranks || all->joined[std::size_t(rank)]) misuse("ranks do not agree on who they are");
    all->joined[std::size_t(rank)] = true;
    ++all->here;
    changed.notify_all();
    await(lock, "ncclCommInitRank", [&] { return all->here == ranks; });
    auto const made = std::make_shared<ncclComm>();
    made->all = all;
    made->rank = rank;
    comms[made.get()] = made;
    *comm = made.get();
    return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    std::unique_lock lock(mutex);
    auto const it = living(comm);
    await(lock, "ncclCommDestroy", [&] { return it->under_way == 0; });
    comms.erase(comm);
    return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
    std::unique_lock lock(mutex);
    auto const it = living(comm);
    if (depth > 0) misuse("an abort within a group");
    it->is_aborted = true;
    ++aborts;
    changed.notify_all();
    await(lock, "ncclCommAbort", [&] { return it->under_way == 0; });
    comms.erase(comm);
    return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* status) {
    std::lock_guard const lock(mutex);
    auto const found = later_errors.find(living(comm)->rank);
    *status = found == later_errors.end() ? ncclSuccess : found->second;
    return ncclSuccess;
}
ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
    std::lock_guard const lock(mutex);
    *count = living(comm)->all->size;
    return ncclSuccess;
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
    std::lock_guard const lock(mutex);
    *rank = living(comm)->rank;
    return ncclSuccess;
}
ncclResult_t ncclGroupStart() {
    ++depth;
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
    if (depth == 0) misuse("a group ends that has not begun");
    if (--depth > 0) return ncclSuccess;
    std::unique_lock lock(mutex);
    if (std::exchange(group_failed, false)) {  // nothing of it is carried out
        for (auto const& t : grouped) --t.comm->under_way;
        grouped.clear();
        return ncclInvalidUsage;
    }
    if (!grouped.empty())
        enqueue(lock, stream_of_group, [group = std::move(grouped)](auto& held) { carry_out(held, group); });
    grouped.clear();
    return ncclSuccess;
}
ncclResult_t ncclAllGather(void const* from, void* to, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
    return enqueue({{}, {"ncclAllGather", count, type, 0}, {from, to}}, comm, stream);
}
ncclResult_t ncclBroadcast(void const* from, void* to, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
    return enqueue({{}, {"ncclBroadcast", count, type, root}, {from, to}}, comm, stream);
}
ncclResult_t ncclAllReduce(void const* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t how,
                           ncclComm_t comm, cudaStream_t stream) {
    if (how != ncclSum) misuse("an all-reduce that is no sum");
    return enqueue({{}, {"ncclAllReduce", count, type, 0}, {from, to}}, comm, stream);
}
ncclResult_t ncclSend(void const* from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    return enqueue({{}, {"ncclSend", count, type, 0}, {from, nullptr}, 0, peer}, comm, stream);
}
ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
    return enqueue({{}, {"ncclRecv", count, type, 0}, {nullptr, to}, 0, peer}, comm, stream);
}

// The functions of CUDA's runtime.

char const* cudaGetErrorString(cudaError_t status) {
    return status == cudaErrorMemoryAllocation ? "out of memory" : "another error of CUDA's";
}
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaGetDeviceCount(int* count) {
    *count = 8;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int which) {
    device = which;
    return cudaSuccess;
}
cudaError_t cudaMalloc(void** p, size_t n) { return give("cudaMalloc", p, n); }
cudaError_t cudaMallocHost(void** p, size_t n) { return give("cudaMallocHost", p, n); }
cudaError_t cudaFree(void* p) { return take_back(p); }
cudaError_t cudaFreeHost(void* p) { return take_back(p); }
cudaError_t cudaMemcpyAsync(void* to, void const* from, size_t n, cudaMemcpyKind, cudaStream_t stream) {
    std::unique_lock lock(mutex);
    if (int const status = refusal("cudaMemcpyAsync", any_rank)) return static_cast<cudaError_t>(status);
    if (n > 0) enqueue(lock, stream, [=](auto&) { std::memmove(to, from, n); });
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    *stream = new CUstream_st;
    std::lock_guard const lock(mutex);
    streams.insert(*stream);
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    {
        std::lock_guard const lock(mutex);
        stream->ends = true;
        streams.erase(stream);
        changed.notify_all();
    }
    stream->worker.join();
    delete stream;
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    std::lock_guard const lock(mutex);
    ++waited;
    if (int const status = refusal("cudaStreamQuery", any_rank)) return static_cast<cudaError_t>(status);
    if (stream == nullptr || (stream->queue.empty() && !stream->busy)) return cudaSuccess;
    return last_error = cudaErrorNotReady;
}

// What tests call.

namespace stand_in {

void refuse(std::string const& call, int rank, int nth, ncclResult_t status) {
    std::lock_guard const lock(mutex);
    orders[{call, rank}] = {nth, status};
}
void refuse(std::string const& call, int nth, cudaError_t status) {
    std::lock_guard const lock(mutex);
    orders[{call, any_rank}] = {nth, status};
}
void later_error(int rank, ncclResult_t status) {
    std::lock_guard const lock(mutex);
    later_errors[rank] = status;
}
void behave() {
    std::lock_guard const lock(mutex);
    orders.clear();
    later_errors.clear();
}
std::size_t allocations() {
    std::lock_guard const lock(mutex);
    return allocated;
}
std::size_t pieces() {
    std::lock_guard const lock(mutex);
    return memory.size();
}
std::size_t communicators() {
    std::lock_guard const lock(mutex);
    return comms.size();
}
std::size_t aborted() {
    std::lock_guard const lock(mutex);
    return aborts;
}
std::size_t waits() {
    std::lock_guard const lock(mutex);
    return waited;
}

}  // namespace stand_in
