/*
 * Interposes the C library's calls on descriptors. Once the manager's page signals the drain, the next response on each
 * HTTP/1.1 connection of a drained port gets `Connection: close`, so the client closes the connection. Works without a C
 * library, memory allocation, locks and threads. Does not change a response unless it is certainly HTTP/1.1.
 */
#include "connection.h"
#include "system.h"

#define EXPORTED __attribute__((visibility("default")))
#define DESCRIPTORS 65536
#define PARTS 64
#define GATHERED_BYTES 2048
#define NOT_CHANGED (-4096L)
/* Time limits for the page's request: at the start, and in a call of the app after the manager's exit. Tests set other limits. */
#ifndef FIRST_WAIT_NS
#define FIRST_WAIT_NS 100000000L
#define RETRY_WAIT_NS 5000000L
#define RETRY_PAUSE_SECONDS 10
#define LATE_PAUSE_SECONDS 1
#endif

extern void *dlsym(void *, const char *) __attribute__((weak));
extern int *__errno_location(void) __attribute__((weak));

static const struct flag_page *page = &NO_PAGE;
static struct exchange exchanges[DESCRIPTORS];

/* Bytes are counted before the drain too, because responses are changed only on connections that were counted from the start. */
#define IS_COUNTED(fd) (page != &NO_PAGE && (unsigned)(fd) < DESCRIPTORS)
#define IS_ON(fd) (__builtin_expect(page->mode == FLAG_CLOSE, 0) && (unsigned)(fd) < DESCRIPTORS)

static long result(long r) {
  if (r >= 0 || r < -4095) return r;
  if (__errno_location) *__errno_location() = (int)-r;
  return -1;
}

/* Calls the function of the next library in the search order, or the kernel if no library has it. */
#define CALL(name, number, ...) \
  (next_##name ? next_##name(__VA_ARGS__) : (__typeof__(next_##name(__VA_ARGS__)))result(SYS(number, __VA_ARGS__)))
/* `count` is the number of parts in `v`; 0 if the written bytes are unknown. */
#define WRITE_CLOSING_OR(v, count, flags, call) \
  ({ long sent = IS_ON(fd) ? write_closing(fd, v, count, flags) : NOT_CHANGED; sent == NOT_CHANGED ? count_write(fd, v, count, call) : sent; })
#define CALLS(EACH) \
  EACH(long, write, (int, const void *, bytes_t)) EACH(long, writev, (int, const struct iovec *, int)) \
  EACH(long, send, (int, const void *, bytes_t, int)) EACH(long, sendmsg, (int, const struct msghdr *, int)) \
  EACH(long, sendto, (int, const void *, bytes_t, int, const void *, unsigned)) \
  EACH(long, sendfile, (int, int, long *, bytes_t)) \
  EACH(long, read, (int, void *, bytes_t)) EACH(long, readv, (int, const struct iovec *, int)) \
  EACH(long, recv, (int, void *, bytes_t, int)) EACH(long, recvmsg, (int, struct msghdr *, int)) \
  EACH(long, recvfrom, (int, void *, bytes_t, int, void *, unsigned *)) \
  EACH(int, accept, (int, void *, unsigned *)) EACH(int, accept4, (int, void *, unsigned *, int)) EACH(int, close, (int)) \
  EACH(int, prctl, (int, unsigned long, unsigned long, unsigned long, unsigned long))
#define DECLARE(type, name, parameters) static type (*next_##name) parameters;
#define FIND(type, name, parameters) next_##name = (__typeof__(next_##name))dlsym((void *)-1L, #name);
CALLS(DECLARE)

struct view { const u8 *p; bytes_t bytes; };

/* Copies a head that is in several parts. Does not read beyond the head's end: the body may be a mapped, truncated file. */
static __attribute__((noinline)) struct view view_of(u8 room[GATHERED_BYTES], const struct iovec *v, bytes_t count) {
  bytes_t n = 0;
  if (count == 0 || count > PARTS) return (struct view){0, 0};
  if (count == 1 || v->iov_len >= GATHERED_BYTES) return (struct view){v->iov_base, v->iov_len};
  for (bytes_t i = 0, ends = 0; i < count; i++)
    for (bytes_t k = 0; k < v[i].iov_len && n < GATHERED_BYTES && ends < 4; k++) {
      room[n] = ((const u8 *)v[i].iov_base)[k];
      ends = room[n] == "\r\n\r\n"[ends] ? ends + 1 : room[n] == '\r';
      n++;
    }
  return (struct view){room, n};
}

static bytes_t with_close_header(struct iovec *to, const struct iovec *v, bytes_t count, bytes_t line) {
  bytes_t n = 0;
  for (bytes_t i = 0; i < count; i++) {
    bytes_t before = line < v[i].iov_len ? line : v[i].iov_len;
    if (before) to[n++] = (struct iovec){v[i].iov_base, before};
    if (before && !(line -= before)) to[n++] = (struct iovec){(void *)CLOSE_HEADER, CLOSE_HEADER_BYTES};
    if (before < v[i].iov_len) to[n++] = (struct iovec){(u8 *)v[i].iov_base + before, v[i].iov_len - before};
  }
  return n;
}

/* Writes the response with the header. @returns the result for the caller, or NOT_CHANGED if no byte was written */
static __attribute__((noinline)) long write_closing(int fd, const struct iovec *v, bytes_t count, int flags) {
  u8 room[GATHERED_BYTES];
  struct iovec parts[PARTS + 2];
  bytes_t missing;
  struct view view = view_of(room, v, count);
  bytes_t line = header_position(&exchanges[fd], view.p, view.bytes);
  if (!line || flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE)) return NOT_CHANGED;
  if (!is_drain_port(fd, page) || !is_tracked(fd, &exchanges[fd])) return NOT_CHANGED;
  struct msghdr message = {0, 0, parts, with_close_header(parts, v, count, line), 0, 0, 0};
  long sent = CALL(sendmsg, __NR_sendmsg, fd, &message, flags);
  if (sent <= 0) return sent;
  exchanges[fd].phase = PHASE_NEVER;
  bytes_t taken = sent_for_caller((bytes_t)sent, line, &missing);
  if (missing) finish_header(fd, missing);
  return (long)taken;
}

