/*
 * The test clock of the native manager in scenarios; test/clock/test-clock.ts documents the protocol.
  * Wraps functions of the C library (-Wl,--wrap). Linked only into the test build, not into the released binary.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "native-clock.h"

int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __real_nanosleep(const struct timespec *requested, struct timespec *left);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *requested, struct itimerspec *old);
int __real_epoll_wait(int epoll, struct epoll_event *events, int most, int timeout);
int __real_close(int fd);
int __real_socket(int domain, int type, int protocol);
int __real_posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                        char *const *args, char *const *env);

#define VARIABLE "LASTCALL_TEST_CLOCK"
#define MAX_TIMERS 4096
#define MAX_FDS 16

int clock_fd = -1;
static double now_ms;
/* Timers that are due by this time may run. The value becomes now_ms once every program has received the new time. */
static double running_ms = -1;
static struct { int fd; double due_ms; } timers[MAX_TIMERS];
static int timer_count;
static long events_seen;
static int is_sync_pending;
static char unread[65536];
static size_t unread_bytes;

void clock_fails(const char *operation) {
  fprintf(stderr, "test clock: %s: %s\n", operation, strerror(errno));
  _exit(70);
}

double clock_now_ms(void) { return now_ms; }

/* The socket layer's timers are timerfd descriptors; a descriptor becomes readable when the clock reaches its due time. */
static void fire_timers(void) {
  for (int i = 0; i < timer_count;) {
    if (timers[i].due_ms > running_ms) { i++; continue; }
    struct itimerspec at_once = {.it_value = {.tv_nsec = 1}};
    struct pollfd readable = {.fd = timers[i].fd, .events = POLLIN};
    if (__real_timerfd_settime(timers[i].fd, 0, &at_once, NULL) == 0) (void)__real_poll(&readable, 1, -1);
    timers[i] = timers[--timer_count];
  }
}

static void send_line(const char *line, int bytes) {
  if (send(clock_fd, line, (size_t)bytes, MSG_NOSIGNAL) != bytes) _exit(0); /* the test is over */
}

static void execute_line(const char *line) {
  double to_ms;
  if (sscanf(line, "at %lf", &to_ms) == 1) {
    if (running_ms >= 0) date_socket_events();
    now_ms = to_ms;
    if (running_ms >= 0) send_line("set\n", 4);
  } else if (strcmp(line, "run") == 0) {
    running_ms = clock_now_ms();
    fire_timers();
  } else if (strcmp(line, "sync") == 0) is_sync_pending = 1;
  else if (strcmp(line, "begin") != 0) clock_fails(line);
}

/* @returns whether a complete line was available */
static int execute_next_line(int *started) {
  char *end = memchr(unread, '\n', unread_bytes);
  if (end == NULL) return 0;
  *end = 0;
  *started = *started || strcmp(unread, "begin") == 0;
  execute_line(unread);
  unread_bytes -= (size_t)(end + 1 - unread);
  memmove(unread, end + 1, unread_bytes);
  return 1;
}

static void read_lines(void) {
  ssize_t count = __real_recv(clock_fd, unread + unread_bytes, sizeof unread - unread_bytes, 0);
  if (count == 0) _exit(0); /* the test is over */
  if (count < 0 && errno != EINTR) clock_fails("recv");
  if (count > 0) unread_bytes += (size_t)count;
}

/* Runs before all other code of the program, so the program's start time is also on the test clock. */
__attribute__((constructor(101))) static void connect_clock(void) {
  const char *name = getenv(VARIABLE);
  if (name == NULL) return;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(name);
  memcpy(address.sun_path + 1, name, length);
  clock_fd = __real_socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(clock_fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) != 0)
    clock_fails("connect");
  char hello[64];
  int bytes = snprintf(hello, sizeof hello, "hello %d\n", (int)getpid());
  send_line(hello, bytes);
  for (int started = 0; !started;)
    if (!execute_next_line(&started)) read_lines();
  running_ms = clock_now_ms();
  send_line("ready\n", 6);
}

static double next_due_ms(double due_ms) {
  for (int i = 0; i < timer_count; i++)
    if (due_ms < 0 || timers[i].due_ms < due_ms) due_ms = timers[i].due_ms;
  return due_ms;
}

