/*
 * Random exchanges through the whole library, of HTTP or other bytes, with responses split anywhere.
 * Arguments: a seed and the number of exchanges. Prints the number of responses with the header. If the output is wrong, prints the
 * expected and the actual output and fails.
 */
#include "shim.h"

/* Continues after a short write, like a server. */
static void write_all(const u8 *p, bytes_t n) {
  memcpy(meant + meant_bytes, p, n), meant_bytes += n;
  while (n && !is_ended) {
    long taken = write_once(p, n, below(3) == 0);
    if (taken < 0 && errno != EAGAIN && errno != EPIPE) printf("error %d\n", errno), exit(1);
    if (taken > (long)n) printf("%ld of %zu bytes taken\n", taken, n), exit(1);
    if (taken > 0) p += taken, n -= (bytes_t)taken;
  }
}

static const char *const REQUESTS[] = {
  "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST /p HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde", "GET / HTTP/1.0\r\n\r\n",
  "GET / HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", "PING\r\n",
  "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n",
};
#define INTERIM "HTTP/1.1 100 Continue\r\n\r\n"
static const char *const PIECES[] = {
  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 404 Not Found\r\nA: b\r\n\r\n", INTERIM, INTERIM "HTTP/1.1 200 OK\r\n\r\n",
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n", "5\r\nHTTP/1.1 200 OK\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "data: x\n\n", "HTTP/1.1 200 OK\r\nA: b\r\n", "\r\n",
};

static void run_connection(void) {
  open_connection();
  for (unsigned turn = 0; turn < 8; turn++) {
    const char *request = ANY(REQUESTS), *piece = ANY(PIECES);
    receive(request);
    for (unsigned reads = 1 + below(3); reads; reads--) read_some();
    unsent = below(6) == 0;
    int is_first = 1;
    for (unsigned writes = 1 + below(3); writes; writes--, piece = ANY(PIECES)) {
      /* A short write may end after the interim response. The final response then starts a write, and may get the header. */
      const char *head = strncmp(piece, INTERIM, sizeof INTERIM - 1) ? piece : piece + sizeof INTERIM - 1;
      int is_head = !strncmp(head, "HTTP/1.1 ", 9) && head[9] != '1';
      if (is_head && is_first) may_have_header[meant_bytes + (bytes_t)(strstr(head, "\r\n") - piece) + 2] = 1;
      if (strcmp(piece, INTERIM)) is_first = 0;
      write_all((const u8 *)piece, strlen(piece));
    }
  }
}

int main(int count, char **args) {
  long changed = 0;
  if (count < 3) return 2;
  state = strtoull(args[1], 0, 10);
  for (long turn = 0; turn < atol(args[2]); turn++) {
    run_connection();
    int found = close_headers();
    if (found < 0) return printf("exchange %ld\nexpected: %.*s\ngot: %.*s\n", turn, (int)meant_bytes, meant, (int)out_bytes, out), 1;
    changed += found;
  }
  printf("%ld changed, %d ended\n", changed, cuts);
  return 0;
}
