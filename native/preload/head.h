/* What the bytes of one read or write say about HTTP/1.1. Pure functions: no calls, no state, no memory of their own. */
#pragma once

typedef unsigned char u8;
typedef __SIZE_TYPE__ bytes_t;

/* A read: surely one request from its first byte; more than one, or a tunnel; or anything else. */
enum request { REQUEST_UNSURE, REQUEST_ONE, REQUEST_NEVER };

/* A write: left as it is; one interim answer and nothing else; a head that may be added to; the end of HTTP here. */
enum answer { ANSWER_LEAVE, ANSWER_INTERIM, ANSWER_FINAL, ANSWER_SWITCHED };

/* What a read begins with; for REQUEST_ONE, *body_left is what is still to come of its body. */
enum request head_of_request(const u8 *p, bytes_t n, bytes_t *body_left);

/* Where the status line and the whole head have ended, and the bytes of the body; -1 where the head does not tell. */
struct answer_head { bytes_t line_end, end; long long length; };

/* What a write begins with; *head is of an ANSWER_FINAL only. */
enum answer head_of_answer(const u8 *p, bytes_t n, struct answer_head *head);
