/*
 * Includes the whole library with a fake kernel and one connection. Reads are split anywhere, and short writes and EAGAIN occur
 * at any byte. Without the headers that the library may add, the output must equal the bytes that the server wrote.
 */
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../native/preload/system.h"

static long fake_call(long n, long a, long b, long c, long d, long e, long f);
#define raw_call fake_call
/* Renamed, because the test program itself calls these functions of the C library. */
#define write shim_write
#define writev shim_writev
#define send shim_send
#define sendto shim_sendto
#define sendmsg shim_sendmsg
#define sendfile shim_sendfile
#define sendfile64 shim_sendfile64
#define read shim_read
#define readv shim_readv
#define recv shim_recv
#define recvfrom shim_recvfrom
#define recvmsg shim_recvmsg
#define __read_chk shim_read_chk
#define __recv_chk shim_recv_chk
#define accept shim_accept
#define accept4 shim_accept4
#define close shim_close
#define prctl shim_prctl
#define dlsym no_dlsym
#include "../../native/preload/connection.c"
#include "../../native/preload/preload.c"

enum { FD = 7, PORT = 8080, ROOM = 1 << 16 };

static struct flag_page manager = {.mark = FLAG_MARK, .mode = FLAG_CLOSE, .port_count = 1, .ports = {PORT}};
const struct flag_page NO_PAGE;
int flag_is_off(void) { return 0; }
int page_is_late;
const struct flag_page *request_page(long within_ns) { return (void)within_ns, &manager; }

static u8 in[ROOM], out[ROOM], meant[ROOM], may_have_header[ROOM];
static bytes_t in_bytes, in_at, out_bytes, meant_bytes;
static int unsent, is_ended, cuts;
static unsigned long long state;

static unsigned below(unsigned n) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % n;
}

static long take(const struct iovec *v, bytes_t count) {
  bytes_t all = 0, taken;
  if (is_ended) return -EPIPE;
  if (below(8) == 0) return -EAGAIN;
  for (bytes_t i = 0; i < count; i++) all += v[i].iov_len;
  taken = all && below(3) == 0 ? 1 + below((unsigned)(all < 60 || below(2) ? all : 60)) : all;
  bytes_t left = taken;
  for (bytes_t i = 0; i < count && left; i++) {
    bytes_t part = v[i].iov_len < left ? v[i].iov_len : left;
    memcpy(out + out_bytes, v[i].iov_base, part), out_bytes += part, left -= part;
  }
  return (long)taken;
}

static long give(const struct iovec *v, bytes_t count) {
  bytes_t start = in_at, requested_bytes = 1 + below(4) * 400;
  if (in_at == in_bytes) return -EAGAIN;
  for (bytes_t i = 0; i < count && requested_bytes; i++)
    for (bytes_t k = 0; k < v[i].iov_len && requested_bytes && in_at < in_bytes; k++, requested_bytes--) ((u8 *)v[i].iov_base)[k] = in[in_at++];
  return (long)(in_at - start);
}

static long fake_call(long n, long a, long b, long c, long d, long e, long f) {
  const struct msghdr *message = (const void *)b;
  struct iovec part = {(void *)b, (bytes_t)c};
  (void)a, (void)d, (void)e, (void)f;
  if (n == __NR_write || n == __NR_sendto) return take(&part, 1);
  if (n == __NR_writev) return take((void *)b, (bytes_t)c);
  if (n == __NR_sendmsg) return take(message->parts, message->count);
  if (n == __NR_read || n == __NR_recvfrom) return give(&part, 1);
  if (n == __NR_readv) return give((void *)b, (bytes_t)c);
  if (n == __NR_recvmsg) return give(message->parts, message->count);
  if (n == __NR_ioctl) return *(int *)c = b == FIONREAD ? (int)(in_bytes - in_at) : unsent, 0;
  if (n == __NR_getsockopt && b == SOL_SOCKET) return *(int *)d = PROTOCOL_TCP, 0;
  if (n == __NR_getsockopt) return memcpy((u8 *)d + 120, (bytes_t[]){out_bytes, in_at}, 16), 0;
  if (n == __NR_getsockname) return memcpy((void *)b, "\2\0\x1f\x90", 4), 0;
  if (n == __NR_shutdown) return is_ended = 1, cuts++, 0;
  if (n == __NR_ppoll || n == __NR_close) return 0;
  printf("a system call that the fake kernel lacks: %ld\n", n), exit(1);
}

static void read_some(void) {
  u8 bytes[ROOM];
  struct iovec parts[2] = {{bytes, 300 + below(3000)}, {bytes + 8192, 4096}};
  struct msghdr message = {0, 0, parts, 2, 0, 0, 0};
  switch (below(5)) {
    case 0: shim_read(FD, bytes, 4096); break;
    case 1: shim_recv(FD, bytes, 4096, 0); break;
    case 2: shim_readv(FD, parts, 2); break;
    case 3: shim_recvmsg(FD, &message, 0); break;
    default: shim_recvfrom(FD, bytes, 4096, 0, 0, 0);
  }
}

/* Makes one call with up to nine parts, some of them empty. With `is_whole` the first part contains all bytes. */
static long write_once(const u8 *p, bytes_t n, int is_whole) {
  struct iovec parts[9];
  bytes_t count = 1 + below(9), at = 0;
  for (bytes_t i = 0; i < count; i++) {
    bytes_t most = i == count - 1 || is_whole ? n - at : (n - at) / (1 + below(4));
    bytes_t bytes = is_whole || i == count - 1 ? most : below((unsigned)most + 1);
    parts[i] = (struct iovec){(u8 *)p + at, bytes}, at += bytes;
  }
  struct msghdr message = {0, 0, parts, count, 0, 0, 0};
  switch (below(5)) {
    case 0: return shim_write(FD, p, n);
    case 1: return shim_send(FD, p, n, MSG_NOSIGNAL);
    case 2: return shim_sendto(FD, p, n, 0, 0, 0);
    case 3: return shim_writev(FD, parts, (int)count);
    default: return shim_sendmsg(FD, &message, MSG_NOSIGNAL);
  }
}

#define ANY(list) list[below(sizeof list / sizeof *list)]

static void open_connection(void) {
  memset(may_have_header, 0, meant_bytes + 1);
  in_bytes = in_at = out_bytes = meant_bytes = 0, is_ended = unsent = 0;
  shim_close(FD);
}

static void receive(const char *bytes) { memcpy(in + in_bytes, bytes, strlen(bytes)), in_bytes += strlen(bytes); }

/* @returns the number of added headers; -1 if the output has any other difference */
static int close_headers(void) {
  int found = 0;
  bytes_t i = 0, o = 0;
  while (o < out_bytes) {
    if (may_have_header[i] && out_bytes - o >= CLOSE_HEADER_BYTES && !memcmp(out + o, CLOSE_HEADER, CLOSE_HEADER_BYTES)) o += CLOSE_HEADER_BYTES, found++;
    /* The library may shut the connection down after a part of its header. */
    else if (is_ended && may_have_header[i] && out_bytes - o < CLOSE_HEADER_BYTES && !memcmp(out + o, CLOSE_HEADER, out_bytes - o)) return found;
    else if (i >= meant_bytes || out[o++] != meant[i++]) return -1;
  }
  return is_ended || i == meant_bytes ? found : -1;
}
