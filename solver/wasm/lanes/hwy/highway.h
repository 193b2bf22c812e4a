// Stands in for Highway where the solver's kernels are compiled to WebAssembly: those of Highway's
// names that they use, for vectors of 16 bytes. Highway 1.0 has no vectors of doubles there.
//
// This folder takes the place of Highway on the include path of that build, so that the kernels are
// the same files everywhere. They think in blocks of 64 bytes, which are four of these vectors; the
// order of every sum is theirs, and what is here is one operation at a time. WebAssembly has no
// fused multiply-add that rounds alike everywhere: MulAdd rounds twice, so that summation::native
// has the bits of summation::portable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#define HWY_NAMESPACE wasm_lanes
#define HWY_BEFORE_NAMESPACE() static_assert(true)
#define HWY_AFTER_NAMESPACE() static_assert(true)
#define HWY_ONCE 1
#define HWY_ATTR
#define HWY_INLINE inline __attribute__((always_inline))
#define HWY_ALIGN alignas(16)
#define HWY_EXPORT(NAME) static_assert(true)
#define HWY_DYNAMIC_DISPATCH(NAME) (&HWY_NAMESPACE::NAME)

namespace hwy::HWY_NAMESPACE {

constexpr std::size_t vector_bytes = 16;

template <class T, std::size_t Lanes>
struct simd {
  using lane = T;
  static constexpr std::size_t lanes = Lanes;
};

// At most `Most` lanes.
template <class T, std::size_t Most>
using CappedTag = simd<T, (Most < vector_bytes / sizeof(T) ? Most : vector_bytes / sizeof(T))>;

template <class T, class D>
using Rebind = simd<T, D::lanes>;

template <class D>
using RebindToSigned
  = simd<std::conditional_t<sizeof(typename D::lane) == 8, std::int64_t, std::int32_t>, D::lanes>;

// Whole vectors; indices, which are used one by one; one number.
template <class T, std::size_t Lanes>
struct vector_of {
  typedef T type __attribute__((vector_size(sizeof(T) * Lanes)));
};

template <class T>
struct vector_of<T, 1> {
  using type = T;
};

template <std::size_t Lanes>
struct indices {
  std::int32_t lane[Lanes];
};

template <std::size_t Lanes>
struct vector_of<std::int32_t, Lanes> {
  using type = indices<Lanes>;
};

template <std::size_t Lanes>
struct vector_of<std::int64_t, Lanes> {
  using type = indices<Lanes>;
};

template <class D>
using Vec = typename vector_of<typename D::lane, D::lanes>::type;

template <class D>
constexpr std::size_t MaxLanes(D) {
  return D::lanes;
}

template <class D>
HWY_INLINE Vec<D> Set(D, typename D::lane value) {
  if constexpr (D::lanes == 1)
    return value;
  else
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Vec<D>{(static_cast<void>(I), value)...};
    }(std::make_index_sequence<D::lanes>{});
}

template <class D>
HWY_INLINE Vec<D> Zero(D d) {
  return Set(d, 0);
}

template <class D>
HWY_INLINE Vec<D> LoadU(D, const typename D::lane* from) {
  Vec<D> result;
  std::memcpy(&result, from, sizeof(result));
  return result;
}

template <class D>
HWY_INLINE Vec<D> Load(D d, const typename D::lane* from) {
  return LoadU(d, from);
}

template <class D>
HWY_INLINE void StoreU(Vec<D> v, D, typename D::lane* to) {
  std::memcpy(to, &v, sizeof(v));
}

template <class D>
HWY_INLINE void Store(Vec<D> v, D d, typename D::lane* to) {
  StoreU(v, d, to);
}

template <class V>
HWY_INLINE V Add(V a, V b) {
  return a + b;
}

template <class V>
HWY_INLINE V Sub(V a, V b) {
  return a - b;
}

template <class V>
HWY_INLINE V Mul(V a, V b) {
  return a * b;
}

// a * b + c
template <class V>
HWY_INLINE V MulAdd(V a, V b, V c) {
  return a * b + c;
}

// c - a * b
template <class V>
HWY_INLINE V NegMulAdd(V a, V b, V c) {
  return c - a * b;
}

// The first lane; asked of vectors with one.
template <class T>
HWY_INLINE T GetLane(T v) {
  static_assert(std::is_floating_point_v<T>);
  return v;
}

template <class D, std::size_t Lanes>
HWY_INLINE indices<Lanes> PromoteTo(D, indices<Lanes> narrow) {
  return narrow;
}

template <class D>
HWY_INLINE Vec<D> GatherIndex(D, const typename D::lane* from, indices<D::lanes> at) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Vec<D>{from[at.lane[I]]...};
  }(std::make_index_sequence<D::lanes>{});
}

} // namespace hwy::HWY_NAMESPACE
