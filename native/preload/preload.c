/*
 * Stands before the C library's calls on descriptors. Until the manager's page says otherwise, each is passed on as it
 * is. From then on the next answer on each HTTP/1.1 connection of a drain port says `Connection: close`, and its client
 * goes. No C library is needed, nothing is allocated, locked or started; in any doubt nothing is changed.
 */
#include <asm/ioctls.h>
#include <linux/poll.h>
#include "flag.h"
#include "state.h"
#include "system.h"

#define SHOWN __attribute__((visibility("default")))
#define DESCRIPTORS 65536
#define PARTS 64
#define GATHERED_BYTES 2048
#define ELSEWHERE (-4096L)

extern void *dlsym(void *, const char *) __attribute__((weak));
extern int *__errno_location(void) __attribute__((weak));

static const struct flag_page *page = &NO_PAGE;
static struct talk talks[DESCRIPTORS];

#define IS_ON(fd) (__builtin_expect(page->mode == FLAG_CLOSE, 0) && (unsigned)(fd) < DESCRIPTORS)

static long result(long r) {
  if (r >= 0 || r < -4095) return r;
  if (__errno_location) *__errno_location() = (int)-r;
  return -1;
}

/* The C library's call, or that of another preloaded library behind this one; the kernel's own where there is none. */
#define CALL(name, number, ...) \
  (next_##name ? next_##name(__VA_ARGS__) : (__typeof__(next_##name(__VA_ARGS__)))result(SYS(number, __VA_ARGS__)))
#define TELL_OR(telling, call) ({ long told = IS_ON(fd) ? telling : ELSEWHERE; told == ELSEWHERE ? call : told; })
#define CALLS(EACH) \
  EACH(long, write, (int, const void *, bytes_t)) EACH(long, writev, (int, const struct iovec *, int)) \
  EACH(long, send, (int, const void *, bytes_t, int)) EACH(long, sendmsg, (int, const struct msghdr *, int)) \
  EACH(long, sendto, (int, const void *, bytes_t, int, const void *, unsigned)) \
  EACH(long, sendfile, (int, int, long *, bytes_t)) \
  EACH(long, read, (int, void *, bytes_t)) EACH(long, readv, (int, const struct iovec *, int)) \
  EACH(long, recv, (int, void *, bytes_t, int)) EACH(long, recvmsg, (int, struct msghdr *, int)) \
  EACH(long, recvfrom, (int, void *, bytes_t, int, void *, unsigned *)) \
  EACH(int, accept, (int, void *, unsigned *)) EACH(int, accept4, (int, void *, unsigned *, int)) EACH(int, close, (int))
#define DECLARE(type, name, parameters) static type (*next_##name) parameters;
#define FIND(type, name, parameters) next_##name = (__typeof__(next_##name))dlsym((void *)-1L, #name);
CALLS(DECLARE)

static int is_drain_port(int fd) {
  struct { unsigned short family; u8 port[2], rest[124]; } local;
  int bytes = sizeof local, protocol = 0, size = sizeof protocol;
  if (SYS(__NR_getsockopt, fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) || protocol != PROTOCOL_TCP) return 0;
  if (SYS(__NR_getsockname, fd, &local, &bytes)) return 0;
  if (local.family != SOCKET_INET && local.family != SOCKET_INET6) return 0;
  for (int i = 0; i < page->port_count; i++)
    if (page->ports[i] == (local.port[0] << 8 | local.port[1])) return 1;
  return 0;
}

/* Neither a request that waits to be read nor an answer that is still on its way. */
static int is_calm(int fd) {
  int unread = 1, unsent = 1;
  return !SYS(__NR_ioctl, fd, FIONREAD, &unread) && !SYS(__NR_ioctl, fd, TIOCOUTQ, &unsent) && !unread && !unsent;
}

/*
 * An empty send queue takes a first line and the farewell whole, unless the kernel is out of memory. Who writes next is
 * not known, so what is missing goes now or the connection ends: half of a line must not be taken for an answer.
 */
static void finish(int fd, bytes_t missing) {
  struct poll_one one = {fd, POLLOUT, 0};
  struct wait_time limit = {1, 0};
  SYS(__NR_ppoll, &one, 1, &limit, 0, 0);
  long sent = SYS(__NR_sendto, fd, FAREWELL + FAREWELL_BYTES - missing, missing, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != (long)missing) SYS(__NR_shutdown, fd, 2);
}

/* A head may lie in many parts. Nothing behind its end is touched: a body may be a file that is no longer there. */
static __attribute__((noinline)) bytes_t line_in(struct talk *talk, const struct iovec *v, bytes_t count, bytes_t all) {
  u8 head[GATHERED_BYTES];
  bytes_t n = 0;
  if (count == 1 || v->iov_len >= GATHERED_BYTES) return talk_write(talk, v->iov_base, v->iov_len, all);
  for (bytes_t i = 0, ends = 0; i < count; i++)
    for (bytes_t k = 0; k < v[i].iov_len && n < GATHERED_BYTES && ends < 4; k++) {
      head[n] = ((const u8 *)v[i].iov_base)[k];
      ends = head[n] == "\r\n\r\n"[ends] ? ends + 1 : head[n] == '\r';
      n++;
    }
  return talk_write(talk, head, n, all);
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

/*
 * What the caller gets when the write was done here, with the farewell in it; otherwise it is done elsewhere. A count of 0
 * is a write of bytes that cannot be seen.
 */
static long tell(int fd, const struct iovec *v, bytes_t count, int flags) {
  struct iovec parts[PARTS + 2];
  bytes_t all = 0, missing;
  if (count - 1 >= PARTS) return talk_write(&talks[fd], 0, 0, 1), ELSEWHERE;
  for (bytes_t i = 0; i < count; i++) all += v[i].iov_len;
  bytes_t line = line_in(&talks[fd], v, count, all);
  if (!line || flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE)) return ELSEWHERE;
  if (!is_calm(fd) || !is_drain_port(fd)) return ELSEWHERE;
  struct msghdr message = {0, 0, parts, with_farewell(parts, v, count, line), 0, 0, 0};
  long sent = CALL(sendmsg, __NR_sendmsg, fd, &message, flags);
  if (sent <= 0) return sent;
  bytes_t taken = sent_for_caller((bytes_t)sent, line, &missing);
  if (missing) finish(fd, missing);
  return (long)taken;
}

static long tell_bytes(int fd, const void *p, bytes_t n, int flags) {
  struct iovec part = {(void *)p, n};
  return tell(fd, &part, 1, flags);
}

static long heard(int fd, const void *p, bytes_t room, int flags, long n) {
  if (n <= 0 || !IS_ON(fd) || flags & MSG_PEEK) return n;
  bytes_t all = (bytes_t)n, seen = flags & MSG_TRUNC ? 0 : all < room ? all : room;
  return talk_read(&talks[fd], p, seen, all), n;
}

static int begins(int fd) {
  if (IS_ON(fd)) talks[fd].phase = PHASE_UNKNOWN;
  return fd;
}

/* Looked up once, at the start: later it could be in a signal handler or between fork and exec. */
__attribute__((constructor)) static void start(void) {
  if (dlsym) { CALLS(FIND) }
  page = flag_ask();
}

SHOWN long write(int fd, const void *p, bytes_t n) {
  return TELL_OR(tell_bytes(fd, p, n, 0), CALL(write, __NR_write, fd, p, n));
}
SHOWN long send(int fd, const void *p, bytes_t n, int flags) {
  return TELL_OR(tell_bytes(fd, p, n, flags), CALL(send, __NR_sendto, fd, p, n, flags));
}
SHOWN long sendto(int fd, const void *p, bytes_t n, int flags, const void *to, unsigned bytes) {
  return TELL_OR(to ? tell(fd, 0, 0, 0) : tell_bytes(fd, p, n, flags), CALL(sendto, __NR_sendto, fd, p, n, flags, to, bytes));
}
SHOWN long writev(int fd, const struct iovec *v, int count) {
  return TELL_OR(tell(fd, v, (bytes_t)count, 0), CALL(writev, __NR_writev, fd, v, count));
}
SHOWN long sendmsg(int fd, const struct msghdr *m, int flags) {
  bytes_t count = IS_ON(fd) && !m->name && !m->control_bytes ? m->count : 0;
  return TELL_OR(tell(fd, m->parts, count, flags), CALL(sendmsg, __NR_sendmsg, fd, m, flags));
}
/* A file's bytes are a body: whatever was asked has its head already. */
SHOWN long sendfile(int fd, int from, long *at, bytes_t n) {
  return TELL_OR(tell(fd, 0, 0, 0), CALL(sendfile, __NR_sendfile, fd, from, at, n));
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
