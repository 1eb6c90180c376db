/* Tests native/preload/head.c with complete, truncated and damaged heads. Prints the first failing case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../native/preload/head.h"

struct request_case { const char *bytes; enum request expected; bytes_t body_left; };
struct response_case { const char *bytes; enum response expected; long long length; };

static const struct request_case REQUESTS[] = {
  {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", REQUEST_ONE, 0},
  {"POST /p HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", REQUEST_ONE, 0},
  {"POST /p HTTP/1.1\r\ncontent-length:9\r\n\r\nabc", REQUEST_ONE, 6},
  {"GET / HTTP/1.0\r\nHost: a\r\n\r\n", REQUEST_UNSURE, 0},
  {"GET / HTTP/1.1\r\n\r\nGET", REQUEST_NEVER, 0},
  {"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcG", REQUEST_NEVER, 0},
  {"CONNECT a:1 HTTP/1.1\r\n\r\n", REQUEST_NEVER, 0},
  {"GET /ws HTTP/1.1\r\nuPgRaDe: websocket\r\n\r\n", REQUEST_UNSURE, 0},
  {"GET / HTTP/1.1\r\nHost: a\r\n", REQUEST_UNSURE, 0},
  {"GET  / HTTP/1.1\r\n\r\n", REQUEST_UNSURE, 0},
  {"*1\r\n$4\r\nPING\r\n", REQUEST_UNSURE, 0},
  {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", REQUEST_UNSURE, 0},
  {"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 9\r\n\r\nab", REQUEST_UNSURE, 0},
  {"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", REQUEST_UNSURE, 0},
  {"GET / HTTP/1.1\n\r\n\r\n", REQUEST_UNSURE, 0},
};
static const struct response_case RESPONSES[] = {
  {"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", RESPONSE_FINAL, -1}, {"HTTP/1.1 503 \r\n\r\n", RESPONSE_FINAL, -1},
  {"HTTP/1.1 200 OK\r\ncontent-LENGTH: 4\r\n\r\nbody", RESPONSE_FINAL, 4},
  {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n", RESPONSE_FINAL, -1},
  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n", RESPONSE_FINAL, -1},
  {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", RESPONSE_FINAL, -1},
  {"HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n", RESPONSE_FINAL, 0}, {"HTTP/1.1 204 No\r\n\r\n", RESPONSE_FINAL, 0},
  {"HTTP/1.1 100 Continue\r\n\r\n", RESPONSE_INTERIM, 0}, {"HTTP/1.1 101 Switching\r\n\r\n", RESPONSE_SWITCHED, 0},
  {"HTTP/1.1 200 OK\r\nUpgrade: h2c\r\n\r\n", RESPONSE_UNCHANGED, 0}, {"HTTP/1.1 200 OK\r\nA: b\r\n", RESPONSE_UNCHANGED, 0},
  {"HTTP/1.0 200 OK\r\n\r\n", RESPONSE_UNCHANGED, 0}, {"x HTTP/1.1 200 OK\r\n\r\n", RESPONSE_UNCHANGED, 0},
  {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", RESPONSE_UNCHANGED, 0},
  {"HTTP/1.1 2000 OK\r\n\r\n", RESPONSE_UNCHANGED, 0}, {"HTTP/1.1 600 No\r\n\r\n", RESPONSE_UNCHANGED, 0},
};

/* Uses a copy of exactly n bytes, so that the address sanitizer detects a read beyond them. */
static void check_damaged(const char *bytes, bytes_t n) {
  u8 *copy = malloc(n ? n : 1);
  memcpy(copy, bytes, n);
  for (int turn = 0; turn < 200; turn++) {
    bytes_t left = 0;
    struct response_head head = {0, 0, 0};
    head_of_request(copy, n, &left);
    if (head_of_response(copy, n, &head) == RESPONSE_FINAL && (head.line_end < 2 || head.end > n || copy[head.line_end - 1] != '\n')) abort();
    if (n) copy[(bytes_t)rand() % n] = (u8)rand();
  }
  free(copy);
}

int main(void) {
  for (bytes_t i = 0; i < sizeof REQUESTS / sizeof *REQUESTS; i++) {
    const char *bytes = REQUESTS[i].bytes;
    bytes_t left = 0;
    enum request actual = head_of_request((const u8 *)bytes, strlen(bytes), &left);
    if (actual != REQUESTS[i].expected || (actual == REQUEST_ONE && left != REQUESTS[i].body_left)) return printf("request: %s\n", bytes), 1;
    for (bytes_t n = 0; n <= strlen(bytes); n++) check_damaged(bytes, n);
  }
  for (bytes_t i = 0; i < sizeof RESPONSES / sizeof *RESPONSES; i++) {
    const char *bytes = RESPONSES[i].bytes;
    struct response_head head = {0, 0, 0};
    enum response actual = head_of_response((const u8 *)bytes, strlen(bytes), &head);
    if (actual != RESPONSES[i].expected || (actual == RESPONSE_FINAL && head.length != RESPONSES[i].length)) return printf("response: %s\n", bytes), 1;
    for (bytes_t n = 0; n <= strlen(bytes); n++) check_damaged(bytes, n);
  }
  return 0;
}