static __attribute__((noinline)) void track_write(int fd, const struct iovec *v, bytes_t count, bytes_t all) {
  u8 room[GATHERED_BYTES];
  struct view view = view_of(room, v, count);
  exchange_written(&exchanges[fd], view.p, view.bytes < all ? view.bytes : all, all);
}

static inline long count_write(int fd, const struct iovec *v, bytes_t count, long n) {
  if (n <= 0 || !IS_COUNTED(fd)) return n;
  exchanges[fd].sent += (bytes_t)n;
  if (IS_ON(fd)) track_write(fd, v, count, (bytes_t)n);
  return n;
}

/* Two threads may request the page at the same time, and receive it twice. */
static __attribute__((noinline)) void request_again(long pause_seconds) {
  static long due_seconds;
  struct wait_time now = {0, 0};
  SYS(__NR_clock_gettime, CLOCK_MONOTONIC_COARSE, &now);
  if (now.seconds < due_seconds) return;
  due_seconds = now.seconds + pause_seconds;
  const struct flag_page *newer = request_page(RETRY_WAIT_NS);
  if (newer != &NO_PAGE) page = newer;
}

static inline long count_read(int fd, const void *p, bytes_t room, int flags, long n) {
  if (n <= 0 || !IS_COUNTED(fd) || flags & MSG_PEEK) return n;
  bytes_t all = (bytes_t)n, seen = flags & MSG_TRUNC ? 0 : all < room ? all : room;
  exchanges[fd].received += all;
  /* During a drain the process keeps the page of the manager that exited: the page of the restarted manager has no drain flag until
   that manager detects the Pod's termination. */
  if (__builtin_expect(page->owner & FLAG_OWNER_DIED, 0) && page->mode == FLAG_WAIT)
    request_again(RETRY_PAUSE_SECONDS);
  if (IS_ON(fd)) exchange_read(&exchanges[fd], p, seen, all);
  return n;
}

static int reset(int fd) {
  if (IS_COUNTED(fd)) exchanges[fd] = (struct exchange){0};
  return fd;
}

/* Resolves the next functions at the start, because a later call may be in a signal handler or between fork and exec. */
__attribute__((constructor)) static void start(void) {
  if (dlsym) { CALLS(FIND) }
  if (!flag_is_off()) page = request_page(FIRST_WAIT_NS);
}

#define WHOLE(p, n) (&(struct iovec){(void *)(p), n})

