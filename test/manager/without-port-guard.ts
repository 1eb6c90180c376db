/**
 * Command prefix that disables the port guard: unauthenticated clients and malformed requests reach the manager's server,
 * as on a kernel without TCP_DEFER_ACCEPT.
 */
export const WITHOUT_PORT_GUARD: readonly string[] = [
  process.execPath,
  new URL("without-port-guard.mjs", import.meta.url).pathname,
];
