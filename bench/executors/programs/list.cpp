#include "program.hpp"

#include <array>

namespace basal::bench {

extern const program asking_threads;
extern const program bank;
extern const program barber_shop;
extern const program big;
extern const program border_rows;
extern const program bounded_buffer;
extern const program bursts;
extern const program chameneos;
extern const program circling;
extern const program counting;
extern const program creation_tree;
extern const program dictionary;
extern const program fan_in;
extern const program fibonacci_tree;
extern const program filter_bank;
extern const program fork_join;
extern const program guided_search;
extern const program key_values;
extern const program log_collectors;
extern const program logistic_map;
extern const program mailbox;
extern const program matrix_product;
extern const program mixed_case;
extern const program pairs;
extern const program philosophers;
extern const program pi_digits;
extern const program ping_pong;
extern const program pipeline;
extern const program queens;
extern const program quicksort;
extern const program radix_sort;
extern const program relay;
extern const program scatter_gather;
extern const program search_tree;
extern const program service_tree;
extern const program shared_servers;
extern const program shortest_paths;
extern const program sieve;
extern const program smokers;
extern const program sorted_list;
extern const program spawn_end;
extern const program thread_ring;
extern const program token_ring;
extern const program trapezoid;

std::span<const program* const> all_programs() {
  static constexpr std::array all{
    &asking_threads, &bank,           &barber_shop,    &big,
    &border_rows,    &bounded_buffer, &bursts,         &chameneos,
    &circling,       &counting,       &creation_tree,  &dictionary,
    &fan_in,         &fibonacci_tree, &filter_bank,    &fork_join,
    &guided_search,  &key_values,     &log_collectors, &logistic_map,
    &mailbox,        &matrix_product, &mixed_case,     &pairs,
    &philosophers,   &pi_digits,      &ping_pong,      &pipeline,
    &queens,         &quicksort,      &radix_sort,     &relay,
    &scatter_gather, &search_tree,    &service_tree,   &shared_servers,
    &shortest_paths, &sieve,          &smokers,        &sorted_list,
    &spawn_end,      &thread_ring,    &token_ring,     &trapezoid};
  return all;
}

} // namespace basal::bench
