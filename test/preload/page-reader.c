/* Receives the shared memory page from the abstract Unix socket given as argument, and prints the page's fields. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "../../native/preload/flag.h"

static int receive(int from) {
  char byte, control[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  int fd = -1;
  if (recvmsg(from, &message, 0) == 1 && CMSG_FIRSTHDR(&message)) memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

int main(int count, char **args) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (count != 2 || strlen(args[1]) >= sizeof address.sun_path) return 2;
  strcpy(address.sun_path + 1, args[1]);
  int from = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(from, (void *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(args[1])))) {
    printf("no manager");
    return 0;
  }
  int fd = receive(from);
  if (fd < 0) return printf("no page"), 0;
  const struct flag_page *page = mmap(0, sizeof *page, PROT_READ, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED || page->mark != FLAG_MARK) return 1;
  printf("mode %d, ports", page->mode);
  for (int i = 0; i < page->port_count; i++) printf(" %d", page->ports[i]);
  int can_change = mmap(0, sizeof *page, PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED || pwrite(fd, "x", 1, 0) == 1;
  printf(", %s", can_change || ftruncate(fd, 0) == 0 ? "open" : "sealed");
  return 0;
}
