/* Queries the kernel about a connection. Tests compile this file with fake system calls. */
#pragma once
#include "flag.h"
#include "state.h"

/* Whether the socket is a TCP connection of a drained port. */
int is_drain_port(int fd, const struct flag_page *page);

/*
 * Whether the counted calls transferred all bytes of the connection, and no byte is unread or unacknowledged. Bytes of other
 * calls, other descriptors and other processes appear only in the kernel's counters.
 */
int is_tracked(int fd, const struct exchange *exchange);

/* Sends the rest of a partially sent header, or shuts the connection down: the write of another thread must not follow half a
 * header. The kernel sends a part of the header only if it is out of memory. */
void finish_header(int fd, bytes_t missing);
