/// Collectives through NCCL, of the GPUs that this process drives.

#pragma once

#include <memory>
#include <vector>

#include "timing.hpp"

namespace nsysan::calibrate {

enum class Collective : int {
    kAllReduce,
    kAllGather,
    kReduceScatter,
    kBroadcast,
    kReduce,
    kAllToAll,
    kSendRecv,
};

/// `element_count` is NCCL's: of the whole buffer, or of one rank's part where NCCL counts so.
struct Exchange {
    Collective collective;
    int data_type;
    int element_bytes;
    std::size_t element_count;
};

/// Where a rank sends from and receives into.
struct Ends {
    std::shared_ptr<const Buffer> send;
    std::shared_ptr<const Buffer> receive;
};

/// The communicators of this process, one a GPU, all of one group of ranks.
class Communicators {
  public:
    /// All ranks are in this process.
    Communicators(std::shared_ptr<const Nccl> nccl,
                  std::vector<std::shared_ptr<const Device>> devices);
    /// One rank of many, which all call this at once with one id.
    Communicators(std::shared_ptr<const Nccl> nccl, std::shared_ptr<const Device> device, int rank,
                  int rank_count, const UniqueId& id);

    Communicators(const Communicators&) = delete;
    Communicators& operator=(const Communicators&) = delete;
    ~Communicators() = default;

    int rank_count() const { return rank_count_; }

    /// By GPU of this process: nanoseconds of a launch, the mean of each sample. Aborts the
    /// communicators and throws `Stalled` where the other ranks do not take part.
    std::vector<std::vector<double>> time(const Exchange& exchange, const std::vector<Ends>& ends,
                                          const Batch& batch);

  private:
    struct Member {
        std::shared_ptr<const Device> device;
        int rank;
        Owned communicator;
        Stream stream;
    };

    void add(const std::shared_ptr<const Device>& device, int rank, void* communicator);
    void check(const Exchange& exchange, const std::vector<Ends>& ends) const;
    void exchange_once(const Exchange& exchange, const std::vector<Ends>& ends) const;
    void call(const Member& member, const Exchange& exchange, const Ends& ends) const;
    void call_each_peer(const Member& member, const Exchange& exchange, const Ends& ends) const;
    void wait(const Batch& batch) const;

    std::shared_ptr<const Nccl> nccl_;
    int rank_count_;
    bool is_broken_ = false;
    std::vector<Member> members_;
};

}  // namespace nsysan::calibrate
