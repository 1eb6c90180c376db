/* The shared memory page that signals the drain to preloaded processes of the Pod, which map the page read-only. */
#pragma once

/* The abstract socket at which the manager sends the page. Tests set another name. */
#ifndef FLAG_SOCKET
#define FLAG_SOCKET "lastcall/preload/1"
#endif
#define FLAG_MARK 0x3150434cu
#define FLAG_PORTS 64
/* FUTEX_OWNER_DIED: the kernel sets this bit of `owner` when the manager's process ends for any reason. */
#define FLAG_OWNER_DIED 0x40000000u
enum { FLAG_WAIT, FLAG_CLOSE, FLAG_OFF };

struct flag_page {
  unsigned mark;
  volatile unsigned char mode;
  unsigned char port_count;
  /* Drained ports. Responses of other ports are not changed. */
  unsigned short ports[FLAG_PORTS];
  /* A robust futex of the manager's thread, with its list and list entry. The addresses are of the manager's process. */
  volatile unsigned owner;
  unsigned long long list[3], entry;
};

/* A page of zeros, which processes use if there is no manager. */
extern const struct flag_page NO_PAGE;

/* Whether the environment disables the library. Called at the start only, because threads may change the environment later. */
int flag_is_off(void);

/* Whether the last request for the page reached a manager that did not respond within the time limit. */
extern int page_is_late;

/* @returns the manager's flag page, or NO_PAGE after the time limit */
const struct flag_page *request_page(long within_ns);
