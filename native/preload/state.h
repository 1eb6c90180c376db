/* Tracks the HTTP exchange on one descriptor since the flag was set. Pure functions. */
#pragma once
#include "head.h"

#define CLOSE_HEADER "Connection: close\r\n"
#define CLOSE_HEADER_BYTES ((bytes_t)(sizeof CLOSE_HEADER - 1))

/*
 * UNKNOWN: nothing was read since the flag was set; an earlier response may be in progress. IDLE: all requests have a
 * response. REQUESTED: one request was read. UNSURE: the bytes read may be more or less than one request. RESPONDING: a
 * response of known length is in progress. NEVER: the connection is not changed until it is closed.
 */
enum phase { PHASE_UNKNOWN, PHASE_IDLE, PHASE_REQUESTED, PHASE_UNSURE, PHASE_RESPONDING, PHASE_NEVER };

struct exchange {
  u8 phase;
  /* Bytes left of the request's body while REQUESTED, of the response's while RESPONDING. */
  bytes_t left;
  /* Totals of the descriptor since it was opened. */
  bytes_t sent, received;
};

/* Records a read of `all` bytes, of which the first `seen` are at p. */
void exchange_read(struct exchange *exchange, const u8 *p, bytes_t seen, bytes_t all);

/* @returns the index at which the header may be inserted into a write that starts with `seen` bytes at p; 0 for none */
bytes_t header_position(const struct exchange *exchange, const u8 *p, bytes_t seen);

/* Records an unchanged write of `all` bytes, of which the first `seen` are at p. */
void exchange_written(struct exchange *exchange, const u8 *p, bytes_t seen, bytes_t all);

/* Converts `sent`, which includes the header at `line`, to bytes of the caller. @param missing unsent bytes of the header */
bytes_t sent_for_caller(bytes_t sent, bytes_t line, bytes_t *missing);
