/*
 * A server that answers by the call its third argument names, after the address and the port. The body is a whole answer's
 * head, in a call of its own but for `writev`. `pieces`: a writev whose head lies in many parts. `fork`: a child has each
 * connection. `dup`: a second descriptor answers. `silent`: a request is read and its connection closed behind the C
 * library's back, and each new one is greeted before it has asked.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define HEAD "HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n"
#define BODY "HTTP/1.1 200 OK\r\n\r\n"
#define GREETING "HTTP/1.1 408 Request Timeout\r\n\r\n"
#define MOST 64

static void send_bytes(const char *how, int fd, char *bytes, size_t n) {
  struct iovec whole = {bytes, n};
  struct msghdr message = {.msg_iov = &whole, .msg_iovlen = 1};
  ssize_t taken = !strcmp(how, "send") ? send(fd, bytes, n, MSG_NOSIGNAL)
    : !strcmp(how, "sendmsg") ? sendmsg(fd, &message, MSG_NOSIGNAL) : write(fd, bytes, n);
  if (taken != (ssize_t)n) exit(3);
}

static int in_pieces(int fd) {
  char *words[] = {"HTTP/1.1 ", "200", "", " OK\r", "\nContent-Length", ": ", "19\r\n", "\r\n", BODY};
  struct iovec parts[sizeof words / sizeof *words];
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) parts[i] = (struct iovec){words[i], strlen(words[i])};
  return writev(fd, parts, sizeof words / sizeof *words) > 0;
}

/* Whether the connection is still there. */
static int serve(const char *how, int fd) {
  char bytes[4096];
  ssize_t n = read(fd, bytes, sizeof bytes);
  if (n <= 0) return close(fd), 0;
  if (!strcmp(how, "silent")) return syscall(SYS_close, fd), 0;
  struct iovec parts[2] = {{HEAD, sizeof HEAD - 1}, {BODY, sizeof BODY - 1}};
  if (!strcmp(how, "writev")) return writev(fd, parts, 2) > 0;
  if (!strcmp(how, "pieces")) return in_pieces(fd);
  int to = !strcmp(how, "dup") ? dup(fd) : fd;
  send_bytes(how, to, HEAD, sizeof HEAD - 1);
  send_bytes(how, to, BODY, sizeof BODY - 1);
  if (to != fd) close(to);
  return 1;
}

int main(int count, char **words) {
  struct pollfd all[MOST];
  nfds_t n = 1;
  if (count < 4) return 2;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(words[2]))};
  int server = socket(AF_INET, SOCK_STREAM, 0);
  inet_pton(AF_INET, words[1], &address.sin_addr);
  if (bind(server, (void *)&address, sizeof address) || listen(server, MOST)) return 1;
  signal(SIGCHLD, SIG_IGN);
  all[0] = (struct pollfd){server, POLLIN, 0};
  while (poll(all, n, -1) > 0) {
    for (nfds_t i = n - 1; i > 0; i--)
      if (all[i].revents && !serve(words[3], all[i].fd)) all[i] = all[--n];
    if (!all[0].revents || n == MOST) continue;
    int fd = accept(server, 0, 0);
    if (!strcmp(words[3], "silent")) send_bytes("write", fd, GREETING, sizeof GREETING - 1);
    if (!strcmp(words[3], "fork") && fork() == 0) {
      while (serve("write", fd)) continue;
      return 0;
    }
    if (!strcmp(words[3], "fork")) close(fd);
    else all[n++] = (struct pollfd){fd, POLLIN, 0};
  }
}
