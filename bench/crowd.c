/*
 * Serves or opens more connections than the file limit of one process allows, spread over child processes.
 *
 *   crowd serve   listens on 8080 (never reads), 8081 (responds to one byte with one byte), 8082 (never responds)
 *   crowd hold    reads lines: `open SERVER4 SERVER6 PORT COUNT4 COUNT6 SOURCE4 SOURCE6...` opens connections over IPv4 and
 *                 IPv6, from the sources in turn; `close` closes the connections of the last `open`. The reply to each line
 *                 is `done`.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORTS 3
#define RESPONDING 8081
#define SILENT 8080
/* Connections per process: common limits of open files are 20000 and more. */
#define SHARE 15000
#define SHARES 32

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

static pid_t children[SHARES];
static int started;

static void fail(const char *operation) {
  fprintf(stderr, "crowd: %s: %s\n", operation, strerror(errno));
  exit(1);
}

static socklen_t address(const char *text, int port, struct sockaddr_storage *into) {
  memset(into, 0, sizeof *into);
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)into;
  if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    return sizeof *six;
  }
  struct sockaddr_in *four = (struct sockaddr_in *)into;
  if (inet_pton(AF_INET, text, &four->sin_addr) != 1) fail(text);
  four->sin_family = AF_INET;
  four->sin_port = htons(port);
  return sizeof *four;
}

static int listener(const char *at, int port) {
  struct sockaddr_storage place;
  socklen_t length = address(at, port, &place);
  int fd = socket(place.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
  int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (place.ss_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (bind(fd, (struct sockaddr *)&place, length) != 0 || listen(fd, 4096) != 0) fail("listen");
  return fd;
}

static pid_t forkChild(void) {
  pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  return pid;
}

static void serve(void) {
  struct pollfd all[2 * PORTS];
  for (int n = 0; n < 2 * PORTS; n++) {
    all[n].fd = listener(n < PORTS ? "0.0.0.0" : "::", SILENT + n % PORTS);
    all[n].events = POLLIN;
  }
  puts("ready");
  fflush(stdout);
  for (int n = 1; n < SHARES && forkChild() != 0; n++) continue;
  /* All processes accept from the same sockets; each accepts at most SHARE connections. */
  for (int taken = 0; taken < SHARE;) {
    if (poll(all, 2 * PORTS, -1) < 0) fail("poll");
    for (int n = 0; n < 2 * PORTS; n++) {
      int fd = accept(all[n].fd, NULL, NULL);
      if (fd < 0 && errno != EAGAIN) fail("accept");
      if (fd < 0) continue;
      taken++;
      char byte;
      if (SILENT + n % PORTS == RESPONDING && (recv(fd, &byte, 1, 0) != 1 || send(fd, &byte, 1, 0) != 1)) fail("answer");
    }
  }
  for (;;) pause();
}

static void dial(const char *server, int port, const char *source) {
  struct sockaddr_storage from, to;
  socklen_t fromLength = address(source, 0, &from);
  socklen_t toLength = address(server, port, &to);
  int fd = socket(to.ss_family, SOCK_STREAM, 0);
  int on = 1;
  /* Resets the connection when this process exits. After a FIN the socket would stay in FIN_WAIT, because the server never reads. */
  struct linger none = {1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  setsockopt(fd, SOL_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  if (fd < 0 || bind(fd, (struct sockaddr *)&from, fromLength) != 0) fail("bind");
  if (connect(fd, (struct sockaddr *)&to, toLength) != 0) fail("connect");
  char byte = 'x';
  if (port != SILENT && send(fd, &byte, 1, 0) != 1) fail("send");
  if (port == RESPONDING && recv(fd, &byte, 1, 0) != 1) fail("receive");
}

static void dialShare(char **words, int six, int sources, int count) {
  int done[2];
  if (pipe(done) != 0) fail("pipe");
  pid_t pid = forkChild();
  if (pid == 0) {
    for (int n = 0; n < count; n++) dial(words[1 + six], atoi(words[3]), words[6 + 2 * (n % sources) + six]);
    if (write(done[1], "!", 1) != 1) fail("report a share");
    for (;;) pause();
  }
  close(done[1]);
  char byte;
  if (read(done[0], &byte, 1) != 1) fail("open a share");
  close(done[0]);
  if (started == SHARES) fail("too many processes");
  children[started++] = pid;
}

static void hold(void) {
  char line[4096];
  int last = 0;
  while (fgets(line, sizeof line, stdin) != NULL) {
    char *words[64];
    int count = 0;
    for (char *word = strtok(line, " \n"); word != NULL && count < 64; word = strtok(NULL, " \n")) words[count++] = word;
    if (count == 1 && strcmp(words[0], "close") == 0) {
      for (; started > last; started--) {
        kill(children[started - 1], SIGKILL);
        waitpid(children[started - 1], NULL, 0);
      }
    } else if (count > 7 && strcmp(words[0], "open") == 0) {
      last = started;
      for (int six = 0; six < 2; six++)
        for (int left = atoi(words[4 + six]); left > 0; left -= SHARE)
          dialShare(words, six, (count - 6) / 2, left < SHARE ? left : SHARE);
    } else {
      fail("unknown line");
    }
    puts("done");
    fflush(stdout);
  }
}

int main(int count, char **words) {
  if (count == 2 && strcmp(words[1], "serve") == 0) serve();
  else hold();
  return 0;
}