static void report_idle(double due_ms) {
  if (!is_sync_pending) return;
  char line[128];
  int bytes = snprintf(line, sizeof line, "idle %ld %.0f\n", events_seen, next_due_ms(due_ms));
  is_sync_pending = 0;
  send_line(line, bytes);
}

/* The event loop waits in this call. The program reports to the test that it is idle, and only the test clock or an event wakes it. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout) {
  if (clock_fd < 0 || timeout == 0) return __real_poll(fds, count, timeout);
  if (count >= MAX_FDS) clock_fails("too many descriptors");
  double due_ms = timeout < 0 ? -1 : clock_now_ms() + timeout;
  struct pollfd all[MAX_FDS];
  memcpy(all, fds, count * sizeof *fds);
  all[count] = (struct pollfd){.fd = clock_fd, .events = POLLIN};
  for (int started = 1;;) {
    int ready = __real_poll(fds, count, 0);
    if (ready != 0) { events_seen++; return ready; }
    if (due_ms >= 0 && due_ms <= running_ms) return 0;
    if (execute_next_line(&started)) continue;
    report_idle(due_ms);
    if (__real_poll(all, count + 1, -1) < 0) { events_seen++; return -1; }
    if (all[count].revents != 0) read_lines();
  }
}

/* In this call the event loop reads the events that arrived while its callbacks were running. */
int __wrap_epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
  int ready = __real_epoll_wait(epoll, events, most, timeout);
  if (ready > 0) events_seen++;
  return ready;
}

int __wrap_nanosleep(const struct timespec *requested, struct timespec *left) {
  if (clock_fd < 0) return __real_nanosleep(requested, left);
  double ms = (double)requested->tv_sec * 1000.0 + (double)requested->tv_nsec / 1e6;
  return __wrap_poll(NULL, 0, (int)(ms + 0.999)) < 0 ? -1 : 0;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *ts) {
  if (clock_fd < 0 || id != CLOCK_MONOTONIC) return __real_clock_gettime(id, ts);
  ts->tv_sec = (time_t)(clock_now_ms() / 1000.0);
  ts->tv_nsec = (long)((clock_now_ms() - (double)ts->tv_sec * 1000.0) * 1e6);
  return 0;
}

static void remove_timer(int fd) {
  for (int i = 0; i < timer_count; i++)
    if (timers[i].fd == fd) { timers[i] = timers[--timer_count]; return; }
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *requested, struct itimerspec *old) {
  if (clock_fd < 0) return __real_timerfd_settime(fd, flags, requested, old);
  remove_timer(fd);
  if (timer_count == MAX_TIMERS) clock_fails("too many timers");
  double ms = (double)requested->it_value.tv_sec * 1000.0 + (double)requested->it_value.tv_nsec / 1e6;
  timers[timer_count].fd = fd;
  timers[timer_count++].due_ms = clock_now_ms() + (double)(int64_t)(ms + 0.999);
  return 0;
}

int __wrap_close(int fd) {
  if (clock_fd >= 0) remove_timer(fd);
  return __real_close(fd);
}

/* Without TCP_NODELAY the kernel delays a small write until the previous one is acknowledged, up to 40 ms of real time. */
int __wrap_socket(int domain, int type, int protocol) {
  int fd = __real_socket(domain, type, protocol), on = 1;
  if (clock_fd >= 0 && fd >= 0 && (domain == AF_INET || domain == AF_INET6))
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

#define MAX_VARIABLES 256

/* Adds the clock's variable to the environment of the relay's client. */
int __wrap_posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                        char *const *args, char *const *env) {
  if (clock_fd < 0) return __real_posix_spawnp(pid, file, actions, attributes, args, env);
  char *more[MAX_VARIABLES + 2], variable[128];
  int count = 0;
  while (env[count] != NULL && count < MAX_VARIABLES) { more[count] = env[count]; count++; }
  snprintf(variable, sizeof variable, "%s=%s", VARIABLE, getenv(VARIABLE));
  more[count++] = variable;
  more[count] = NULL;
  send_line("spawn\n", 6);
  int error = __real_posix_spawnp(pid, file, actions, attributes, args, more);
  if (error != 0) send_line("unborn\n", 7);
  return error;
}
