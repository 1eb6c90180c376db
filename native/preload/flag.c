/* Requests the manager's shared memory page. Every error results in NO_PAGE. */
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/poll.h>
#include "flag.h"
#include "system.h"

#define PAGE_BYTES 4096
#define STREAM_CLOEXEC_NONBLOCK (1 | O_CLOEXEC | O_NONBLOCK)
#define SWITCH "LASTCALL_PRELOAD=off"

extern char **environ __attribute__((weak));
const struct flag_page NO_PAGE;
int page_is_late;
/* Static, because the compiler would call memcpy for a local variable. */
static const struct { unsigned short family; char name[sizeof FLAG_SOCKET]; } ADDRESS = {SOCKET_UNIX, "\0" FLAG_SOCKET};

int flag_is_off(void) {
  if (!&environ || !environ) return 1;
  for (char **entry = environ; *entry; entry++)
    for (int i = 0; (*entry)[i] == SWITCH[i]; i++)
      if (!SWITCH[i]) return 1;
  return 0;
}

/* @returns the received descriptor, or a negative number */
static long receive(long from, long within_ns) {
  char byte;
  struct { bytes_t bytes; int level, type, fd, filler; } control = {0, 0, 0, -1, 0};
  struct iovec part = {&byte, 1};
  struct msghdr message = {0, 0, &part, 1, &control, sizeof control, 0};
  struct poll_one one = {(int)from, POLLIN, 0};
  struct wait_time limit = {within_ns / 1000000000, within_ns % 1000000000};
  long ready = SYS(__NR_ppoll, &one, 1, &limit, 0, 0);
  page_is_late = ready == 0;
  if (ready != 1) return -1;
  if (SYS(__NR_recvmsg, from, &message, MSG_CLOEXEC) != 1) return -1;
  return control.bytes == 20 && control.level == SOL_SOCKET && control.type == 1 ? control.fd : -1;
}

static const struct flag_page *map(long fd) {
  /* Reading from a truncated page would kill this process. */
  long seals = SYS(__NR_fcntl, fd, F_GET_SEALS);
  if (seals < 0 || !(seals & F_SEAL_SHRINK) || SYS(__NR_lseek, fd, 0, 2) < PAGE_BYTES) return &NO_PAGE;
  long at = SYS(__NR_mmap, 0, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
  if (at < 0 && at > -PAGE_BYTES) return &NO_PAGE;
  const struct flag_page *page = (const struct flag_page *)at;
  return page->mark == FLAG_MARK && page->port_count <= FLAG_PORTS ? page : &NO_PAGE;
}

const struct flag_page *request_page(long within_ns) {
  const struct flag_page *page = &NO_PAGE;
  long from = SYS(__NR_socket, SOCKET_UNIX, STREAM_CLOEXEC_NONBLOCK, 0);
  if (from < 0) return page;
  if (SYS(__NR_connect, from, &ADDRESS, 2 + sizeof FLAG_SOCKET) == 0) {
    long fd = receive(from, within_ns);
    if (fd >= 0) page = map(fd), SYS(__NR_close, fd);
  }
  SYS(__NR_close, from);
  return page;
}
