#include "meeting.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

namespace fake {
namespace {

constexpr std::size_t kMostRanks = 16;
constexpr std::size_t kMostBytes = std::size_t{64} << 10;
constexpr std::chrono::minutes kPatience{2};

}  // namespace

struct Meeting::Shared {
    struct Left {
        std::size_t size;
        char bytes[kMostBytes];
    };
    std::atomic<long> arrived[kMostRanks];
    std::atomic<bool> has_gone[kMostRanks];
    // who is a round ahead writes into the other half
    Left left[2][kMostRanks];
};

std::string Meeting::arrange() {
    std::string path = "/tmp/nsysan-fake-nccl-XXXXXX";
    const int file = mkstemp(path.data());
    if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) {
        return "";
    }
    close(file);
    return path;
}

Meeting::Shared* Meeting::open_shared(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR);
    void* mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return mapped == MAP_FAILED ? nullptr : static_cast<Shared*>(mapped);
}

void Meeting::decline(const std::string& path, int rank) {
    Shared* shared = open_shared(path);
    if (shared != nullptr) {
        shared->has_gone[rank] = true;
        munmap(shared, sizeof(Shared));
    }
}

Meeting::Meeting(const std::string& path, int rank, int rank_count)
    : rank_(static_cast<std::size_t>(rank)),
      rank_count_(std::min(static_cast<std::size_t>(rank_count), kMostRanks)),
      shared_(open_shared(path)) {
    exchange({});  // all have it open now, or never will
    unlink(path.c_str());
}

Meeting::~Meeting() {
    if (shared_ != nullptr) {
        shared_->has_gone[rank_] = true;
        munmap(shared_, sizeof(Shared));
    }
}

std::vector<std::vector<char>> Meeting::exchange(const std::vector<char>& own) {
    if (shared_ == nullptr || own.size() > kMostBytes) {
        return {};
    }
    ++round_;
    Shared::Left* left = shared_->left[round_ % 2];
    left[rank_].size = own.size();
    std::copy(own.begin(), own.end(), left[rank_].bytes);
    shared_->arrived[rank_] = round_;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    std::vector<std::vector<char>> all;
    for (std::size_t rank = 0; rank < rank_count_; ++rank) {
        while (shared_->arrived[rank] < round_) {
            if (shared_->has_gone[rank] || std::chrono::steady_clock::now() > end) {
                return {};
            }
            sched_yield();
        }
        all.emplace_back(left[rank].bytes, left[rank].bytes + left[rank].size);
    }
    return all;
}

}  // namespace fake
