/**
 * What each driver can do for a drain. Manager, injection and command line read these rows; only the code of a driver
 * itself and the one that recognises it in a Pod name it.
 */

export type DriverRow = {
  readonly name: DriverName;
  /** What its counts are of. */
  readonly counted: "nothing" | "requests" | "clients";
  /** The app is asked, at the URLs of the settings; else the admin interface of a proxy. */
  readonly asksApp: boolean;
  /** Its counts tell what came and went since the last one, so they mean something before it is told to drain. */
  readonly isCumulative: boolean;
  /** Sessions that are no requests are counted with them. */
  readonly countsSessions: boolean;
  /** Its listeners are the ports of the Pod that clients reach. */
  readonly listensForPod: boolean;
  /** How long one that is gone is waited for: it may be restarting, and its ports and clients come back. */
  readonly restartMs: number;
  /** Where its admin interface is when no setting says so, the usual one first. */
  readonly usualUrls: readonly string[];
  readonly reachesUnixSockets: boolean;
  /**
   * The kind of Envoy it drains. `istio`: Istio's agent fixes the admin port. `any`: the admin address depends on what
   * deployed it, so injection reads it from the Pod.
   */
  readonly envoy: "none" | "istio" | "any";
};

/** `auto` never reaches the manager: recognition happens at injection. */
export type DriverName = "none" | "envoy" | "istio" | "linkerd" | "http";

const NONE: DriverRow = {
  name: "none",
  counted: "nothing",
  asksApp: false,
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
  asksApp: false,
  isCumulative: true,
  countsSessions: true,
  listensForPod: true,
  restartMs: 5_000,
  // Envoy Gateway's port, then the one of Envoy's own examples.
  usualUrls: ["http://127.0.0.1:19000", "http://127.0.0.1:9901"],
  reachesUnixSockets: true,
  envoy: "any",
};

/** As `driver` names them. */
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
    asksApp: true,
  },
];

export function driverRow(name: DriverName): DriverRow {
  for (const row of DRIVERS) if (row.name === name) return row;
  return NONE;
}
