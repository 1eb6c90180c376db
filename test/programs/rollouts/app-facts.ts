/** What the app and those who deploy it must agree on. */

export const HTTP1_PORT = 8_080;
export const HTTP2_PORT = 8_081;
/** Of the app's count of open requests; on loopback, so its own traffic counts for no one. */
export const ACTIVE_PORT = 8_082;
/** Where the app of proxies is, in both versions of HTTP; it is never rolled. */
export const UPSTREAM_HOST = "10.66.0.1";
export const UPSTREAM_HTTP1_PORT = 9_000;
export const UPSTREAM_HTTP2_PORT = 9_001;
/** So that several requests of one connection are under way at any time. */
export const ANSWER_MS = 20;