EXPORTED long write(int fd, const void *p, bytes_t n) {
  return WRITE_CLOSING_OR(WHOLE(p, n), 1, 0, CALL(write, __NR_write, fd, p, n));
}
EXPORTED long send(int fd, const void *p, bytes_t n, int flags) {
  return WRITE_CLOSING_OR(WHOLE(p, n), 1, flags, CALL(send, __NR_sendto, fd, p, n, flags));
}
EXPORTED long sendto(int fd, const void *p, bytes_t n, int flags, const void *to, unsigned bytes) {
  return WRITE_CLOSING_OR(WHOLE(p, n), !to, flags, CALL(sendto, __NR_sendto, fd, p, n, flags, to, bytes));
}
EXPORTED long writev(int fd, const struct iovec *v, int count) {
  return WRITE_CLOSING_OR(v, (bytes_t)count, 0, CALL(writev, __NR_writev, fd, v, count));
}
EXPORTED long sendmsg(int fd, const struct msghdr *m, int flags) {
  int is_plain = IS_ON(fd) && !m->name && !m->control_bytes;
  return WRITE_CLOSING_OR(is_plain ? m->parts : 0, is_plain ? m->count : 0, flags, CALL(sendmsg, __NR_sendmsg, fd, m, flags));
}
/* The file is a response's body, whose head was written before. */
EXPORTED long sendfile(int fd, int from, long *at, bytes_t n) {
  return WRITE_CLOSING_OR(0, 0, 0, CALL(sendfile, __NR_sendfile, fd, from, at, n));
}
EXPORTED long sendfile64(int fd, int from, long *at, bytes_t n) { return sendfile(fd, from, at, n); }

EXPORTED long read(int fd, void *p, bytes_t n) { return count_read(fd, p, n, 0, CALL(read, __NR_read, fd, p, n)); }
EXPORTED long recv(int fd, void *p, bytes_t n, int flags) {
  return count_read(fd, p, n, flags, CALL(recv, __NR_recvfrom, fd, p, n, flags));
}
EXPORTED long recvfrom(int fd, void *p, bytes_t n, int flags, void *who, unsigned *bytes) {
  return count_read(fd, p, n, flags, CALL(recvfrom, __NR_recvfrom, fd, p, n, flags, who, bytes));
}
EXPORTED long readv(int fd, const struct iovec *v, int count) {
  long n = CALL(readv, __NR_readv, fd, v, count);
  return n > 0 ? count_read(fd, v->iov_base, v->iov_len, 0, n) : n;
}
EXPORTED long recvmsg(int fd, struct msghdr *m, int flags) {
  long n = CALL(recvmsg, __NR_recvmsg, fd, m, flags);
  return n > 0 ? count_read(fd, m->parts->iov_base, m->parts->iov_len, flags, n) : n;
}
/* Called by programs compiled with -D_FORTIFY_SOURCE, which must abort on a buffer overflow. */
EXPORTED long __read_chk(int fd, void *p, bytes_t n, bytes_t room) {
  return n > room ? __builtin_trap(), 0 : read(fd, p, n);
}
EXPORTED long __recv_chk(int fd, void *p, bytes_t n, bytes_t room, int flags) {
  return n > room ? __builtin_trap(), 0 : recv(fd, p, n, flags);
}

/* A connection is counted from its start, so a missing page is requested again when a connection is accepted. */
static inline int accepted(int fd) {
  if (__builtin_expect(page_is_late, 0) && fd >= 0 && page == &NO_PAGE) request_again(LATE_PAUSE_SECONDS);
  return reset(fd);
}

EXPORTED int accept(int fd, void *who, unsigned *bytes) { return accepted(CALL(accept, __NR_accept, fd, who, bytes)); }
EXPORTED int accept4(int fd, void *who, unsigned *bytes, int flags) {
  return accepted(CALL(accept4, __NR_accept4, fd, who, bytes, flags));
}
EXPORTED int close(int fd) { return reset(fd), CALL(close, __NR_close, fd); }

/* Disables the library, because a seccomp filter could kill the process at the library's own system calls. */
EXPORTED int prctl(int what, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  if (what == PR_SET_SECCOMP) page = &NO_PAGE, page_is_late = 0;
  return CALL(prctl, __NR_prctl, what, a, b, c, d);
}
