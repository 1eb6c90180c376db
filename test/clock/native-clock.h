/* Declarations shared by native-clock.c and native-ages.c. */
#include <stddef.h>
#include <sys/types.h>

/* The connection to the test; negative if the test clock is not used. */
extern int clock_fd;
double clock_now_ms(void);
/* Prints the error and exits. */
void clock_fails(const char *operation);

/* Dates the socket events since the last step; called before the clock advances. */
void date_socket_events(void);

ssize_t __real_recv(int fd, void *bytes, size_t length, int flags);
