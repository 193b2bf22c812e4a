// Stands in for Highway's header of this name: WebAssembly has one instruction set, so the kernels
// are compiled once. See highway.h.
