/*
 * Replaces the ages in the kernel's socket tables with ages on the test clock (native-clock.c), because the kernel uses its own
 * clock. If a counter has increased since the clock's last step, the time of that step is the time of the increase.
 * node-libc-on-clock.mjs does the same on Node.
 */
#define _GNU_SOURCE 1
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "native-clock.h"

/* A socket's counters at the clock's last step, and the time at which each counter last increased. */
struct tracked {
  uint64_t cookie;
  uint32_t sent, received, segments;
  double sent_ms, received_ms, ack_ms;
  int missing_steps;
};

#define DIAG_MESSAGE 20
#define DIAG_BYTES 72
#define TIME_WAIT 6
#define TIME_WAIT_TIMER 3
#define TIME_WAIT_MS 60000.0
/*
 * The kernel can omit a socket if another one in its hash bucket closes during the read, so the table keeps a missing socket for
 * some steps.
 */
#define MAX_MISSING_STEPS 8

static struct tracked *table;
static int count, capacity, last_found;

static uint64_t get64(const unsigned char *at) { uint64_t value; memcpy(&value, at, 8); return value; }
static uint32_t get32(const unsigned char *at) { uint32_t value; memcpy(&value, at, 4); return value; }
static uint16_t get16(const unsigned char *at) { uint16_t value; memcpy(&value, at, 2); return value; }
static void put_age(unsigned char *at, double since_ms) {
  uint32_t age = (uint32_t)(clock_now_ms() - since_ms);
  memcpy(at, &age, 4);
}

/* The kernel lists sockets in a stable order, so the search starts after the last match. @returns the socket's index, or -1 */
static int find(uint64_t cookie) {
  for (int tried = 0; tried < count; tried++) {
    int index = (last_found + 1 + tried) % count;
    if (table[index].cookie == cookie) return last_found = index;
  }
  return -1;
}

/* @returns the tcp_info of a socket, or NULL if the message does not contain it */
static unsigned char *info_of(unsigned char *diag, unsigned char *end) {
  for (unsigned char *at = diag + DIAG_BYTES; at + 4 <= end;) {
    unsigned size = get16(at);
    if (size < 4 || at + size > end) return NULL;
    if (get16(at + 2) == 2 && size >= 4 + 160) return at + 4;
    at += (size + 3) & ~3u;
  }
  return NULL;
}

static struct tracked ages_of(const unsigned char *diag, const unsigned char *info) {
  double now_ms = clock_now_ms();
  struct tracked is = {.cookie = get64(diag + 44), .sent_ms = now_ms, .received_ms = now_ms, .ack_ms = now_ms};
  if (info != NULL) {
    is.segments = get32(info + 140);
    is.received = get32(info + 152);
    is.sent = get32(info + 156);
  }
  int index = find(is.cookie);
  if (index < 0) return is;
  struct tracked was = table[index];
  if (is.sent == was.sent) is.sent_ms = was.sent_ms;
  if (is.received == was.received) is.received_ms = was.received_ms;
  /* The kernel delays acknowledgements by its own clock, so a late acknowledgement gets the time of the data that it acknowledges. */
  if (is.received == was.received) is.ack_ms = is.segments == was.segments || was.ack_ms > is.sent_ms ? was.ack_ms : is.sent_ms;
  return is;
}

static void record(unsigned char *diag, unsigned char *end) {
  struct tracked is = ages_of(diag, info_of(diag, end));
  int index = find(is.cookie);
  if (index < 0) {
    if (count == capacity) table = realloc(table, (size_t)(capacity = capacity * 2 + 64) * sizeof *table);
    if (table == NULL) clock_fails("realloc");
    last_found = index = count++;
  }
  table[index] = is;
}

static void replace_ages(unsigned char *diag, unsigned char *end) {
  unsigned char *info = info_of(diag, end);
  struct tracked is = ages_of(diag, info);
  if (diag[1] == TIME_WAIT && diag[2] == TIME_WAIT_TIMER) {
    double age_ms = clock_now_ms() - is.ack_ms;
    uint32_t left = age_ms < TIME_WAIT_MS ? (uint32_t)(TIME_WAIT_MS - age_ms) : 0;
    memcpy(diag + 52, &left, 4);
  }
  if (info == NULL) return;
  put_age(info + 44, is.sent_ms);
  put_age(info + 52, is.received_ms);
  put_age(info + 56, is.ack_ms);
}

/* @returns whether the response is complete */
static int each_socket(unsigned char *bytes, size_t length, void (*visit)(unsigned char *diag, unsigned char *end)) {
  for (size_t at = 0; at + 16 <= length;) {
    uint32_t size = get32(bytes + at);
    uint16_t type = get16(bytes + at + 4);
    if (size < 16 || at + size > length || type == 2 || type == 3) return 1;
    if (type == DIAG_MESSAGE && size >= 16 + DIAG_BYTES) visit(bytes + at + 16, bytes + at + size);
    at += (size + 3) & ~3u;
  }
  return 0;
}

static void record_family(int fd, unsigned char family) {
  static unsigned char part[32768];
  /* A request for all TCP sockets with their tcp_info. */
  unsigned char request[72] = {[0] = 72, [4] = DIAG_MESSAGE, [6] = 0x01, [7] = 0x03, [16] = family, [17] = 6, [18] = 2};
  memset(request + 20, 0xff, 4);
  if (send(fd, request, sizeof request, 0) < 0) clock_fails("send");
  for (int complete = 0; !complete;) {
    ssize_t length = __real_recv(fd, part, sizeof part, 0);
    complete = length <= 0 || each_socket(part, (size_t)length, record);
  }
}

void date_socket_events(void) {
  static int fd = -1;
  if (fd < 0) fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 4);
  if (fd < 0) return; /* without netlink the manager does not read ages */
  for (int index = 0; index < count; index++) table[index].missing_steps++;
  record_family(fd, AF_INET);
  record_family(fd, AF_INET6);
  for (int index = 0; index < count;)
    if (table[index].missing_steps > MAX_MISSING_STEPS) table[index] = table[--count];
    else index++;
}

static int is_netlink(int fd) {
  int domain = 0;
  socklen_t length = sizeof domain;
  return clock_fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_NETLINK;
}

ssize_t __wrap_recv(int fd, void *bytes, size_t length, int flags) {
  ssize_t received = __real_recv(fd, bytes, length, flags);
  if (received > 0 && is_netlink(fd)) (void)each_socket(bytes, (size_t)received < length ? (size_t)received : length, replace_ages);
  return received;
}
