/* The page by which the manager tells processes of its Pod that it drains. They map it read-only. */
#pragma once

/* Its abstract name; a test has one of its own. */
#ifndef FLAG_SOCKET
#define FLAG_SOCKET "lastcall/preload/1"
#endif
#define FLAG_MARK 0x3150434cu
#define FLAG_PORTS 64
enum { FLAG_WAIT, FLAG_CLOSE, FLAG_OFF };

struct flag_page {
  unsigned mark;
  volatile unsigned char mode;
  unsigned char port_count;
  /* The ports whose clients are told; of all others nothing is changed. */
  unsigned short ports[FLAG_PORTS];
};

/* What there is without a manager: a page that stays zero. */
extern const struct flag_page NO_PAGE;

/* The manager's page, or that one. */
const struct flag_page *flag_ask(void);
