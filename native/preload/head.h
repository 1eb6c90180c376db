/* Parses the bytes of one read or write as HTTP/1.1. Pure functions. */
#pragma once

typedef unsigned char u8;
typedef __SIZE_TYPE__ bytes_t;

/* REQUEST_ONE: starts with exactly one request. REQUEST_NEVER: several requests, or a tunnel. */
enum request { REQUEST_UNSURE, REQUEST_ONE, REQUEST_NEVER };

/* RESPONSE_FINAL: the head may be extended. RESPONSE_SWITCHED: the connection leaves HTTP. */
enum response { RESPONSE_UNCHANGED, RESPONSE_INTERIM, RESPONSE_FINAL, RESPONSE_SWITCHED };

/* @param body_left set for REQUEST_ONE: bytes of the body that are not in this read */
enum request head_of_request(const u8 *p, bytes_t n, bytes_t *body_left);

/* Ends of the status line and of the head; `length` of the body, -1 if the head has none. */
struct response_head { bytes_t line_end, end; long long length; };

/* @param head set for RESPONSE_FINAL */
enum response head_of_response(const u8 *p, bytes_t n, struct response_head *head);
