/**
 * Parses Envoy's statistics as a stream, so the memory depends only on the number of prefixes and listeners. Reports missing
 * statistics as a problem, because they must not count as zero. Pure.
 */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import { createLineBuffer } from "../../line-buffer.ts";
import { activeRequests, listenerOf, type Prefix, prefixNamed, tcpSessions } from "./envoy-prefixes.ts";

export type EnvoyCount = {
  readonly isEnvoy: boolean;
  readonly problem: string;
  /** Whether the problem may be temporary: a starting proxy does not have a listener yet. */
  readonly isTemporary: boolean;
  readonly active: number;
  /** Number of connections and UDP sessions since the proxy started. */
  readonly connectionTotal: number;
  /** Number of completed requests since the proxy started. */
  readonly completedTotal: number;
  /** Number of UDP datagrams in both directions since the proxy started; -1 without a UDP listener, or without this statistic. */
  readonly datagramTotal: number;
  /** Number of requests to the admin interface, including the manager's. Only a restart of the proxy decreases it. */
  readonly adminTotal: number;
  /** Envoy's hot restart epoch; -1 if unknown. */
  readonly epoch: number;
  /** The ports probed by the kubelet on which the proxy listens. */
  readonly probedPorts: readonly number[];
};

type EnvoyStats = {
  readonly addChunk: (chunk: Buffer) => string;
  readonly count: () => EnvoyCount;
};

const LINE_LIMIT_BYTES = 4_096;
/** Limit for prefixes and listeners together. The largest gateways have hundreds. */
const NAMES_LIMIT = 8_192;
const VALUE = /^[0-9]{1,15}$/;

type AdminSums = { connections: number; connectionTotal: number; completedTotal: number; requestTotal: number };

type Sums = {
  lines: number;
  prefixes: Map<string, Prefix>;
  /** Connections of ignored listeners by name. */
  ignored: Map<string, number>;
  /** Numbers of counted listeners that have the gauge of open connections, and that have the counter of all connections. */
  listeners: number;
  listenersWithTotal: number;
  connections: number;
  connectionTotal: number;
  completedTotal: number;
  sessions: number;
  datagramTotal: number;
  admin: AdminSums;
  epoch: number;
  probedPorts: number[];
  error: string;
};

export function createEnvoyStats(settings: DrainSettings): EnvoyStats {
  const lines = createLineBuffer(LINE_LIMIT_BYTES);
  const sums: Sums = {
    lines: 0,
    prefixes: new Map(),
    ignored: new Map(),
    listeners: 0,
    listenersWithTotal: 0,
    connections: 0,
    connectionTotal: 0,
    completedTotal: 0,
    sessions: 0,
    datagramTotal: -1,
    admin: { connections: -1, connectionTotal: -1, completedTotal: -1, requestTotal: -1 },
    epoch: -1,
    probedPorts: [],
    error: "",
  };
  return {
    addChunk: (chunk) => {
      const completeLines = lines.addChunk(chunk);
      if (completeLines === undefined)
        sums.error = `a line of Envoy's statistics is longer than ${LINE_LIMIT_BYTES} bytes`;
      else for (const line of completeLines) addLine(sums, line, settings);
      if (sums.prefixes.size + sums.ignored.size > NAMES_LIMIT)
        sums.error = `Envoy's statistics name more than ${NAMES_LIMIT} prefixes and listeners`;
      return sums.error;
    },
    count: () => countOf(sums),
  };
}

function addLine(sums: Sums, line: string, settings: DrainSettings): void {
  const separatorAt = line.lastIndexOf(": ");
  const text = separatorAt < 0 ? "" : line.slice(separatorAt + 2).trim();
  if (!VALUE.test(text)) return;
  const name = line.slice(0, separatorAt);
  const dot = name.lastIndexOf(".");
  const stat: Stat = { owner: name.slice(0, Math.max(0, dot)), metric: name.slice(dot + 1), value: Number(text) };
  sums.lines = sums.lines + 1;
  if (name.startsWith("listener.")) addListener(sums, stat, settings);
  else if (name.startsWith("http.")) addPrefix(sums, stat);
  else if (name.startsWith("udp.")) addUdp(sums, stat);
  else if (name === "server.hot_restart_epoch") sums.epoch = stat.value;
}

/** One statistic, such as `owner` = `listener.0.0.0.0_80` and `metric` = `downstream_cx_active`. */
type Stat = { readonly owner: string; readonly metric: string; readonly value: number };

