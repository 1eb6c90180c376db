/*
 * A fake manager: sends the shared memory page to each process that connects, and sets the page's mode to the digits that it
 * reads from standard input. Arguments: the abstract socket's name and the drained ports. Prints `l` when it listens, `p` for
 * each page that it sent, and each digit that it set. With the variable FLAG_UNSEALED the page can be truncated.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "../../native/preload/flag.h"

static void send_page(int to, int page) {
  char byte = 0, control[CMSG_SPACE(sizeof page)] = {0};
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof page);
  memcpy(CMSG_DATA(head), &page, sizeof page);
  if (sendmsg(to, &message, MSG_NOSIGNAL) == 1) putchar('p'), fflush(stdout);
}

int main(int count, char **args) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(args[1]));
  int page = memfd_create("flag", MFD_ALLOW_SEALING | MFD_CLOEXEC), server = socket(AF_UNIX, SOCK_STREAM, 0);
  strcpy(address.sun_path + 1, args[1]);
  if (ftruncate(page, 4096) || bind(server, (void *)&address, bytes) || listen(server, 64)) return 1;
  struct flag_page *flag = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
  flag->mark = FLAG_MARK;
  for (int i = 2; i < count; i++) flag->ports[flag->port_count++] = (unsigned short)atoi(args[i]);
  if (!getenv("FLAG_UNSEALED")) fcntl(page, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
  putchar('l'), fflush(stdout);
  for (;;) {
    struct pollfd polled[] = {{server, POLLIN, 0}, {0, POLLIN, 0}};
    char digit;
    poll(polled, 2, -1);
    if (polled[0].revents) {
      int to = accept(server, 0, 0);
      send_page(to, page), close(to);
    }
    if (polled[1].revents && read(0, &digit, 1) != 1) return 0;
    if (polled[1].revents && digit >= '0' && digit <= '9') flag->mode = (unsigned char)(digit - '0'), putchar(digit), fflush(stdout);
  }
}
