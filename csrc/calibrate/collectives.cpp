#include "collectives.hpp"

#include <stdexcept>

namespace nsysan::calibrate {
namespace {

constexpr int kSum = 0;
constexpr int kRoot = 0;

/// Groups the calls in its life; NCCL must be told the end whatever happens.
class Group {
  public:
    explicit Group(const Nccl& nccl) : nccl_(nccl) {
        nccl.check(nccl.ncclGroupStart(), "ncclGroupStart");
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    ~Group() {
        if (is_open_) {
            nccl_.ncclGroupEnd();
        }
    }
    void end() {
        is_open_ = false;
        nccl_.check(nccl_.ncclGroupEnd(), "ncclGroupEnd");
    }

  private:
    const Nccl& nccl_;
    bool is_open_ = true;
};

}  // namespace

Communicators::Communicators(std::shared_ptr<const Nccl> nccl,
                             std::vector<std::shared_ptr<const Device>> devices)
    : nccl_(std::move(nccl)), rank_count_(static_cast<int>(devices.size())) {
    if (devices.empty()) {
        throw std::invalid_argument("a collective needs a GPU");
    }
    std::vector<int> numbers;
    for (const auto& device : devices) {
        numbers.push_back(device->index());
    }
    std::vector<void*> created(devices.size(), nullptr);
    nccl_->check(nccl_->ncclCommInitAll(created.data(), rank_count_, numbers.data()),
                 "ncclCommInitAll");
    // all are owned before a stream of any can fail
    std::vector<Owned> owned;
    for (void* communicator : created) {
        owned.emplace_back(communicator, [this](void* held) { nccl_->ncclCommDestroy(held); });
    }
    for (std::size_t place = 0; place < devices.size(); ++place) {
        members_.push_back({devices[place], static_cast<int>(place), std::move(owned[place]),
                            Stream(devices[place])});
    }
}

Communicators::Communicators(std::shared_ptr<const Nccl> nccl, std::shared_ptr<const Device> device,
                             int rank, int rank_count, const UniqueId& id)
    : nccl_(std::move(nccl)), rank_count_(rank_count) {
    if (rank < 0 || rank >= rank_count) {
        throw std::invalid_argument("a rank is one of its group");
    }
    device->enter();
    void* created = nullptr;
    nccl_->check(nccl_->ncclCommInitRank(&created, rank_count, id, rank), "ncclCommInitRank");
    Owned owned(created, [this](void* held) { nccl_->ncclCommDestroy(held); });
    members_.push_back({device, rank, std::move(owned), Stream(device)});
}

std::vector<std::vector<double>> Communicators::time(const Exchange& exchange,
                                                     const std::vector<Ends>& ends,
                                                     const Batch& batch) {
    batch.check();
    check(exchange, ends);
    std::vector<std::vector<Event>> begins(members_.size());
    std::vector<std::vector<Event>> finishes(members_.size());
    for (int sample = 0; sample < batch.sample_count; ++sample) {
        for (std::size_t place = 0; place < members_.size(); ++place) {
            members_[place].device->enter();
            begins[place].emplace_back(*members_[place].device);
            finishes[place].emplace_back(*members_[place].device);
            begins[place].back().record(members_[place].stream);
        }
        for (int number = 0; number < batch.launch_count; ++number) {
            exchange_once(exchange, ends);
        }
        for (std::size_t place = 0; place < members_.size(); ++place) {
            members_[place].device->enter();
            finishes[place].back().record(members_[place].stream);
        }
    }
    try {
        wait(batch);
    } catch (const Stalled&) {
        is_broken_ = true;
        for (Member& member : members_) {
            // what hangs cannot be destroyed, only aborted
            nccl_->ncclCommAbort(member.communicator.disown());
        }
        throw;
    }
    std::vector<std::vector<double>> times_ns(members_.size());
    for (std::size_t place = 0; place < members_.size(); ++place) {
        for (std::size_t sample = 0; sample < begins[place].size(); ++sample) {
            const double all_ns = finishes[place][sample].since_ns(begins[place][sample]);
            times_ns[place].push_back(all_ns / batch.launch_count);
        }
    }
    return times_ns;
}

void Communicators::check(const Exchange& exchange, const std::vector<Ends>& ends) const {
    if (is_broken_ || ends.size() != members_.size() || exchange.element_bytes < 1) {
        throw std::invalid_argument("each GPU of a working group has two ends");
    }
    const auto ranks = static_cast<std::size_t>(rank_count_);
    const std::size_t part =
        exchange.element_count * static_cast<std::size_t>(exchange.element_bytes);
    const bool sends_parts = exchange.collective == Collective::kReduceScatter ||
                             exchange.collective == Collective::kAllToAll;
    const bool receives_parts = exchange.collective == Collective::kAllGather ||
                                exchange.collective == Collective::kAllToAll;
    for (const Ends& each : ends) {
        if (each.send->size_bytes() < part * (sends_parts ? ranks : 1) ||
            each.receive->size_bytes() < part * (receives_parts ? ranks : 1)) {
            throw std::invalid_argument("a collective is larger than its buffers");
        }
    }
}

void Communicators::exchange_once(const Exchange& exchange, const std::vector<Ends>& ends) const {
    Group group(*nccl_);
    for (std::size_t place = 0; place < members_.size(); ++place) {
        members_[place].device->enter();
        call(members_[place], exchange, ends[place]);
    }
    group.end();
}

void Communicators::call(const Member& member, const Exchange& exchange, const Ends& ends) const {
    const Nccl& nccl = *nccl_;
    const auto* send = reinterpret_cast<const void*>(ends.send->address());
    auto* receive = reinterpret_cast<void*>(ends.receive->address());
    const std::size_t count = exchange.element_count;
    const int type = exchange.data_type;
    void* communicator = member.communicator.get();
    void* stream = member.stream.get();
    switch (exchange.collective) {
        case Collective::kAllReduce:
            nccl.check(nccl.ncclAllReduce(send, receive, count, type, kSum, communicator, stream),
                       "ncclAllReduce");
            return;
        case Collective::kAllGather:
            nccl.check(nccl.ncclAllGather(send, receive, count, type, communicator, stream),
                       "ncclAllGather");
            return;
        case Collective::kReduceScatter:
            nccl.check(
                nccl.ncclReduceScatter(send, receive, count, type, kSum, communicator, stream),
                "ncclReduceScatter");
            return;
        case Collective::kBroadcast:
            nccl.check(nccl.ncclBroadcast(send, receive, count, type, kRoot, communicator, stream),
                       "ncclBroadcast");
            return;
        case Collective::kReduce:
            nccl.check(
                nccl.ncclReduce(send, receive, count, type, kSum, kRoot, communicator, stream),
                "ncclReduce");
            return;
        case Collective::kAllToAll:
        case Collective::kSendRecv:
            call_each_peer(member, exchange, ends);
            return;
    }
    throw std::invalid_argument("there is no such collective");
}

void Communicators::call_each_peer(const Member& member, const Exchange& exchange,
                                   const Ends& ends) const {
    const bool is_to_all = exchange.collective == Collective::kAllToAll;
    const std::size_t part =
        exchange.element_count * static_cast<std::size_t>(exchange.element_bytes);
    const int peers = is_to_all ? rank_count_ : 1;
    for (int peer = 0; peer < peers; ++peer) {
        const int target = is_to_all ? peer : (member.rank + 1) % rank_count_;
        const int source = is_to_all ? peer : (member.rank + rank_count_ - 1) % rank_count_;
        const std::size_t offset = part * static_cast<std::size_t>(peer);
        nccl_->check(nccl_->ncclSend(reinterpret_cast<const void*>(ends.send->address() + offset),
                                     exchange.element_count, exchange.data_type, target,
                                     member.communicator.get(), member.stream.get()),
                     "ncclSend");
        nccl_->check(nccl_->ncclRecv(reinterpret_cast<void*>(ends.receive->address() + offset),
                                     exchange.element_count, exchange.data_type, source,
                                     member.communicator.get(), member.stream.get()),
                     "ncclRecv");
    }
}

void Communicators::wait(const Batch& batch) const {
    for (const Member& member : members_) {
        member.stream.wait(batch.limit);
        int code = 0;
        nccl_->check(nccl_->ncclCommGetAsyncError(member.communicator.get(), &code),
                     "ncclCommGetAsyncError");
        nccl_->check(code, "a collective");
    }
}

}  // namespace nsysan::calibrate
