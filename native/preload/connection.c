#include <asm/ioctls.h>
#include <linux/poll.h>
#include "connection.h"
#include "system.h"

int is_drain_port(int fd, const struct flag_page *page) {
  struct { unsigned short family; u8 port[2], rest[124]; } local;
  int bytes = sizeof local, protocol = 0, size = sizeof protocol;
  if (SYS(__NR_getsockopt, fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) || protocol != PROTOCOL_TCP) return 0;
  if (SYS(__NR_getsockname, fd, &local, &bytes)) return 0;
  if (local.family != SOCKET_INET && local.family != SOCKET_INET6) return 0;
  for (int i = 0; i < page->port_count; i++)
    if (page->ports[i] == (local.port[0] << 8 | local.port[1])) return 1;
  return 0;
}

int is_tracked(int fd, const struct exchange *exchange) {
  /* The start of struct tcp_info, because the kernel's header needs a C library. */
  struct { u8 other[120]; unsigned long long acknowledged, received; } info;
  int unread = 1, unsent = 1, bytes = sizeof info;
  if (SYS(__NR_ioctl, fd, FIONREAD, &unread) || SYS(__NR_ioctl, fd, TIOCOUTQ, &unsent) || unread || unsent) return 0;
  if (SYS(__NR_getsockopt, fd, PROTOCOL_TCP, TCP_INFO, &info, &bytes) || bytes != sizeof info) return 0;
  /* The send queue is empty, so all written bytes are acknowledged. */
  return info.acknowledged == exchange->sent && info.received == exchange->received;
}

void finish_header(int fd, bytes_t missing) {
  struct poll_one one = {fd, POLLOUT, 0};
  struct wait_time limit = {1, 0};
  SYS(__NR_ppoll, &one, 1, &limit, 0, 0);
  long sent = SYS(__NR_sendto, fd, CLOSE_HEADER + CLOSE_HEADER_BYTES - missing, missing, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != (long)missing) SYS(__NR_shutdown, fd, 2);
}
