/** Clients of HTTP/3, in a process of their own: Node has none. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Clients, Place, Tally } from "./scene.ts";
import { PROXY } from "./upstream-ports.ts";

const PEER = new URL("./http3-peer.py", import.meta.url).pathname;

/** @param paceMs 0 asks once and keeps the connection. Who is sent away leaves, and asks nobody else. */
export function http3Clients(clients: number, paceMs: number): (place: Place) => Promise<Clients> {
  return async ({ clock, pod, http3 }) => {
    const tally: Tally = { answered: 0, failures: [] };
    let lastMs = clock.nowMs();
    const [python = "python3"] = http3.command;
    const child = spawn(python, [PEER, pod, String(PROXY.http3), String(clients), String(paceMs)], {
      env: { PATH: process.env["PATH"] ?? "", ...http3.environment },
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.on("error", () => {});
    const first = new Promise<void>((answered, failed) => {
      child.once("error", failed);
      child.once("exit", (code) => failed(new Error(`the HTTP/3 clients ended early with ${code}`)));
      createInterface({ input: child.stdout }).on("line", (line) => {
        if (line === "ok") tally.answered += 1;
        else if (line.startsWith("fail ")) tally.failures.push(line.slice("fail ".length));
        if (line !== "away") lastMs = clock.nowMs();
        answered();
      });
    });
    await first;
    return {
      tally,
      lastMs: () => lastMs,
      withdraw: () => {},
      stop: async () => {
        const gone = once(child, "exit");
        child.stdin.end();
        await gone;
      },
    };
  };
}
