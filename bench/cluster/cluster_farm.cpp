// The peer: a farm on MPI. Rank 0 hands items out, one after the other, to ranks that are free, and
// prints NUMBER RESULT lines as they come. Each rank has two items in hand, so that none waits for
// its next one.
//   mpirun -n 3 cluster_farm ITEMS STEPS

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include <mpi.h>

#include "items.hpp"

namespace {

using namespace basal;

// An item of this number ends a worker.
constexpr std::uint64_t no_item = ~std::uint64_t{0};
constexpr int in_hand = 2;

void hand_out(std::uint64_t items, int ranks) {
  std::uint64_t next = 0;
  const auto send = [&](int rank) {
    std::uint64_t number = next < items ? next++ : no_item;
    MPI_Send(&number, 1, MPI_UINT64_T, rank, 0, MPI_COMM_WORLD);
  };
  for (int i = 0; i < in_hand; ++i)
    for (int rank = 1; rank < ranks; ++rank)
      send(rank);
  for (std::uint64_t done = 0; done < items; ++done) {
    std::uint64_t result[2];
    MPI_Status status;
    MPI_Recv(result, 2, MPI_UINT64_T, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    send(status.MPI_SOURCE);
    std::printf("%" PRIu64 " %" PRIu64 "\n", result[0], result[1]);
  }
  std::fflush(stdout);
}

void work(std::uint64_t steps) {
  // Each worker is told twice that there is no more: once for each item in its hand.
  for (int ends = 0; ends < in_hand;) {
    std::uint64_t number = 0;
    MPI_Recv(&number, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (number == no_item) {
      ++ends;
      continue;
    }
    const std::uint64_t result[2]{number, bench::walk({.number = number, .steps = steps})};
    MPI_Send(result, 2, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
  }
}

} // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count == 3 && ranks > 1) {
    if (rank == 0)
      hand_out(std::strtoull(arguments[1], nullptr, 10), ranks);
    else
      work(std::strtoull(arguments[2], nullptr, 10));
  }
  MPI_Finalize();
  return 0;
}
