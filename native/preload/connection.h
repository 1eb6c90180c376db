/* What the kernel says of a connection. Linked into the library, and built a second time on a made-up kernel for tests. */
#pragma once
#include "flag.h"
#include "state.h"

/* Whether it is one of TCP at a port of the page. */
int is_drain_port(int fd, const struct flag_page *page);

/*
 * Whether every byte of the connection since it began went through the calls that were counted, and none waits to be read or
 * is on its way. A head that was written by a call that is not seen here, through another descriptor or by another
 * process is counted by the kernel alone.
 */
int is_followed(int fd, const struct talk *talk);

/* An empty send queue takes first line and farewell whole, unless the kernel is out of memory. Who writes next is not known,
 * so what is missing goes now or the connection ends: half of a line must not be taken for an answer. */
void finish_farewell(int fd, bytes_t missing);
