/** Clients of HTTP/3, in a process of their own: Node has none. */
import { startPeer } from "./peer-process.ts";
import type { Clients, Place, Tally } from "./scene.ts";
import { PROXY } from "./upstream-ports.ts";

const PEER = new URL("./http3-peer.py", import.meta.url).pathname;

/** @param paceMs 0 asks once and keeps the connection. Who is sent away leaves, and asks no one else. */
export function http3Clients(clients: number, paceMs: number): (place: Place) => Promise<Clients> {
  return async ({ clock, pod, http3 }) => {
    const tally: Tally = { answered: 0, failures: [] };
    let lastMs = clock.nowMs();
    const peer = await startPeer(http3, [PEER, pod, PROXY.http3, clients, paceMs].map(String), (line) => {
      if (line === "away") return;
      if (line === "ok") tally.answered += 1;
      else tally.failures.push(line.replace(/^fail /, ""));
      lastMs = clock.nowMs();
    });
    return { tally, lastMs: () => lastMs, withdraw: () => {}, stop: peer.stop };
  };
}
