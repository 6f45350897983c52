/// Where the ranks of a communicator that are processes of their own meet: memory that all have
/// mapped, in which each leaves what it sends.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fake {

class Meeting {
  public:
    /// A new place; its path, which fits into NCCL's id.
    static std::string arrange();
    /// Tells those who wait there that this rank will not come.
    static void decline(const std::string& path, int rank);

    Meeting(const std::string& path, int rank, int rank_count);
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;
    ~Meeting();

    /// What each rank leaves, in order of rank; nothing where one has gone.
    std::vector<std::vector<char>> exchange(const std::vector<char>& own);

  private:
    struct Shared;

    static Shared* open_shared(const std::string& path);

    std::size_t rank_;
    std::size_t rank_count_;
    Shared* shared_;
    long round_ = 0;
};

}  // namespace fake
