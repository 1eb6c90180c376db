/* Declarations shared by native-clock.c and native-ages.c. */
#include <stddef.h>
#include <sys/types.h>

/* The connection to the test; negative without a clock. */
extern int clock_fd;
double clock_now_ms(void);
/* Ends the program. */
void clock_fails(const char *what);

/* Before the clock goes on: what has come since the last step is dated. */
void date_sockets(void);

ssize_t __real_recv(int fd, void *bytes, size_t length, int flags);
