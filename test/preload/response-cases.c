/*
 * Random exchanges of valid HTTP, whose bodies contain bytes like those of a response. Some calls bypass the library or use
 * another descriptor, clients pipeline requests, and the drain starts at a random time. Arguments: a seed and the number of
 * responses. Prints the number of responses with the header. If the output is wrong, prints the expected and the actual output
 * and fails.
 */
#include "shim.h"

#define EMBEDDED_RESPONSE "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define MAX_REQUESTS 32

static const char *const REQUESTS[] = {
  "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST /p HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde",
  "POST /p HTTP/1.1\r\nContent-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n", "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
  "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n",
};

static bytes_t ends[MAX_REQUESTS], requested, responded;
/* Percentage of calls that bypass the library on this connection; 0 on most connections. */
static unsigned bypass_percent;

static void send_request(void) {
  receive(ANY(REQUESTS));
  ends[requested++] = in_bytes;
}

/*
 * Pipelines requests only during the drain, and only if every earlier response began during the drain, because the library does
 * not track responses that began earlier.
 */
static void pipeline(int is_tracked) {
  while (is_tracked && manager.mode == FLAG_CLOSE && requested < MAX_REQUESTS - 8 && below(6) == 0) send_request();
}

static void read_until(bytes_t end) {
  u8 bytes[ROOM];
  struct iovec part = {bytes, 4096};
  while (in_at < end)
    if (below(100) < bypass_percent) give(&part, 1);
    else read_some();
}

static void write_piece(const u8 *p, bytes_t n) {
  memcpy(meant + meant_bytes, p, n), meant_bytes += n;
  unsigned way = below(100) < bypass_percent ? 1 + below(2) : 0;
  while (n && !is_ended) {
    struct iovec part = {(u8 *)p, n};
    long taken = way == 0 ? write_once(p, n, below(3) == 0) : way == 1 ? take(&part, 1) : shim_write(FD + 1, p, n);
    if (taken > 0) p += taken, n -= (bytes_t)taken;
  }
}

static void respond(void) {
  char head[640], body[400] = "";
  int is_draining = manager.mode == FLAG_CLOSE, is_chunked = below(4) == 0, is_empty = below(8) == 0;
  unsigned pieces = is_empty ? 0 : 1 + below(5);
  if (below(8) == 0) write_piece((const u8 *)"HTTP/1.1 100 Continue\r\n\r\n", 25);
  for (unsigned i = 0; i < pieces; i++) strcat(body, is_chunked ? "26\r\n" EMBEDDED_RESPONSE "\r\n" : EMBEDDED_RESPONSE);
  if (is_chunked) strcat(body, "0\r\n\r\n");
  int n = is_chunked ? sprintf(head, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    : is_empty && below(2) ? sprintf(head, "HTTP/1.1 304 Not Modified\r\n\r\n")
    : sprintf(head, "HTTP/1.1 404 Not Found\r\nContent-Length: %zu\r\n\r\n", strlen(body));
  may_have_header[meant_bytes + (bytes_t)(strstr(head, "\r\n") - head) + 2] = 1;
  if (below(3) == 0) strcat(head, body), write_piece((u8 *)head, strlen(head)), body[0] = 0;
  else write_piece((u8 *)head, (bytes_t)n);
  for (const char *at = body; *at;) {
    /* A piece ends before the next embedded head, or anywhere. */
    const char *next = strstr(at + 1, "HTTP/1.1");
    bytes_t piece = below(4) == 0 ? 1 + below((unsigned)strlen(at)) : next ? (bytes_t)(next - at) : strlen(at);
    if (requested == responded + 1 && below(20) == 0) manager.mode = FLAG_CLOSE;
    pipeline(is_draining);
    if (below(2)) read_until(in_bytes);
    write_piece((const u8 *)at, piece), at += piece;
  }
}

static void run_connection(void) {
  open_connection(), shim_close(FD + 1);
  requested = responded = 0;
  manager.mode = below(2) ? FLAG_CLOSE : FLAG_WAIT;
  bypass_percent = below(3) ? 0 : 1 + below(60);
  while (responded < 8 && !is_ended) {
    if (requested == responded) send_request();
    pipeline(1);
    read_until(ends[responded]);
    unsent = below(6) == 0;
    respond(), responded++;
    if (requested == responded && below(8) == 0) manager.mode = FLAG_CLOSE;
  }
}

int main(int count, char **args) {
  long changed = 0, responses = 0;
  if (count < 3) return 2;
  state = strtoull(args[1], 0, 10);
  start();
  while (responses < atol(args[2])) {
    run_connection();
    int found = close_headers();
    if (found < 0) return printf("after %ld responses\nexpected: %.*s\ngot: %.*s\n", responses, (int)meant_bytes, meant, (int)out_bytes, out), 1;
    changed += found, responses += (long)responded;
  }
  printf("%ld responses, %ld changed, %d ended\n", responses, changed, cuts);
  return 0;
}
