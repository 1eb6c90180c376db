/* The page by which the manager tells processes of its Pod that it drains. They map it read-only. */
#pragma once

/* Its abstract name; a test has one of its own. */
#ifndef FLAG_SOCKET
#define FLAG_SOCKET "lastcall/preload/1"
#endif
#define FLAG_MARK 0x3150434cu
#define FLAG_PORTS 64
/* The kernel sets this bit of `owner` when the manager's process has ended, however it ended: FUTEX_OWNER_DIED. */
#define FLAG_OWNER_DIED 0x40000000u
enum { FLAG_WAIT, FLAG_CLOSE, FLAG_OFF };

struct flag_page {
  unsigned mark;
  volatile unsigned char mode;
  unsigned char port_count;
  /* The ports whose clients are told; of all others nothing is changed. */
  unsigned short ports[FLAG_PORTS];
  /* The manager's thread, as a robust futex, and the kernel's list of it: addresses in the manager. */
  volatile unsigned owner;
  unsigned long long list[3], entry;
};

/* What there is without a manager: a page that stays zero. */
extern const struct flag_page NO_PAGE;

/* Whether the environment switches the library off. Only at the start: a thread may change the environment later. */
int flag_is_off(void);

/* The manager's page, or that one, after as many nanoseconds at most. */
const struct flag_page *flag_ask(long within_ns);
