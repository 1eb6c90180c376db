/** Defines the ports of the upstream, and of the Envoy in a Pod. */

export const UPSTREAM_PORTS = { http1: 9_000, http2: 9_001, tcp: 9_002, udp: 9_003 } as const;

/** `ready` is Envoy Gateway's port for readiness probes. */
export const PROXY_PORTS = { web: 8_080, tcp: 8_081, udp: 8_082, http3: 8_443, admin: 19_000, ready: 19_003 } as const;
