/*
 * The ages in the kernel's tables of sockets, which are by the kernel's clock, told by the clock that a test moves: native-clock.c.
 * node-libc-on-clock.mjs is the same for Node.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "native-clock.h"

/* The kernel's clock at its last tick, by which it tells ages. */
static double last_tick_ms(void) {
  struct timespec ts;
  __real_clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
  return (double)ts.tv_sec * 1000.0 + (double)ts.tv_nsec / 1e6;
}

static double made_tick_ms;
/* A part of an answer that took longer was interrupted, and says less about when it was made. */
#define TICK_MS 4.5
#define DIAG_MESSAGE 20
#define TIME_WAIT_MS 60000.0

static int is_netlink(int fd) {
  int domain = 0;
  socklen_t length = sizeof domain;
  return clock_fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_NETLINK;
}

static double virtual_age(double age_ms) {
  double at_ms = made_tick_ms - age_ms;
  int step = clock_step_count - 1;
  while (step > 0 && clock_steps[step].real_ms > at_ms) step--;
  double before_ms = clock_steps[step].real_ms > at_ms ? clock_steps[step].real_ms - at_ms : 0;
  return clock_now_ms() - clock_steps[step].virtual_ms + before_ms;
}

static uint32_t get32(const unsigned char *at) { uint32_t value; memcpy(&value, at, 4); return value; }
static void put32(unsigned char *at, double value) { uint32_t whole = (uint32_t)value; memcpy(at, &whole, 4); }
static uint16_t get16(const unsigned char *at) { uint16_t value; memcpy(&value, at, 2); return value; }

static void translate_socket(unsigned char *diag, unsigned char *end) {
  double left_ms = get32(diag + 52);
  if (diag[1] == 6 && diag[2] == 3 && left_ms <= TIME_WAIT_MS) {
    double age_ms = virtual_age(TIME_WAIT_MS - left_ms);
    put32(diag + 52, age_ms < TIME_WAIT_MS ? TIME_WAIT_MS - age_ms : 0);
  }
  for (unsigned char *at = diag + 72; at + 4 <= end;) {
    unsigned size = get16(at);
    if (size < 4 || at + size > end) return;
    if (get16(at + 2) == 2 && size >= 64)
      for (int field = 44; field <= 56; field += 4)
        put32(at + 4 + field, virtual_age(get32(at + 4 + field)));
    at += (size + 3) & ~3u;
  }
}

/* @returns whether the answer is over */
static int each_message(unsigned char *bytes, size_t length, int translate) {
  for (size_t at = 0; at + 16 <= length;) {
    uint32_t size = get32(bytes + at);
    uint16_t type = get16(bytes + at + 4);
    if (size < 16 || at + size > length) return 1;
    if (type == 2 || type == 3) return 1;
    if (translate && type == DIAG_MESSAGE && size >= 88) translate_socket(bytes + at + 16, bytes + at + size);
    at += (size + 3) & ~3u;
  }
  return 0;
}

#define MOST_PARTS 4096
#define PART_BYTES 32768
#define MOST_TRIES 10

/* An answer as it was read, at once: each part of it is put together by the kernel as the one before it is read. */
static struct { unsigned char *bytes; ssize_t length; int error; double made_tick_ms; } parts[MOST_PARTS];
static int part_count, next_part;

/* @param made_tick_ms before the first part was made. @returns whether each part was made within a tick */
static int read_answer(int fd, double made_tick_ms) {
  int in_time = last_tick_ms() - made_tick_ms <= TICK_MS;
  for (part_count = next_part = 0; part_count < MOST_PARTS;) {
    if (parts[part_count].bytes == NULL) parts[part_count].bytes = malloc(PART_BYTES);
    if (parts[part_count].bytes == NULL) clock_fails("malloc");
    double next_tick_ms = last_tick_ms();
    ssize_t length = __real_recv(fd, parts[part_count].bytes, PART_BYTES, MSG_TRUNC);
    parts[part_count].error = errno;
    parts[part_count].length = length;
    parts[part_count++].made_tick_ms = made_tick_ms;
    in_time = in_time && last_tick_ms() - next_tick_ms <= TICK_MS;
    made_tick_ms = next_tick_ms;
    if (length <= 0 || length > PART_BYTES || each_message(parts[part_count - 1].bytes, (size_t)length, 0)) break;
  }
  return in_time;
}

ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags) {
  if (!is_netlink(fd)) return __real_send(fd, bytes, length, flags);
  ssize_t sent = -1;
  for (int tries = 0; tries < MOST_TRIES; tries++) {
    double asked_tick_ms = last_tick_ms();
    sent = __real_send(fd, bytes, length, flags);
    if (sent < 0 || read_answer(fd, asked_tick_ms)) break;
  }
  return sent;
}

ssize_t __wrap_recv(int fd, void *bytes, size_t length, int flags) {
  if (!is_netlink(fd) || next_part == part_count) return __real_recv(fd, bytes, length, flags);
  ssize_t count = parts[next_part].length;
  errno = parts[next_part].error;
  size_t taken = count < 0 ? 0 : (size_t)count < length ? (size_t)count : length;
  memcpy(bytes, parts[next_part++].bytes, taken < PART_BYTES ? taken : PART_BYTES);
  made_tick_ms = parts[next_part - 1].made_tick_ms;
  (void)each_message(bytes, taken, 1);
  return count;
}
