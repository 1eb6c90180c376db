/**
 * Declares the capabilities of each driver. Manager, injection and command line read these rows; only a driver's own code, its
 * factory and its recognition in a Pod contain its name.
 */

export type DriverRow = {
  readonly name: DriverName;
  readonly countedUnit: "nothing" | "requests" | "clients";
  /** Whether the driver calls URLs of the app; other drivers call the admin interface of a proxy. */
  readonly callsApp: boolean;
  /** Whether a count includes the requests since the previous count, so that counts are useful before the proxy drains. */
  readonly isCumulative: boolean;
  /** Whether the counts include TCP sessions. */
  readonly countsSessions: boolean;
  /** Whether the Pod's drained ports are the proxy's. A sidecar proxy listens on ports of the mesh, and the app's ports are drained. */
  readonly listensForPod: boolean;
  /** Time to wait for an unreachable proxy, which may be restarting. */
  readonly restartWaitMs: number;
  /** Default admin addresses, in the order in which they are tried. */
  readonly defaultUrls: readonly string[];
  readonly reachesUnixSockets: boolean;
  /**
   * The proxy's kind of Envoy. `istio`: Istio's agent sets a fixed admin port. `any`: the admin address depends on the
   * deployment, so injection reads it from the Pod.
   */
  readonly envoyKind: "none" | "istio" | "any";
};

/** Does not contain `auto`: injection replaces it by one of these names. */
export type DriverName = "none" | "envoy" | "istio" | "linkerd" | "http";

const NONE: DriverRow = {
  name: "none",
  countedUnit: "nothing",
  callsApp: false,
  isCumulative: false,
  countsSessions: false,
  listensForPod: false,
  restartWaitMs: 0,
  defaultUrls: [],
  reachesUnixSockets: false,
  envoyKind: "none",
};

const ENVOY: DriverRow = {
  name: "envoy",
  countedUnit: "requests",
  callsApp: false,
  isCumulative: true,
  countsSessions: true,
  listensForPod: true,
  restartWaitMs: 5_000,
  // Envoy Gateway's port, then that of Envoy's examples.
  defaultUrls: ["http://127.0.0.1:19000", "http://127.0.0.1:9901"],
  reachesUnixSockets: true,
  envoyKind: "any",
};

export const DRIVERS: readonly DriverRow[] = [
  NONE,
  ENVOY,
  {
    ...ENVOY,
    name: "istio",
    listensForPod: false,
    defaultUrls: ["http://127.0.0.1:15000"],
    envoyKind: "istio",
  },
  {
    ...NONE,
    name: "linkerd",
    countedUnit: "clients",
    defaultUrls: ["http://127.0.0.1:4191"],
  },
  {
    ...NONE,
    name: "http",
    countedUnit: "requests",
    callsApp: true,
  },
];

export function driverRow(name: DriverName): DriverRow {
  for (const row of DRIVERS) if (row.name === name) return row;
  return NONE;
}
