/**
 * Declares the capabilities of each driver. Manager, injection and command line read these rows; only a driver's own code, its
 * factory and its recognition in a Pod contain its name.
 */

export type DriverRow = {
  readonly name: DriverName;
  readonly counted: "nothing" | "requests" | "clients";
  /** Whether the driver calls URLs of the app; other drivers call the admin interface of a proxy. */
  readonly callsApp: boolean;
  /** Whether a count includes the requests since the previous count, so that counts are useful before the proxy drains. */
  readonly isCumulative: boolean;
  /** Whether the counts include TCP sessions. */
  readonly countsSessions: boolean;
  /** Whether clients connect to the proxy's listeners. */
  readonly listensForPod: boolean;
  /** Time to wait for an unreachable proxy, which may be restarting. */
  readonly restartMs: number;
  /** Default admin addresses, in the order in which they are tried. */
  readonly usualUrls: readonly string[];
  readonly reachesUnixSockets: boolean;
  /**
   * The proxy's kind of Envoy. `istio`: Istio's agent sets a fixed admin port. `any`: the admin address depends on the
   * deployment, so injection reads it from the Pod.
   */
  readonly envoy: "none" | "istio" | "any";
};

/** Has no `auto`, which injection replaces. */
export type DriverName = "none" | "envoy" | "istio" | "linkerd" | "http";

const NONE: DriverRow = {
  name: "none",
  counted: "nothing",
  callsApp: false,
  isCumulative: false,
  countsSessions: false,
  listensForPod: false,
  restartMs: 0,
  usualUrls: [],
  reachesUnixSockets: false,
  envoy: "none",
};

const ENVOY: DriverRow = {
  name: "envoy",
  counted: "requests",
  callsApp: false,
  isCumulative: true,
  countsSessions: true,
  listensForPod: true,
  restartMs: 5_000,
  // Envoy Gateway's port, then that of Envoy's examples.
  usualUrls: ["http://127.0.0.1:19000", "http://127.0.0.1:9901"],
  reachesUnixSockets: true,
  envoy: "any",
};

export const DRIVERS: readonly DriverRow[] = [
  NONE,
  ENVOY,
  {
    ...ENVOY,
    name: "istio",
    listensForPod: false,
    usualUrls: ["http://127.0.0.1:15000"],
    envoy: "istio",
  },
  {
    ...NONE,
    name: "linkerd",
    counted: "clients",
    usualUrls: ["http://127.0.0.1:4191"],
  },
  {
    ...NONE,
    name: "http",
    counted: "requests",
    callsApp: true,
  },
];

export function driverRow(name: DriverName): DriverRow {
  for (const row of DRIVERS) if (row.name === name) return row;
  return NONE;
}
