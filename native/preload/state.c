/* One request read whole, nothing written since: only then is the next write surely the beginning of its answer. */
#include "state.h"

/* Longer status lines are left alone: line and farewell together must fit where a send queue is empty. */
#define LONGEST_LINE 128

void talk_read(struct talk *talk, const u8 *p, bytes_t seen, bytes_t all) {
  if (talk->phase == PHASE_NEVER || all == 0) return;
  if (talk->phase == PHASE_ASKED) {
    /* A client that asks again before its answer pipelines: a farewell might come when a later request was taken. */
    if (all > talk->body_left) talk->phase = PHASE_NEVER;
    else talk->body_left -= all;
    return;
  }
  enum request is = head_of_request(p, seen, &talk->body_left);
  if (is == REQUEST_NEVER) talk->phase = PHASE_NEVER;
  if (is == REQUEST_ONE && seen == all) talk->phase = PHASE_ASKED;
}

bytes_t talk_write(struct talk *talk, const u8 *p, bytes_t seen, bytes_t all) {
  bytes_t line = 0;
  if (talk->phase == PHASE_NEVER || all == 0) return 0;
  enum answer is = head_of_answer(p, seen, &line);
  if (is == ANSWER_INTERIM && seen == all) return 0;
  int answers = talk->phase == PHASE_ASKED && talk->body_left == 0;
  talk->phase = is == ANSWER_SWITCHED ? PHASE_NEVER : PHASE_UNKNOWN;
  return answers && is == ANSWER_FINAL && line <= LONGEST_LINE ? line : 0;
}

bytes_t sent_for_caller(bytes_t sent, bytes_t line, bytes_t *missing) {
  bytes_t whole = line + FAREWELL_BYTES;
  *missing = sent > line && sent < whole ? whole - sent : 0;
  return sent <= line ? sent : sent + *missing - FAREWELL_BYTES;
}
