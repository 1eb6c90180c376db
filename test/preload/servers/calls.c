/*
 * A server with the arguments ADDRESS PORT CALL. CALL selects the function that writes responses; the body has the bytes of a
 * response head and is written separately, except by `writev`. `pieces`: one writev with the head in many parts. `fork`: a child
 * serves each connection. `dup`: responses use a duplicated descriptor. `silent`: the server sends a response before the
 * first request, and closes the connection by a direct system call, which the library does not observe. `filter`: a seccomp filter
 * kills the process at its next call of socket(), as a sandbox does.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
/* musl-gcc does not find the kernel's headers, so servers that it compiles do not contain the filter. */
#ifdef __GLIBC__
#include <linux/filter.h>
#include <linux/seccomp.h>
#endif
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define HEAD "HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n"
#define BODY "HTTP/1.1 200 OK\r\n\r\n"
#define GREETING "HTTP/1.1 408 Request Timeout\r\n\r\n"
#define MAX_CONNECTIONS 64

static void send_bytes(const char *call, int fd, char *bytes, size_t n) {
  struct iovec whole = {bytes, n};
  struct msghdr message = {.msg_iov = &whole, .msg_iovlen = 1};
  ssize_t taken = !strcmp(call, "send") ? send(fd, bytes, n, MSG_NOSIGNAL)
    : !strcmp(call, "sendmsg") ? sendmsg(fd, &message, MSG_NOSIGNAL) : write(fd, bytes, n);
  if (taken != (ssize_t)n) exit(3);
}

static int write_pieces(int fd) {
  char *args[] = {"HTTP/1.1 ", "200", "", " OK\r", "\nContent-Length", ": ", "19\r\n", "\r\n", BODY};
  struct iovec parts[sizeof args / sizeof *args];
  for (size_t i = 0; i < sizeof args / sizeof *args; i++) parts[i] = (struct iovec){args[i], strlen(args[i])};
  return writev(fd, parts, sizeof args / sizeof *args) > 0;
}

/* @returns whether the connection is still open */
static int serve(const char *call, int fd) {
  char bytes[4096];
  ssize_t n = read(fd, bytes, sizeof bytes);
  if (n <= 0) return close(fd), 0;
  if (!strcmp(call, "silent")) return syscall(SYS_close, fd), 0;
  struct iovec parts[2] = {{HEAD, sizeof HEAD - 1}, {BODY, sizeof BODY - 1}};
  if (!strcmp(call, "writev")) return writev(fd, parts, 2) > 0;
  if (!strcmp(call, "pieces")) return write_pieces(fd);
  int to = !strcmp(call, "dup") ? dup(fd) : fd;
  send_bytes(call, to, HEAD, sizeof HEAD - 1);
  send_bytes(call, to, BODY, sizeof BODY - 1);
  if (to != fd) close(to);
  return 1;
}

static int forbid_sockets(void) {
#ifdef __GLIBC__
  struct sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
#else
  return 1;
#endif
}

int main(int count, char **args) {
  struct pollfd all[MAX_CONNECTIONS];
  nfds_t n = 1;
  if (count < 4) return 2;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(args[2]))};
  int server = socket(AF_INET, SOCK_STREAM, 0);
  inet_pton(AF_INET, args[1], &address.sin_addr);
  if (bind(server, (void *)&address, sizeof address) || listen(server, MAX_CONNECTIONS)) return 1;
  signal(SIGCHLD, SIG_IGN);
  if (!strcmp(args[3], "filter") && forbid_sockets()) return 4;
  all[0] = (struct pollfd){server, POLLIN, 0};
  while (poll(all, n, -1) > 0) {
    for (nfds_t i = n - 1; i > 0; i--)
      if (all[i].revents && !serve(args[3], all[i].fd)) all[i] = all[--n];
    if (!all[0].revents || n == MAX_CONNECTIONS) continue;
    int fd = accept(server, 0, 0);
    if (!strcmp(args[3], "silent")) send_bytes("write", fd, GREETING, sizeof GREETING - 1);
    if (!strcmp(args[3], "fork") && fork() == 0) {
      while (serve("write", fd)) continue;
      return 0;
    }
    if (!strcmp(args[3], "fork")) close(fd);
    else all[n++] = (struct pollfd){fd, POLLIN, 0};
  }
}
