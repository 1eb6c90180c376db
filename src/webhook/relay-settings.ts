/** The settings of the relay, and which of them go together. */
import type { AdminListen } from "../relay/page/admin-runner.ts";
import { nameSetting, portSetting, type Setting, type SettingProblem, switchSetting } from "./setting-kinds.ts";

export type RelaySettings = {
  /** Secret with the relay's CAs and signing keys; empty: no relay. */
  readonly relaySecret: string;
  /** 0 lets the system choose; the log says which. */
  readonly relayPort: number;
  /** As given: what is no address leaves Pods without the relay, and the log says so. */
  readonly relayAddress: string;
  readonly relayReadPods: boolean;
  /** 0: none. */
  readonly adminPort: number;
  readonly adminListen: AdminListen;
};

export const RELAY_SETTINGS: { readonly [K in keyof RelaySettings]: Setting<RelaySettings[K]> } = {
  relaySecret: nameSetting(
    "relay-secret",
    "",
    "Secret in --namespace with the relay's CAs and signing keys; made when missing, none: no relay",
  ),
  relayPort: portSetting("relay-port", 8444, "to let the system choose", "TCP port for Pods that ask the relay"),
  relayAddress: {
    flag: "relay-address",
    shows: "ADDRESS:PORT",
    fallback: "",
    fallbackShows: "none",
    expects: "ADDRESS:PORT in at most 256 printable characters",
    summary: "where Pods find the relay: the IP address and port of the Service",
    // An address that a cluster left out must not keep admissions from being served.
    parse: (text) => (/^[\x20-\x7e]{0,256}$/.test(text) ? text : undefined),
  },
  relayReadPods: switchSetting(
    "relay-read-pods",
    "true: the relay reads Pods to tell how much time their deletion gives",
  ),
  adminPort: portSetting("admin-port", 0, "for none", "TCP port for recent drains over plain HTTP, without a password"),
  adminListen: {
    flag: "admin-listen",
    shows: "loopback|all",
    fallback: "loopback",
    fallbackShows: "loopback",
    expects: "one of loopback, all",
    summary: "loopback: port-forwards alone reach --admin-port; all: every Pod that reaches this one's address",
    parse: (text) => (text === "loopback" || text === "all" ? text : undefined),
  },
};

/** Declared here, because the table of settings imports this file. */
type Needed = RelaySettings & {
  readonly cluster: "watch" | "off";
  readonly caSecret: string;
  readonly port: number;
};

/** What of the relay does not go together. */
export function relayProblems(settings: Needed): readonly SettingProblem[] {
  const problems: SettingProblem[] = [];
  const told = (where: string, message: string): unknown => problems.push({ where, message });
  const { relaySecret, relayAddress, relayReadPods, adminPort, cluster, caSecret } = settings;
  if (relaySecret !== "" && cluster === "off")
    told("--relay-secret", "It needs --cluster=watch: the relay answers from what the API server tells.");
  if (relaySecret !== "" && relaySecret === caSecret)
    told("--relay-secret", "It is also --ca-secret; the relay needs a Secret of its own.");
  if (relaySecret === "") {
    if (relayAddress !== "") told("--relay-address", "It needs --relay-secret: without it there is no relay.");
    if (relayReadPods) told("--relay-read-pods", "It needs --relay-secret: without it there is no relay.");
    if (adminPort !== 0) told("--admin-port", "It needs --relay-secret: it shows the drains the relay was told of.");
  }
  return [...problems, ...portProblems(settings)];
}

/** Where several are 0, the system chooses different ones. */
function portProblems({ relaySecret, adminPort, relayPort, port }: Needed): readonly SettingProblem[] {
  const others = new Map([[port, "--port"]]);
  const problems: SettingProblem[] = [];
  const check = (flag: string, chosen: number): void => {
    const other = chosen === 0 ? undefined : others.get(chosen);
    if (other !== undefined) problems.push({ where: flag, message: `It is also ${other}; these are two servers.` });
    others.set(chosen, flag);
  };
  if (relaySecret !== "") check("--relay-port", relayPort);
  check("--admin-port", adminPort);
  return problems;
}
