// Stands for Metal's standard library where a text in its language is compiled as C++ for the host: types, functions,
// atomics, and work-items that meet. No header of C or C++ is needed, so that a kernel compiles in some 50 ms.
//
// A group runs in one thread. Where its work-items meet (barriers, values of other lanes) each has a stack of its own,
// and a work-item that waits goes on when all have come: all of the group at a barrier, all of its subgroup at a shuffle.

#define kernel static
#define device
#define constant const
#define thread
#define threadgroup
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8 && sizeof(int) == 4, "types of the sizes that Metal has");

struct uint3 {
    uint x, y, z;
};

// -- floats of 16 bits: every operation is computed in 32 bits, which are enough to round once, and rounded --------------

struct half {
    ushort code;
    half() = default;
    half(float value) : code(rounded(value)) {}
    half(int value) : code(rounded((float)value)) {}
    half(long value) : code(rounded((float)value)) {}
    half(uint value) : code(rounded((float)value)) {}
    half(ulong value) : code(rounded((float)value)) {}
    half(bool value) : code(rounded(value ? 1.0f : 0.0f)) {}
    operator float() const {
        uint sign = (uint)(code & 0x8000u) << 16, exponent = code >> 10 & 31u, digits = code & 0x3ffu;
        if (exponent == 0) {
            float small = (float)digits * 0x1p-24f;
            return sign ? -small : small;
        }
        uint bits = sign | (exponent == 31 ? 255u << 23 : (exponent + 112) << 23) | digits << 13;
        float value;
        __builtin_memcpy(&value, &bits, 4);
        return value;
    }
    static ushort rounded(float value) {
        uint bits;
        __builtin_memcpy(&bits, &value, 4);
        uint sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
        if (size > 0x7f800000u) return (ushort)(sign | 0x7e00u | (size >> 13 & 0x3ffu));
        if (size >= 0x477ff000u) return (ushort)(sign | 0x7c00u);
        if (size < 0x38800000u) {  // subnormal: the sum puts the digits where they belong, rounded
            float magnitude;
            __builtin_memcpy(&magnitude, &size, 4);
            magnitude += 0.5f;
            __builtin_memcpy(&size, &magnitude, 4);
            return (ushort)(sign | (size - 0x3f000000u));
        }
        return (ushort)(sign | (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13);
    }
};
static inline half operator+(half a, half b) { return half((float)a + (float)b); }
static inline half operator-(half a, half b) { return half((float)a - (float)b); }
static inline half operator*(half a, half b) { return half((float)a * (float)b); }
static inline half operator/(half a, half b) { return half((float)a / (float)b); }
static inline half operator-(half a) {
    a.code ^= 0x8000u;
    return a;
}
static inline half operator""h(long double value) { return half((float)value); }

// -- work-items that meet ------------------------------------------------------------------------------------------------

extern "C" void *mmap(void *, ulong, int, int, int, long);
extern "C" int munmap(void *, ulong);

namespace pk {
enum : int { LANES = 32, MOST = 1024, STACK = 1 << 20 };
enum Waits : uchar { RUNS, AT_BARRIER, AT_SHUFFLE, ENDED };
enum Result : int { DONE, NO_MEMORY, NOT_TOGETHER };

struct Item {
    void *stack;
    Waits waits;
    uchar turn;
};
struct Group {
    Item items[MOST];
    uint values[2][MOST];
    float matrices[2][MOST][4];
    void *scheduler;
    int current;
    void (*body)(int);
};
static thread_local Group *group;

extern "C" void pk_switch(void **kept, void *next);
#if defined(__x86_64__)
asm(R"(
.text
.type pk_switch, @function
pk_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size pk_switch, .-pk_switch
)");
enum : int { SAVED = 7, RETURN = 6, ABOVE = 8 };  // begin() finds the stack as a call leaves it
#elif defined(__aarch64__)
asm(R"(
.text
.type pk_switch, @function
pk_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size pk_switch, .-pk_switch
)");
enum : int { SAVED = 20, RETURN = 11, ABOVE = 16 };
#endif

static void begin() {
    Group &all = *group;
    all.body(all.current);
    all.items[all.current].waits = ENDED;
    pk_switch(&all.items[all.current].stack, all.scheduler);
}

static void wait(Waits where) {
    Group &all = *group;
    Item &item = all.items[all.current];
    item.waits = where;
    pk_switch(&item.stack, all.scheduler);
}

// Whether all of these that have not ended wait at one place; they go on then.
static bool release(Group &all, int first, int end, Waits where) {
    bool any = false;
    for (int n = first; n < end; n++) {
        if (all.items[n].waits != where && all.items[n].waits != ENDED) return false;
        any = any || all.items[n].waits == where;
    }
    for (int n = first; any && n < end; n++)
        if (all.items[n].waits == where) all.items[n].waits = RUNS;
    return any;
}

static Result run_group(int count, char *stacks, void (*body)(int)) {
    Group &all = *group;
    all.body = body;
    for (int n = 0; n < count; n++) {
        void **top = (void **)(stacks + (ulong)(n + 1) * STACK - ABOVE) - SAVED;
        for (int k = 0; k < SAVED; k++) top[k] = nullptr;
        top[RETURN] = (void *)begin;
        all.items[n] = Item{top, RUNS, 0};
    }
    for (;;) {
        int ended = 0;
        for (int n = 0; n < count; n++) {
            if (all.items[n].waits == RUNS) {
                all.current = n;
                pk_switch(&all.scheduler, all.items[n].stack);
            }
            ended += all.items[n].waits == ENDED;
        }
        if (ended == count) return DONE;
        bool any = false;
        for (int first = 0; first < count; first += LANES)
            any = release(all, first, first + LANES < count ? first + LANES : count, AT_SHUFFLE) || any;
        any = any || (ended == 0 && release(all, 0, count, AT_BARRIER));
        if (!any) return NOT_TOGETHER;
    }
}

static uint exchange(uint value, int lane_of_subgroup) {
    Group &all = *group;
    int own = all.current, lane = own / LANES * LANES + (lane_of_subgroup & (LANES - 1));
    uchar turn = all.items[own].turn ^= 1;
    all.values[turn][own] = value;
    wait(AT_SHUFFLE);
    return all.values[turn][lane];
}
// All lanes of a subgroup give four numbers, and get those of all.
static const float (*gather(const float *own))[4] {
    Group &all = *group;
    int here = all.current;
    uchar turn = all.items[here].turn ^= 1;
    for (int n = 0; n < 4; n++) all.matrices[turn][here][n] = own[n];
    wait(AT_SHUFFLE);
    return all.matrices[turn] + here / LANES * LANES;
}
static int lane() { return group->current % LANES; }
}  // namespace pk

namespace metal {
enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
static inline mem_flags operator|(mem_flags a, mem_flags b) { return (mem_flags)((int)a | (int)b); }
static inline void threadgroup_barrier(mem_flags) { pk::wait(pk::AT_BARRIER); }

template <class To, class From> static inline To as_type(From value) {
    static_assert(sizeof(To) == sizeof(From), "types of one size");
    To result;
    __builtin_memcpy(&result, &value, sizeof(To));
    return result;
}

template <class T> static inline T simd_shuffle(T value, ushort lane) {
    return as_type<T>(pk::exchange(as_type<uint>(value), lane));
}
template <class T> static inline T simd_shuffle_xor(T value, ushort mask) {
    return as_type<T>(pk::exchange(as_type<uint>(value), pk::lane() ^ mask));
}
// Lanes that have none so many places away get their own value: what Metal gives them is not defined.
template <class T> static inline T simd_shuffle_up(T value, ushort by) {
    return as_type<T>(pk::exchange(as_type<uint>(value), pk::lane() >= by ? pk::lane() - by : pk::lane()));
}
template <class T> static inline T simd_shuffle_down(T value, ushort by) {
    int from = pk::lane() + by < pk::LANES ? pk::lane() + by : pk::lane();
    return as_type<T>(pk::exchange(as_type<uint>(value), from));
}

// -- matrices of a subgroup: a lane holds two elements side by side (where Metal keeps them is not told) -----------------

template <class T, int Columns, int Rows> struct simdgroup_matrix {
    static_assert(Columns == 8 && Rows == 8, "Metal has matrices of 8 by 8 elements");
    T own[2];
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
// Of bfloat kernels move and multiply bits alone.
struct bfloat {
    ushort code;
    operator float() const { return as_type<float>((uint)code << 16); }
};
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;
template <class T, int Columns, int Rows> static inline simdgroup_matrix<T, Columns, Rows> make_filled_simdgroup_matrix(T value) {
    return {{value, value}};
}
template <class T>
static inline void simdgroup_load(simdgroup_matrix<T, 8, 8> &to, const T *from, ulong row = 8) {
    for (int n = 0; n < 2; n++) to.own[n] = from[(ulong)(pk::lane() / 4) * row + (ulong)(pk::lane() % 4 * 2 + n)];
}
template <class T>
static inline void simdgroup_store(simdgroup_matrix<T, 8, 8> from, T *to, ulong row = 8) {
    for (int n = 0; n < 2; n++) to[(ulong)(pk::lane() / 4) * row + (ulong)(pk::lane() % 4 * 2 + n)] = from.own[n];
}
// Factors may be halves where sums are floats, as in Apple's header. Products are added one after the other.
template <class T, class F>
static inline void simdgroup_multiply_accumulate(simdgroup_matrix<T, 8, 8> &sums, simdgroup_matrix<F, 8, 8> left,
                                                 simdgroup_matrix<F, 8, 8> right, simdgroup_matrix<T, 8, 8> first) {
    float given[4] = {left.own[0], left.own[1], right.own[0], right.own[1]};
    const float(*all)[4] = pk::gather(given);
    int row = pk::lane() / 4;
    for (int n = 0; n < 2; n++) {
        float sum = first.own[n];
        int column = pk::lane() % 4 * 2 + n;
        for (int k = 0; k < 8; k++) sum += all[row * 4 + k / 2][k % 2] * all[k * 4 + column / 2][2 + column % 2];
        sums.own[n] = (T)sum;
    }
}

// -- atomics: other streams run in other threads, so they are real ones --------------------------------------------------

enum memory_order { memory_order_relaxed = __ATOMIC_RELAXED };
template <class T> struct atomic_of {
    T value;
};
typedef atomic_of<int> atomic_int;
typedef atomic_of<uint> atomic_uint;
template <class T> static inline T atomic_load_explicit(const atomic_of<T> *cell, memory_order) {
    return __atomic_load_n(&cell->value, __ATOMIC_RELAXED);
}
template <class T, class V> static inline void atomic_store_explicit(atomic_of<T> *cell, V value, memory_order) {
    __atomic_store_n(&cell->value, (T)value, __ATOMIC_RELAXED);
}
template <class T, class V> static inline T atomic_exchange_explicit(atomic_of<T> *cell, V value, memory_order) {
    return __atomic_exchange_n(&cell->value, (T)value, __ATOMIC_RELAXED);
}
// The weak form may fail for no reason, and does so now and then.
template <class T>
static inline bool atomic_compare_exchange_weak_explicit(atomic_of<T> *cell, T *expected, T desired, memory_order,
                                                         memory_order) {
    static thread_local uint calls;
    if (++calls % 5 == 0) {
        *expected = __atomic_load_n(&cell->value, __ATOMIC_RELAXED);
        return false;
    }
    return __atomic_compare_exchange_n(&cell->value, expected, desired, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
template <class T, class Change> static inline T changed(atomic_of<T> *cell, Change change) {
    T old = __atomic_load_n(&cell->value, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&cell->value, &old, change(old), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return old;
}
#define PK_FETCH(name, result)                                                                         \
    template <class T, class V>                                                                        \
    static inline T atomic_fetch_##name##_explicit(atomic_of<T> *cell, V value, memory_order) {        \
        T other = (T)value;                                                                            \
        return changed(cell, [=](T old) -> T { return result; });                                      \
    }
PK_FETCH(add, (T)((ulong)old + (ulong)other))
PK_FETCH(sub, (T)((ulong)old - (ulong)other))
PK_FETCH(min, old < other ? old : other)
PK_FETCH(max, old > other ? old : other)
PK_FETCH(and, old & other)
PK_FETCH(or, old | other)
PK_FETCH(xor, old ^ other)
#undef PK_FETCH

// -- mathematics: the C library's, which is more accurate than Metal promises --------------------------------------------

static inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float fmin(float a, float b) { return __builtin_fminf(a, b); }
static inline float fmax(float a, float b) { return __builtin_fmaxf(a, b); }
static inline float fabs(float x) { return __builtin_fabsf(x); }
static inline half fabs(half x) { return x.code &= 0x7fffu, x; }
static inline float floor(float x) { return __builtin_floorf(x); }
static inline float ceil(float x) { return __builtin_ceilf(x); }
static inline float trunc(float x) { return __builtin_truncf(x); }
static inline float rint(float x) { return __builtin_rintf(x); }
static inline float sqrt(float x) { return __builtin_sqrtf(x); }
static inline float copysign(float x, float y) { return __builtin_copysignf(x, y); }
static inline half copysign(half x, half y) { return x.code = (ushort)((x.code & 0x7fffu) | (y.code & 0x8000u)), x; }
static inline bool isnan(float x) { return __builtin_isnan(x); }
template <class T> static inline T abs(T x) { return x < 0 ? (T)(0 - (ulong)x) : x; }
template <class T> static inline T popcount(T x) {
    return (T)__builtin_popcountl((ulong)x & (~0ul >> (64 - 8 * (int)sizeof(T))));
}
template <class T> static inline T clz(T x) {
    ulong digits = (ulong)x & (~0ul >> (64 - 8 * (int)sizeof(T)));
    return (T)(digits == 0 ? 8 * (int)sizeof(T) : __builtin_clzl(digits) - (64 - 8 * (int)sizeof(T)));
}
namespace precise {
#define PK_FUNCTION(name) \
    static inline float name(float x) { return __builtin_##name##f(x); }
PK_FUNCTION(exp)
PK_FUNCTION(exp2)
PK_FUNCTION(log)
PK_FUNCTION(log2)
PK_FUNCTION(log10)
PK_FUNCTION(sin)
PK_FUNCTION(cos)
PK_FUNCTION(tan)
PK_FUNCTION(asin)
PK_FUNCTION(acos)
PK_FUNCTION(atan)
PK_FUNCTION(sinh)
PK_FUNCTION(cosh)
PK_FUNCTION(tanh)
PK_FUNCTION(asinh)
PK_FUNCTION(acosh)
PK_FUNCTION(atanh)
PK_FUNCTION(round)
#undef PK_FUNCTION
static inline float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
static inline float pow(float x, float y) { return __builtin_powf(x, y); }
static inline float atan2(float y, float x) { return __builtin_atan2f(y, x); }
static inline float fmod(float x, float y) { return __builtin_fmodf(x, y); }
}  // namespace precise
}  // namespace metal

namespace pk {
// -- a launch ------------------------------------------------------------------------------------------------------------

// Arguments of a kernel: places of memory, as what the kernel takes them for.
struct Pointer {
    void *memory;
    template <class T> operator T *() const { return (T *)memory; }
};
struct Reference {
    void *memory;
    template <class T> operator T &() const { return *(T *)memory; }
};
struct Launch {
    void **buffers;
    void **shared;
    uint sizes[3];
    uint3 at;
};
static thread_local const Launch *launch;
static uint3 place(int n) {
    const uint *sizes = launch->sizes;
    uint number = (uint)n;
    return uint3{number % sizes[0], number / sizes[0] % sizes[1], number / sizes[0] / sizes[1]};
}

static Result run(void **buffers, void **shared, const uint *grid, const uint *sizes, bool meets, void (*body)(int)) {
    Launch all = {buffers, shared, {sizes[0], sizes[1], sizes[2]}, {0, 0, 0}};
    int count = (int)(sizes[0] * sizes[1] * sizes[2]);
    ulong bytes = (ulong)count * STACK;
    Group own;
    char *stacks = nullptr;
    if (meets) {
        stacks = (char *)mmap(nullptr, bytes, 3, 0x4022, -1, 0);  // read and write; private, of no file, not reserved
        if (stacks == (char *)-1) return NO_MEMORY;
    }
    launch = &all;
    group = &own;
    Result result = DONE;
    for (uint z = 0; z < grid[2]; z++)
        for (uint y = 0; y < grid[1]; y++)
            for (uint x = 0; x < grid[0] && result == DONE; x++) {
                all.at = uint3{x, y, z};
                if (meets)
                    result = run_group(count, stacks, body);
                else
                    for (int n = 0; n < count; n++) body(n);
            }
    if (meets) munmap(stacks, bytes);
    return result;
}
}  // namespace pk
