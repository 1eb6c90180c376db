/**
 * Words before the program: a kernel that hands connections on before anything was sent. Strangers reach the manager's
 * server, as they do where its guard is not to be had, and so does whatever is no well-formed request.
 */
export const WITHOUT_PORT_GUARD: readonly string[] = [
  process.execPath,
  new URL("without-port-guard.mjs", import.meta.url).pathname,
];
