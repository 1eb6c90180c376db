/** Defines the ports and times that the app, its Deployment and its clients share. */

export const HTTP1_PORT = 8_080;
export const HTTP2_PORT = 8_081;
/** Port of the app's count of open requests. It is on loopback, so that requests for the count do not count as traffic. */
export const ACTIVE_PORT = 8_082;
export const UPSTREAM_HOST = "10.66.0.1";
export const UPSTREAM_HTTP1_PORT = 9_000;
export const UPSTREAM_HTTP2_PORT = 9_001;
/** Long enough that several requests of one connection are in flight at any time. */
export const RESPONSE_DELAY_MS = 20;