function addListener(sums: Sums, stat: Stat, settings: DrainSettings): void {
  const nameAndPrefix = stat.owner.slice("listener.".length);
  const isRequestCounter = stat.metric === "downstream_rq_completed";
  const separatorAt = isRequestCounter ? nameAndPrefix.indexOf(".http.") : nameAndPrefix.length;
  if (separatorAt < 0) return;
  const name = nameAndPrefix.slice(0, separatorAt);
  // Statistics per thread repeat those of the listener.
  if (/\.(worker_[0-9]+|main_thread)$/.test(name)) return;
  const listener = listenerOf(name, settings);
  if (listener.kind === "admin") addAdmin(sums, stat);
  else if (listener.kind === "counted") addCountedListener(sums, stat, listener.port, settings);
  else if (stat.metric === "downstream_cx_active") sums.ignored.set(name, stat.value);
  if (!isRequestCounter) return;
  const prefix = prefixNamed(sums.prefixes, nameAndPrefix.slice(separatorAt + ".http.".length));
  if (listener.kind === "counted") prefix.counted = true;
  else prefix.ignoredBy.push(name);
}

function addCountedListener(sums: Sums, stat: Stat, port: number, settings: DrainSettings): void {
  if (stat.metric === "downstream_rq_completed") sums.completedTotal = sums.completedTotal + stat.value;
  else if (stat.metric === "downstream_cx_total") {
    sums.listenersWithTotal = sums.listenersWithTotal + 1;
    sums.connectionTotal = sums.connectionTotal + stat.value;
  } else {
    sums.listeners = sums.listeners + 1;
    sums.connections = sums.connections + stat.value;
    const isProbed = settings.kubeletProbes.some((probe) => probe.port === port);
    if (isProbed && !sums.probedPorts.includes(port)) sums.probedPorts.push(port);
  }
}

function addAdmin(sums: Sums, stat: Stat): void {
  if (stat.metric === "downstream_cx_active") sums.admin.connections = stat.value;
  else if (stat.metric === "downstream_cx_total") sums.admin.connectionTotal = stat.value;
  else sums.admin.completedTotal = stat.value;
}

function addPrefix(sums: Sums, stat: Stat): void {
  const name = stat.owner.slice("http.".length);
  if (name === "admin" && stat.metric === "downstream_rq_total") sums.admin.requestTotal = stat.value;
  if (stat.metric === "downstream_rq_total") return;
  const prefix = prefixNamed(sums.prefixes, name);
  if (stat.metric === "downstream_rq_active") prefix.requests = stat.value;
  else if (stat.metric === "downstream_cx_active") prefix.connections = stat.value;
  else if (stat.metric === "downstream_cx_upgrades_active") prefix.upgrades = stat.value;
}

function addUdp(sums: Sums, stat: Stat): void {
  if (stat.metric === "downstream_sess_active") sums.sessions = sums.sessions + stat.value;
  else if (stat.metric === "downstream_sess_total") sums.connectionTotal = sums.connectionTotal + stat.value;
  else sums.datagramTotal = Math.max(0, sums.datagramTotal) + stat.value;
}

function countOf(sums: Sums): EnvoyCount {
  const problem = problemOf(sums);
  const httpRequests = activeRequests(sums.prefixes);
  const tcpConnections = tcpSessions(sums.connections, sums.prefixes, sums.ignored);
  // Envoy keeps a UDP session open for its idle timeout, a minute by default, so datagrams show whether it is used.
  const udpSessions = sums.datagramTotal < 0 ? sums.sessions : 0;
  return {
    isEnvoy: sums.lines > 0,
    problem,
    isTemporary: problem === NO_LISTENER,
    active: httpRequests + tcpConnections + udpSessions,
    connectionTotal: sums.connectionTotal,
    completedTotal: sums.completedTotal,
    datagramTotal: sums.datagramTotal,
    adminTotal: sums.admin.requestTotal,
    epoch: sums.epoch,
    probedPorts: sums.probedPorts,
  };
}

const NO_LISTENER = "Envoy has no listener whose requests the driver counts";

/** The statistics have to contain the manager's own request; otherwise requests of clients may be missing too. */
function problemOf(sums: Sums): string {
  const { connections, connectionTotal, completedTotal, requestTotal } = sums.admin;
  if (sums.error !== "") return sums.error;
  if (connections < 0 || connectionTotal < 0 || completedTotal < 0)
    return "Envoy's statistics of listeners are missing (because of a stats_matcher, or because the proxy is not Envoy)";
  const adminPrefix = sums.prefixes.get("admin");
  if (requestTotal < 0 || adminPrefix === undefined || adminPrefix.requests < 0 || adminPrefix.connections < 0)
    return "Envoy's statistics of requests are missing (because of a stats_matcher)";
  if (sums.listeners === 0) return NO_LISTENER;
  return sums.listeners === sums.listenersWithTotal
    ? ""
    : "Envoy's statistics of some listeners are missing (because of a stats_matcher)";
}
