/* Unclear responses are classified as RESPONSE_UNCHANGED, because an unchanged response is always correct. */
#include "head.h"

static u8 lower(u8 c) { return c >= 'A' && c <= 'Z' ? c | 32 : c; }

/* Whether the bytes start with `word`, which is in lower case if `any_case` is set. */
static int starts(const u8 *p, bytes_t n, const char *word, int any_case) {
  for (bytes_t i = 0; word[i]; i++)
    if (i >= n || (any_case ? lower(p[i]) : p[i]) != (u8)word[i]) return 0;
  return 1;
}

/* @returns the index after the line's CRLF; 0 for an incomplete line, or a line with a single CR or LF */
static bytes_t next_line(const u8 *p, bytes_t n, bytes_t from) {
  for (bytes_t i = from; i + 1 < n; i++) {
    if (p[i] == '\n') return 0;
    if (p[i] == '\r') return p[i + 1] == '\n' ? i + 2 : 0;
  }
  return 0;
}

static bytes_t end_of_request_line(const u8 *p, bytes_t n) {
  bytes_t end = next_line(p, n, 0), i = 0;
  while (i < end && p[i] >= 'A' && p[i] <= 'Z') i++;
  if (i == 0 || i >= end || p[i] != ' ') return 0;
  bytes_t target = ++i;
  while (i < end && p[i] > ' ' && p[i] != 127) i++;
  if (i == target || !starts(p + i, end - i, " HTTP/1.1\r\n", 0) || i + 11 != end) return 0;
  return end;
}

/* @returns the value of Content-Length, or -1 if the value is not a number of at most 15 digits */
static long long length_of(const u8 *p, bytes_t n) {
  bytes_t i = 0;
  long long length = 0;
  while (i < n && p[i] == ' ') i++;
  bytes_t digits = i;
  while (i < n && p[i] >= '0' && p[i] <= '9' && i - digits < 15) length = length * 10 + (p[i++] - '0');
  return i > digits && i < n && p[i] == '\r' ? length : -1;
}

enum request head_of_request(const u8 *p, bytes_t n, bytes_t *body_left) {
  bytes_t at = end_of_request_line(p, n), body = 0;
  int lengths = 0;
  if (starts(p, n, "CONNECT ", 0)) return REQUEST_NEVER;
  while (at) {
    bytes_t end = next_line(p, n, at);
    if (end && end == at + 2) return *body_left = body - (n - end), n - end > body ? REQUEST_NEVER : REQUEST_ONE;
    if (starts(p + at, n - at, "upgrade:", 1) || starts(p + at, n - at, "transfer-encoding:", 1)) return REQUEST_UNSURE;
    if (end && starts(p + at, end - at, "content-length:", 1)) {
      long long length = length_of(p + at + 15, end - at - 15);
      if (length < 0 || lengths++) return REQUEST_UNSURE;
      body = (bytes_t)length;
    }
    at = end;
  }
  return REQUEST_UNSURE;
}

/* Whether the status does not allow a body, even with a Content-Length. */
static int has_no_body(const u8 *status) { return starts(status, 3, "204", 0) || starts(status, 3, "304", 0); }

enum response head_of_response(const u8 *p, bytes_t n, struct response_head *head) {
  if (n < 13 || !starts(p, n, "HTTP/1.1 ", 0) || p[12] != ' ') return RESPONSE_UNCHANGED;
  for (int i = 9; i < 12; i++)
    if (p[i] < '0' || p[i] > '9') return RESPONSE_UNCHANGED;
  if (starts(p + 9, 3, "101", 0)) return RESPONSE_SWITCHED;
  if (p[9] < '1' || p[9] > '5') return RESPONSE_UNCHANGED;
  bytes_t line = next_line(p, n, 0), at = line;
  int lengths = 0;
  *head = (struct response_head){line, 0, -1};
  while (at) {
    bytes_t end = next_line(p, n, at);
    if (end && end == at + 2 && p[9] == '1') return end == n ? RESPONSE_INTERIM : RESPONSE_UNCHANGED;
    if (end && end == at + 2) {
      if (has_no_body(p + 9)) head->length = 0;
      head->end = end;
      return RESPONSE_FINAL;
    }
    if (end && starts(p + at, end - at, "upgrade:", 1)) return RESPONSE_UNCHANGED;
    if (end && starts(p + at, end - at, "content-length:", 1))
      head->length = lengths++ ? -1 : length_of(p + at + 15, end - at - 15);
    /* Transfer-Encoding overrides Content-Length (RFC 9112, 6.3). */
    if (end && starts(p + at, end - at, "transfer-encoding:", 1)) head->length = -1, lengths++;
    at = end;
  }
  return RESPONSE_UNCHANGED;
}
