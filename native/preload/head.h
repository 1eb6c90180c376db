/* Parses the bytes of one read or write as the head of an HTTP/1.1 message. Pure functions. */
#pragma once

typedef unsigned char u8;
typedef __SIZE_TYPE__ bytes_t;

/* REQUEST_ONE: the bytes start with one request and contain no other. REQUEST_NEVER: several requests, or a tunnel. */
enum request { REQUEST_UNSURE, REQUEST_ONE, REQUEST_NEVER };

/* RESPONSE_FINAL: a header may be added. RESPONSE_SWITCHED: the connection changes to another protocol. */
enum response { RESPONSE_UNCHANGED, RESPONSE_INTERIM, RESPONSE_FINAL, RESPONSE_SWITCHED };

/* @param body_left is set for REQUEST_ONE to the number of body bytes that are not in this read */
enum request head_of_request(const u8 *p, bytes_t n, bytes_t *body_left);

/* `line_end` and `end`: ends of the status line and of the head. `length`: of the body, -1 if the head does not contain it. */
struct response_head { bytes_t line_end, end; long long length; };

/* @param head is valid for RESPONSE_FINAL */
enum response head_of_response(const u8 *p, bytes_t n, struct response_head *head);
