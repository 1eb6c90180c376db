/* What native-clock.c and native-ages.c share. */
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* Where the clock was moved to, and from when on by the kernel's clock, in milliseconds. */
struct clock_step { double virtual_ms, real_ms; };
extern struct clock_step clock_steps[];
extern int clock_step_count;

/* The line to the test; below 0 where no clock is followed. */
extern int clock_fd;
double clock_now_ms(void);
/* Ends the program. */
void clock_fails(const char *what);

int __real_clock_gettime(clockid_t id, struct timespec *ts);
ssize_t __real_send(int fd, const void *bytes, size_t length, int flags);
ssize_t __real_recv(int fd, void *bytes, size_t length, int flags);
