/* Sends the given number of descriptors to its own sockets and does not receive them. Prints a byte when all are sent. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Descriptors per message, below the kernel's limit. */
#define FDS_PER_MESSAGE 100

int main(int count, char **args) {
  struct rlimit files;
  int ends[2], fds[FDS_PER_MESSAGE];
  if (count != 2 || getrlimit(RLIMIT_NOFILE, &files)) return 2;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  for (int left = atoi(args[1]); left > 0; left -= FDS_PER_MESSAGE) {
    char byte = 0, control[CMSG_SPACE(sizeof fds)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    for (int i = 0; i < FDS_PER_MESSAGE; i++) fds[i] = ends[0];
    head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(head), fds, sizeof fds);
    if (sendmsg(ends[1], &message, 0) != 1) return perror("sendmsg"), 1;
  }
  putchar('r'), fflush(stdout);
  pause();
}
