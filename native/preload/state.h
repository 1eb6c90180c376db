/* What one descriptor has said since the flip, and what follows for its next write. Pure functions, as those of head.h. */
#pragma once
#include "head.h"

#define FAREWELL "Connection: close\r\n"
#define FAREWELL_BYTES ((bytes_t)(sizeof FAREWELL - 1))

/* Zero is where each descriptor begins: no request was read that is not answered yet, as far as is known. */
enum phase { PHASE_UNKNOWN, PHASE_ASKED, PHASE_NEVER };
struct talk { u8 phase; bytes_t body_left; };

/* `all` bytes were read, the first `seen` of them lie at p. */
void talk_read(struct talk *talk, const u8 *p, bytes_t seen, bytes_t all);

/* `all` bytes are to be written, the first `seen` of them lie at p. Where the farewell goes in; 0 for nowhere. */
bytes_t talk_write(struct talk *talk, const u8 *p, bytes_t seen, bytes_t all);

/* What `sent` bytes with a farewell at `line` are for the caller, who knows of none; *missing is what was cut off it. */
bytes_t sent_for_caller(bytes_t sent, bytes_t line, bytes_t *missing);
