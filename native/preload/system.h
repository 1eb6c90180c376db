/* System calls without a C library, and types that the kernel's headers do not define. */
#pragma once
#include <asm/unistd.h>
#include <linux/uio.h>
#include "head.h"

struct msghdr {
  void *name; unsigned name_bytes; struct iovec *parts; bytes_t count; void *control; bytes_t control_bytes; int flags;
};
enum { MSG_PEEK = 2, MSG_TRUNC = 32, MSG_DONTWAIT = 64, MSG_NOSIGNAL = 0x4000, MSG_MORE = 0x8000, MSG_CLOEXEC = 1 << 30 };
enum { SOCKET_UNIX = 1, SOCKET_INET = 2, SOCKET_INET6 = 10, SOL_SOCKET = 1, SO_PROTOCOL = 38, PROTOCOL_TCP = 6, TCP_INFO = 11 };
enum { CLOCK_MONOTONIC_COARSE = 6, PR_SET_SECCOMP = 22 };
struct poll_one { int fd; short wanted, got; };
struct wait_time { long seconds, nanoseconds; };

#define SYS(...) SYS_FILLED(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define SYS_FILLED(n, a, b, c, d, e, f, ...) \
  raw_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline long raw_call(long n, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  __asm__ volatile("syscall" : "+a"(n) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return n;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#endif
}
