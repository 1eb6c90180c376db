/* What one descriptor has said since the flip, and what follows for its next write. Pure functions, as those of head.h. */
#pragma once
#include "head.h"

#define FAREWELL "Connection: close\r\n"
#define FAREWELL_BYTES ((bytes_t)(sizeof FAREWELL - 1))

/*
 * UNKNOWN: nothing was read since the flip; an answer from before it may be under way. IDLE: all requests are answered.
 * ASKED: one request was read. UNSURE: bytes were read that may be more or less than that. ANSWERING: an answer of known
 * length is under way. NEVER: this connection is left alone until it is closed.
 */
enum phase { PHASE_UNKNOWN, PHASE_IDLE, PHASE_ASKED, PHASE_UNSURE, PHASE_ANSWERING, PHASE_NEVER };

struct talk {
  u8 phase;
  /* Of the request's body while ASKED, of the answer's while ANSWERING. */
  bytes_t left;
  /* All bytes of the descriptor since it was opened. */
  bytes_t sent, received;
};

/* `all` bytes were read, the first `seen` of them lie at p. */
void talk_read(struct talk *talk, const u8 *p, bytes_t seen, bytes_t all);

/* Where the farewell may go into bytes that are to be written, the first `seen` of which lie at p; 0 for nowhere. */
bytes_t talk_line(const struct talk *talk, const u8 *p, bytes_t seen);

/* `all` bytes were written as they are, the first `seen` of them lie at p. */
void talk_wrote(struct talk *talk, const u8 *p, bytes_t seen, bytes_t all);

/* What `sent` bytes with a farewell at `line` are for the caller, who knows of none; *missing is what was cut off it. */
bytes_t sent_for_caller(bytes_t sent, bytes_t line, bytes_t *missing);
