/*
 * Stands before the C library's calls on descriptors. Until the manager's page says otherwise, each is passed on as it
 * is. From then on the next answer on each HTTP/1.1 connection of a drain port says `Connection: close`, and its client
 * goes. No C library is needed, nothing is allocated, locked or started; in any doubt nothing is changed.
 */
#include "connection.h"
#include "system.h"

#define SHOWN __attribute__((visibility("default")))
#define DESCRIPTORS 65536
#define PARTS 64
#define GATHERED_BYTES 2048
#define ELSEWHERE (-4096L)
/* At the start, and in a call of the app where a manager has died: a new one may not be there yet. Tests have others. */
#ifndef FIRST_ANSWER_NS
#define FIRST_ANSWER_NS 100000000L
#define NEXT_ANSWER_NS 5000000L
#define ASK_AGAIN_SECONDS 10
#endif

extern void *dlsym(void *, const char *) __attribute__((weak));
extern int *__errno_location(void) __attribute__((weak));

static const struct flag_page *page = &NO_PAGE;
static struct talk talks[DESCRIPTORS];

/* Bytes are counted from the start on: only a connection that was followed since it began is ever touched. */
#define IS_COUNTED(fd) (page != &NO_PAGE && (unsigned)(fd) < DESCRIPTORS)
#define IS_ON(fd) (__builtin_expect(page->mode == FLAG_CLOSE, 0) && (unsigned)(fd) < DESCRIPTORS)

static long result(long r) {
  if (r >= 0 || r < -4095) return r;
  if (__errno_location) *__errno_location() = (int)-r;
  return -1;
}

/* The C library's call, or that of another preloaded library behind this one; the kernel's own where there is none. */
#define CALL(name, number, ...) \
  (next_##name ? next_##name(__VA_ARGS__) : (__typeof__(next_##name(__VA_ARGS__)))result(SYS(number, __VA_ARGS__)))
/* A count of 0 is a write of bytes that cannot be seen. */
#define TELL_OR(v, count, flags, call) \
  ({ long told = IS_ON(fd) ? tell(fd, v, count, flags) : ELSEWHERE; told == ELSEWHERE ? wrote(fd, v, count, call) : told; })
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

struct sight { const u8 *p; bytes_t bytes; };

/* A head may lie in many parts. Nothing behind its end is touched: a body may be a file that is no longer there. */
static __attribute__((noinline)) struct sight sight_of(u8 room[GATHERED_BYTES], const struct iovec *v, bytes_t count) {
  bytes_t n = 0;
  if (count == 0 || count > PARTS) return (struct sight){0, 0};
  if (count == 1 || v->iov_len >= GATHERED_BYTES) return (struct sight){v->iov_base, v->iov_len};
  for (bytes_t i = 0, ends = 0; i < count; i++)
    for (bytes_t k = 0; k < v[i].iov_len && n < GATHERED_BYTES && ends < 4; k++) {
      room[n] = ((const u8 *)v[i].iov_base)[k];
      ends = room[n] == "\r\n\r\n"[ends] ? ends + 1 : room[n] == '\r';
      n++;
    }
  return (struct sight){room, n};
}

static bytes_t with_farewell(struct iovec *to, const struct iovec *v, bytes_t count, bytes_t line) {
  bytes_t n = 0;
  for (bytes_t i = 0; i < count; i++) {
    bytes_t before = line < v[i].iov_len ? line : v[i].iov_len;
    if (before) to[n++] = (struct iovec){v[i].iov_base, before};
    if (before && !(line -= before)) to[n++] = (struct iovec){(void *)FAREWELL, FAREWELL_BYTES};
    if (before < v[i].iov_len) to[n++] = (struct iovec){(u8 *)v[i].iov_base + before, v[i].iov_len - before};
  }
  return n;
}

/* What the caller gets when the write was done here, with the farewell in it; otherwise it is done elsewhere. */
static __attribute__((noinline)) long tell(int fd, const struct iovec *v, bytes_t count, int flags) {
  u8 room[GATHERED_BYTES];
  struct iovec parts[PARTS + 2];
  bytes_t missing;
  struct sight sight = sight_of(room, v, count);
  bytes_t line = talk_line(&talks[fd], sight.p, sight.bytes);
  if (!line || flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE)) return ELSEWHERE;
  if (!is_drain_port(fd, page) || !is_followed(fd, &talks[fd])) return ELSEWHERE;
  struct msghdr message = {0, 0, parts, with_farewell(parts, v, count, line), 0, 0, 0};
  long sent = CALL(sendmsg, __NR_sendmsg, fd, &message, flags);
  if (sent <= 0) return sent;
  talks[fd].phase = PHASE_NEVER;
  bytes_t taken = sent_for_caller((bytes_t)sent, line, &missing);
  if (missing) finish_farewell(fd, missing);
  return (long)taken;
}

static __attribute__((noinline)) void follow_write(int fd, const struct iovec *v, bytes_t count, bytes_t all) {
  u8 room[GATHERED_BYTES];
  struct sight sight = sight_of(room, v, count);
  talk_wrote(&talks[fd], sight.p, sight.bytes < all ? sight.bytes : all, all);
}

static inline long wrote(int fd, const struct iovec *v, bytes_t count, long n) {
  if (n <= 0 || !IS_COUNTED(fd)) return n;
  talks[fd].sent += (bytes_t)n;
  if (IS_ON(fd)) follow_write(fd, v, count, (bytes_t)n);
  return n;
}

