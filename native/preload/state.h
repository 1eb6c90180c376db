/* Tracks the HTTP exchange on one descriptor since the flag was set. Pure functions. */
#pragma once
#include "head.h"

#define CLOSE_HEADER "Connection: close\r\n"
#define CLOSE_HEADER_BYTES ((bytes_t)(sizeof CLOSE_HEADER - 1))

/*
 * UNKNOWN: no read since the flag was set, so an earlier response may be in progress. IDLE: all requests have a response.
 * REQUESTED: one request was read. UNSURE: the bytes that were read may not be exactly one request. RESPONDING: a response
 * of known length is in progress. NEVER: responses are not changed until the connection closes.
 */
enum phase { PHASE_UNKNOWN, PHASE_IDLE, PHASE_REQUESTED, PHASE_UNSURE, PHASE_RESPONDING, PHASE_NEVER };

struct exchange {
  u8 phase;
  /* Remaining bytes of the request's body in PHASE_REQUESTED, and of the response's body in PHASE_RESPONDING. */
  bytes_t left;
  /* Number of bytes since the descriptor was opened. */
  bytes_t sent, received;
};

/* Records a read of `all` bytes, of which the first `seen` are at p. */
void exchange_read(struct exchange *exchange, const u8 *p, bytes_t seen, bytes_t all);

/* @returns the index at which the header may be inserted into a write that starts with `seen` bytes at p; 0 for none */
bytes_t header_position(const struct exchange *exchange, const u8 *p, bytes_t seen);

/* Records an unchanged write of `all` bytes, of which the first `seen` are at p. */
void exchange_written(struct exchange *exchange, const u8 *p, bytes_t seen, bytes_t all);

/* Subtracts the header, which was inserted at `line`, from the `sent` bytes. @param missing is set to the header's unsent bytes */
bytes_t sent_for_caller(bytes_t sent, bytes_t line, bytes_t *missing);
