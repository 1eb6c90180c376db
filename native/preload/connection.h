/* Queries the kernel about a connection. Tests compile it against a fake kernel. */
#pragma once
#include "flag.h"
#include "state.h"

/* Whether the socket is a TCP connection of a drained port. */
int is_drain_port(int fd, const struct flag_page *page);

/*
 * Whether the counted calls carried every byte of the connection, and none is unread or unacknowledged. Bytes written by
 * other calls, through another descriptor or by another process appear in the kernel's counters only.
 */
int is_tracked(int fd, const struct exchange *exchange);

/* Sends the rest of the header, or shuts the connection down: the next write may be another thread's, and half a header
 * would corrupt the response. Needed only if the kernel is out of memory. */
void finish_header(int fd, bytes_t missing);