/* A manager that was started again has a page of its own. Two threads may both ask: each gets it. */
static __attribute__((noinline)) void ask_again(void) {
  static long due_seconds;
  struct wait_time now = {0, 0};
  SYS(__NR_clock_gettime, CLOCK_MONOTONIC_COARSE, &now);
  if (now.seconds < due_seconds) return;
  due_seconds = now.seconds + ASK_AGAIN_SECONDS;
  const struct flag_page *newer = flag_ask(NEXT_ANSWER_NS);
  if (newer != &NO_PAGE) page = newer;
}

static inline long heard(int fd, const void *p, bytes_t room, int flags, long n) {
  if (n <= 0 || !IS_COUNTED(fd) || flags & MSG_PEEK) return n;
  bytes_t all = (bytes_t)n, seen = flags & MSG_TRUNC ? 0 : all < room ? all : room;
  talks[fd].received += all;
  /* Where clients are told already, the page of the dead stays: a new manager learns of the Pod's end later. */
  if (__builtin_expect(page->owner & FLAG_OWNER_DIED, 0) && page->mode == FLAG_WAIT) ask_again();
  if (IS_ON(fd)) talk_read(&talks[fd], p, seen, all);
  return n;
}

static int begins(int fd) {
  if (IS_COUNTED(fd)) talks[fd] = (struct talk){0};
  return fd;
}

/* Looked up once, at the start: later it could be in a signal handler or between fork and exec. */
__attribute__((constructor)) static void start(void) {
  if (dlsym) { CALLS(FIND) }
  if (!flag_is_off()) page = flag_ask(FIRST_ANSWER_NS);
}

#define WHOLE(p, n) (&(struct iovec){(void *)(p), n})

SHOWN long write(int fd, const void *p, bytes_t n) {
  return TELL_OR(WHOLE(p, n), 1, 0, CALL(write, __NR_write, fd, p, n));
}
SHOWN long send(int fd, const void *p, bytes_t n, int flags) {
  return TELL_OR(WHOLE(p, n), 1, flags, CALL(send, __NR_sendto, fd, p, n, flags));
}
SHOWN long sendto(int fd, const void *p, bytes_t n, int flags, const void *to, unsigned bytes) {
  return TELL_OR(WHOLE(p, n), !to, flags, CALL(sendto, __NR_sendto, fd, p, n, flags, to, bytes));
}
SHOWN long writev(int fd, const struct iovec *v, int count) {
  return TELL_OR(v, (bytes_t)count, 0, CALL(writev, __NR_writev, fd, v, count));
}
SHOWN long sendmsg(int fd, const struct msghdr *m, int flags) {
  int is_plain = IS_ON(fd) && !m->name && !m->control_bytes;
  return TELL_OR(is_plain ? m->parts : 0, is_plain ? m->count : 0, flags, CALL(sendmsg, __NR_sendmsg, fd, m, flags));
}
/* A file's bytes are a body: whatever was asked has its head already. */
SHOWN long sendfile(int fd, int from, long *at, bytes_t n) {
  return TELL_OR(0, 0, 0, CALL(sendfile, __NR_sendfile, fd, from, at, n));
}
SHOWN long sendfile64(int fd, int from, long *at, bytes_t n) { return sendfile(fd, from, at, n); }

SHOWN long read(int fd, void *p, bytes_t n) { return heard(fd, p, n, 0, CALL(read, __NR_read, fd, p, n)); }
SHOWN long recv(int fd, void *p, bytes_t n, int flags) {
  return heard(fd, p, n, flags, CALL(recv, __NR_recvfrom, fd, p, n, flags));
}
SHOWN long recvfrom(int fd, void *p, bytes_t n, int flags, void *who, unsigned *bytes) {
  return heard(fd, p, n, flags, CALL(recvfrom, __NR_recvfrom, fd, p, n, flags, who, bytes));
}
SHOWN long readv(int fd, const struct iovec *v, int count) {
  long n = CALL(readv, __NR_readv, fd, v, count);
  return n > 0 ? heard(fd, v->iov_base, v->iov_len, 0, n) : n;
}
SHOWN long recvmsg(int fd, struct msghdr *m, int flags) {
  long n = CALL(recvmsg, __NR_recvmsg, fd, m, flags);
  return n > 0 ? heard(fd, m->parts->iov_base, m->parts->iov_len, flags, n) : n;
}
/* Called instead by what was compiled with -D_FORTIFY_SOURCE: a buffer that would overflow ends the program. */
SHOWN long __read_chk(int fd, void *p, bytes_t n, bytes_t room) {
  return n > room ? __builtin_trap(), 0 : read(fd, p, n);
}
SHOWN long __recv_chk(int fd, void *p, bytes_t n, bytes_t room, int flags) {
  return n > room ? __builtin_trap(), 0 : recv(fd, p, n, flags);
}

SHOWN int accept(int fd, void *who, unsigned *bytes) { return begins(CALL(accept, __NR_accept, fd, who, bytes)); }
SHOWN int accept4(int fd, void *who, unsigned *bytes, int flags) {
  return begins(CALL(accept4, __NR_accept4, fd, who, bytes, flags));
}
SHOWN int close(int fd) { return begins(fd), CALL(close, __NR_close, fd); }

/* A process that bars itself from most calls of the kernel could be ended by ours. */
SHOWN int prctl(int what, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  if (what == PR_SET_SECCOMP) page = &NO_PAGE;
  return CALL(prctl, __NR_prctl, what, a, b, c, d);
}
