// What the kernels share, compiled once per instruction set: included between
// HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE of each, and so without an include guard.
//
// All code thinks in blocks of 64 bytes, which are one, two or four vectors of the CPU. Lane l of
// a block always sums the same entries; so results do not depend on the vector length.

namespace hn = hwy::HWY_NAMESPACE;

// On lambdas: without it compilers neither use the instruction set nor keep vectors in registers.
#undef BASAL_INLINE_LAMBDA
#define BASAL_INLINE_LAMBDA HWY_ATTR __attribute__((always_inline))

constexpr std::size_t block_bytes = 64;

template <class T>
using tag = hn::CappedTag<T, block_bytes / sizeof(T)>;

template <class T>
using vec = hn::Vec<tag<T>>;

// Entries of a block, entries of a vector, vectors of a block.
template <class T>
constexpr std::size_t block_lanes = block_bytes / sizeof(T);
template <class T>
constexpr std::size_t vector_lanes = hn::MaxLanes(tag<T>{});
template <class T>
constexpr std::size_t block_vectors = block_lanes<T> / vector_lanes<T>;

// Calls f with the constants 0 to Count - 1, so that arrays of vectors become registers.
template <std::size_t Count, class F>
HWY_INLINE void unrolled(F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) BASAL_INLINE_LAMBDA {
    (f(std::integral_constant<std::size_t, I>{}), ...);
  }(std::make_index_sequence<Count>{});
}

// a * b + c
template <bool Fused, class V>
HWY_INLINE V multiply_add(V a, V b, V c) {
  if constexpr (Fused)
    return hn::MulAdd(a, b, c);
  else
    return hn::Add(hn::Mul(a, b), c);
}

// c - a * b
template <bool Fused, class V>
HWY_INLINE V negative_multiply_add(V a, V b, V c) {
  if constexpr (Fused)
    return hn::NegMulAdd(a, b, c);
  else
    return hn::Sub(c, hn::Mul(a, b));
}

// Adds by halves what `Count` vectors hold.
template <class T, std::size_t Count>
HWY_INLINE T sum_by_halves(vec<T> (&sums)[Count]) {
  static_assert((Count & (Count - 1)) == 0);
  if constexpr (Count > 1) {
    vec<T> halves[Count / 2];
    unrolled<Count / 2>(
      [&](auto i) BASAL_INLINE_LAMBDA { halves[i] = hn::Add(sums[i], sums[i + Count / 2]); });
    return sum_by_halves<T>(halves);
  } else {
    HWY_ALIGN T lanes[vector_lanes<T>];
    hn::Store(sums[0], tag<T>{}, lanes);
    for (std::size_t half = vector_lanes<T> / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i)
        lanes[i] += lanes[i + half];
    }
    return lanes[0];
  }
}

// Calls body(pointers, i) for blocks of `Step` entries at i of all streams, the first `Outputs`
// of which it may write. The rest of fewer entries goes through buffers that are filled up with
// zeros, so that it is computed like all others.
template <std::size_t Step, std::size_t Outputs, class T, std::size_t Streams, class Body>
HWY_INLINE void for_blocks(const std::array<T*, Streams>& streams, std::size_t size, Body body) {
  std::size_t i = 0;
  for (; i + Step <= size; i += Step)
    body(streams, i);
  if (i == size)
    return;
  alignas(block_bytes) T buffers[Streams][Step] = {};
  std::array<T*, Streams> rest;
  for (std::size_t s = 0; s < Streams; ++s) {
    std::memcpy(buffers[s], streams[s] + i, (size - i) * sizeof(T));
    rest[s] = buffers[s];
  }
  body(rest, 0);
  for (std::size_t s = 0; s < Outputs; ++s)
    std::memcpy(streams[s] + i, buffers[s], (size - i) * sizeof(T));
}

// Streams of both kinds in one array; for_blocks writes to the first ones only.
template <class T>
HWY_INLINE T* input(const T* p) {
  return const_cast<T*>(p);
}
