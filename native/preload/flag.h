/* The shared page that signals the drain to processes of the Pod. They map it read-only. */
#pragma once

/* The abstract socket that sends the page; tests set another name. */
#ifndef FLAG_SOCKET
#define FLAG_SOCKET "lastcall/preload/1"
#endif
#define FLAG_MARK 0x3150434cu
#define FLAG_PORTS 64
/* FUTEX_OWNER_DIED: the kernel sets this bit of `owner` at any end of the manager's process. */
#define FLAG_OWNER_DIED 0x40000000u
enum { FLAG_WAIT, FLAG_CLOSE, FLAG_OFF };

struct flag_page {
  unsigned mark;
  volatile unsigned char mode;
  unsigned char port_count;
  /* Drained ports; responses of other ports are not changed. */
  unsigned short ports[FLAG_PORTS];
  /* A robust futex of the manager's thread and its list entry; the addresses are the manager's. */
  volatile unsigned owner;
  unsigned long long list[3], entry;
};

/* A page of zeros, for processes without a manager. */
extern const struct flag_page NO_PAGE;

/* Whether the environment disables the library. Call it at the start only: threads may change the environment later. */
int flag_is_off(void);

/* @returns the manager's flag page, or NO_PAGE after the time limit */
const struct flag_page *request_page(long within_ns);
