/* A write certainly starts a response only if exactly one complete request was read since the last write. */
#include "state.h"

/* The header is not inserted after a longer status line, because line and header have to fit into an empty send queue. */
#define LONGEST_LINE 128

void exchange_read(struct exchange *exchange, const u8 *p, bytes_t seen, bytes_t all) {
  if (exchange->phase == PHASE_NEVER || exchange->phase == PHASE_UNSURE || all == 0) return;
  if (exchange->phase == PHASE_REQUESTED && all <= exchange->left) {
    exchange->left -= all;
    return;
  }
  /* The client pipelines requests, so the next write may belong to either request. */
  int is_pipelined = exchange->phase == PHASE_REQUESTED || exchange->phase == PHASE_RESPONDING;
  enum request is = is_pipelined ? REQUEST_NEVER : head_of_request(p, seen, &exchange->left);
  exchange->phase = is == REQUEST_NEVER ? PHASE_NEVER : is == REQUEST_ONE && seen == all ? PHASE_REQUESTED : PHASE_UNSURE;
}

bytes_t header_position(const struct exchange *exchange, const u8 *p, bytes_t seen) {
  struct response_head head;
  if (exchange->phase != PHASE_REQUESTED || exchange->left > 0) return 0;
  return head_of_response(p, seen, &head) == RESPONSE_FINAL && head.line_end <= LONGEST_LINE ? head.line_end : 0;
}

static void count_response(struct exchange *exchange, bytes_t bytes) {
  exchange->phase = bytes > exchange->left ? PHASE_NEVER : bytes == exchange->left ? PHASE_IDLE : PHASE_RESPONDING;
  exchange->left -= bytes;
}

void exchange_written(struct exchange *exchange, const u8 *p, bytes_t seen, bytes_t all) {
  struct response_head head;
  if (exchange->phase == PHASE_NEVER || all == 0) return;
  if (exchange->phase == PHASE_RESPONDING) return count_response(exchange, all);
  enum response is = head_of_response(p, seen, &head);
  if (exchange->phase == PHASE_UNKNOWN && is != RESPONSE_SWITCHED) return;
  int is_requested = exchange->phase == PHASE_REQUESTED || exchange->phase == PHASE_UNSURE;
  if (is_requested && is == RESPONSE_INTERIM && seen == all) return;
  /* If the end of the response is unknown, later reads cannot be assigned to a request. */
  if (!is_requested || is != RESPONSE_FINAL || head.length < 0) {
    exchange->phase = PHASE_NEVER;
    return;
  }
  exchange->left = (bytes_t)head.length;
  count_response(exchange, all - head.end);
}

bytes_t sent_for_caller(bytes_t sent, bytes_t line, bytes_t *missing) {
  bytes_t whole = line + CLOSE_HEADER_BYTES;
  *missing = sent > line && sent < whole ? whole - sent : 0;
  return sent <= line ? sent : sent + *missing - CLOSE_HEADER_BYTES;
}
