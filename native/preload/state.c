/* One request read whole, nothing written since: only then is the next write surely the beginning of its answer. */
#include "state.h"

/* Longer status lines are left alone: line and farewell together must fit where a send queue is empty. */
#define LONGEST_LINE 128

void talk_read(struct talk *talk, const u8 *p, bytes_t seen, bytes_t all) {
  if (talk->phase == PHASE_NEVER || talk->phase == PHASE_UNSURE || all == 0) return;
  if (talk->phase == PHASE_ASKED && all <= talk->left) {
    talk->left -= all;
    return;
  }
  /* A client that asks again before its answer has ended pipelines: what is written next may belong to either request. */
  int is_pipelined = talk->phase == PHASE_ASKED || talk->phase == PHASE_ANSWERING;
  enum request is = is_pipelined ? REQUEST_NEVER : head_of_request(p, seen, &talk->left);
  talk->phase = is == REQUEST_NEVER ? PHASE_NEVER : is == REQUEST_ONE && seen == all ? PHASE_ASKED : PHASE_UNSURE;
}

bytes_t talk_line(const struct talk *talk, const u8 *p, bytes_t seen) {
  struct answer_head head;
  if (talk->phase != PHASE_ASKED || talk->left > 0) return 0;
  return head_of_answer(p, seen, &head) == ANSWER_FINAL && head.line_end <= LONGEST_LINE ? head.line_end : 0;
}

static void count_answer(struct talk *talk, bytes_t bytes) {
  talk->phase = bytes > talk->left ? PHASE_NEVER : bytes == talk->left ? PHASE_IDLE : PHASE_ANSWERING;
  talk->left -= bytes;
}

void talk_wrote(struct talk *talk, const u8 *p, bytes_t seen, bytes_t all) {
  struct answer_head head;
  if (talk->phase == PHASE_NEVER || all == 0) return;
  if (talk->phase == PHASE_ANSWERING) return count_answer(talk, all);
  enum answer is = head_of_answer(p, seen, &head);
  if (talk->phase == PHASE_UNKNOWN && is != ANSWER_SWITCHED) return;
  int is_asked = talk->phase == PHASE_ASKED || talk->phase == PHASE_UNSURE;
  if (is_asked && is == ANSWER_INTERIM && seen == all) return;
  /* An answer whose end is not known has none: whatever is read from now on may have been asked before it. */
  if (!is_asked || is != ANSWER_FINAL || head.length < 0) {
    talk->phase = PHASE_NEVER;
    return;
  }
  talk->left = (bytes_t)head.length;
  count_answer(talk, all - head.end);
}

bytes_t sent_for_caller(bytes_t sent, bytes_t line, bytes_t *missing) {
  bytes_t whole = line + FAREWELL_BYTES;
  *missing = sent > line && sent < whole ? whole - sent : 0;
  return sent <= line ? sent : sent + *missing - FAREWELL_BYTES;
}
