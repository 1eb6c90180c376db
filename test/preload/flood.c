/* Sends itself the given number of descriptors and does not receive them. Prints a byte once all are sent. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Below the kernel's limits of descriptors per message and messages per socket. */
#define AT_ONCE 100

int main(int count, char **words) {
  struct rlimit files;
  int ends[2], fds[AT_ONCE];
  if (count != 2 || getrlimit(RLIMIT_NOFILE, &files)) return 2;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  for (int left = atoi(words[1]); left > 0; left -= AT_ONCE) {
    char byte = 0, control[CMSG_SPACE(sizeof fds)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    for (int i = 0; i < AT_ONCE; i++) fds[i] = ends[0];
    head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(head), fds, sizeof fds);
    if (sendmsg(ends[1], &message, 0) != 1) return perror("sendmsg"), 1;
  }
  putchar('r'), fflush(stdout);
  pause();
}
