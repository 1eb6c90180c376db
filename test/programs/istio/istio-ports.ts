/** Defines the ports of Istio's sidecar and the user IDs of the containers. */

export const ISTIO_PORTS = {
  admin: 15_000,
  outbound: 15_001,
  inbound: 15_006,
  agent: 15_020,
  status: 15_021,
  stats: 15_090,
};

export const APP_PORT = 8_080;

export const UIDS = { app: 1_000, proxy: 1_337, manager: 17_890 } as const;

/** Runs a program as another user, like `runAsUser`. With CAP_DAC_READ_SEARCH the program can read this machine's files. */
export function runAs(uid: number, command: readonly string[]): readonly string[] {
  const capabilities = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"];
  return ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", ...capabilities, ...command];
}
