/** Lists the callers of a Pod's manager and their possible effects, as in the table of docs/caller-authorization.md. */
import { request } from "node:http";
import { networkInterfaces } from "node:os";
import { type RelayOptions, statusLine } from "./fake-relay.ts";
import { hookPath, type Manager, PORT, TOKEN } from "./manager-process.ts";

/** Possible effects of a call, in the order of the table's columns. */
export const HARMS = ["start", "notify", "done", "suppress", "cut"] as const;
export type Harm = (typeof HARMS)[number];

export const HARM_NAMES: Readonly<Record<Harm, string>> = {
  start: "start a drain",
  notify: "start the driver's drain",
  done: "set the manager's phase to done",
  suppress: "suppress the Pod's real drain",
  cut: "end a running drain early",
};

export type Caller = {
  readonly name: string;
  readonly possibleHarms: readonly Harm[];
  /** The table's last column. */
  readonly consequences: string;
  /** Calls a manager without a drain. Resolves when all calls have responses. */
  readonly call: (manager: Manager) => Promise<unknown>;
  /** Calls a manager during a drain. Resolves when the manager has received the calls. */
  readonly callDuringDrain: (manager: Manager) => Promise<unknown>;
  /** Options of the relay of the caller's Pod; absent for a Pod without a relay. */
  readonly relay?: RelayOptions;
};

/** An address of this host that is not a loopback address; undefined if the host has none. */
export const EXTERNAL_ADDRESS = Object.values(networkInterfaces())
  .flatMap((some) => some ?? [])
  .find((one) => one.family === "IPv4" && !one.internal)?.address;

export function callFrom(address: string | undefined, manager: Manager, path: string, method = "GET"): Promise<number> {
  return new Promise((resolve, reject) => {
    const sourceOptions = address === undefined ? {} : { localAddress: address };
    const clientRequest = request(
      { host: manager.address, port: PORT, path, method, agent: false, ...sourceOptions },
      (res) => {
        res.resume();
        res.on("end", () => resolve(res.statusCode ?? 0));
      },
    );
    clientRequest.on("error", reject);
    clientRequest.end();
  });
}

/**
 * The port guard closes the connection of a request without the token. If the connection was accepted before the first bytes of
 * the request arrived, the request gets 404.
 */
async function callWithoutToken(from: string, manager: Manager, path: string): Promise<void> {
  const status = await callFrom(from, manager, path).catch(() => 404);
  if (status !== 404) throw new Error(`a call without the token was answered with ${status}`);
}

const CALLER_ADDRESSES = ["127.201.0.1", "127.201.0.2", "127.201.0.3", "127.201.0.4"];
const STATUS_PATH = `/${TOKEN}/status`;
const DRAIN_PATH = `/${TOKEN}/drain`;
/** More calls than the manager's limit of simultaneous holds, so the manager responds to some of the calls immediately. */
const EXCESSIVE_CALLS = 148;
const EARLY_RESPONSES = 20;

/** Starts a call that the manager holds until the end of the drain. The response to a later call proves that this call arrived. */
function startHeldCall(manager: Manager, path: string, method = "GET"): Promise<unknown> {
  void callFrom(undefined, manager, path, method).catch(() => {});
  return callFrom(undefined, manager, STATUS_PATH);
}

async function exceedHoldLimit(manager: Manager): Promise<void> {
  await new Promise<void>((resolve) => {
    let responseCount = 0;
    const onEarlyResponse = () => {
      responseCount += 1;
      if (responseCount === EARLY_RESPONSES) resolve();
    };
    for (let at = 0; at < EXCESSIVE_CALLS; at += 1) {
      void callFrom(CALLER_ADDRESSES[at % CALLER_ADDRESSES.length], manager, hookPath("app")).then(
        onEarlyResponse,
        () => {},
      );
    }
  });
}

/** Longer than the drain delay, after which the driver's drain starts, and shorter than the drain of a busy Pod. */
const RELAYED_GRACE_SECONDS = 8;

export const CALLERS: readonly Caller[] = [
  {
    name: "any Pod, without the token",
    possibleHarms: [],
    consequences: "nothing",
    call: (manager) =>
      Promise.all(
        ["app", "web"].flatMap((name) =>
          CALLER_ADDRESSES.map((from) => callWithoutToken(from, manager, `/wrong/prestop/${name}`)),
        ),
      ),
    callDuringDrain: (manager) =>
      Promise.all(
        CALLER_ADDRESSES.flatMap((from) => [1, 2].map(() => callWithoutToken(from, manager, "/wrong/prestop/app"))),
      ),
  },
  {
    name: "a reader of Pods, from another Pod with the token",
    possibleHarms: [],
    consequences: "its own calls are held for 5 s or 15 s; a container restart in that time takes up to 15 s",
    call: async (manager) => {
      const drainCalls =
        EXTERNAL_ADDRESS === undefined ? [] : [callFrom(EXTERNAL_ADDRESS, manager, DRAIN_PATH, "POST")];
      const addresses = EXTERNAL_ADDRESS === undefined ? CALLER_ADDRESSES : [EXTERNAL_ADDRESS, ...CALLER_ADDRESSES];
      const hookCalls = ["app", "web"].flatMap((name) =>
        addresses.map((one) => callFrom(one, manager, hookPath(name))),
      );
      await Promise.all([...drainCalls, ...hookCalls]);
      // These calls stay open and use up the limit of held calls before the kubelet calls the hooks of the Pod.
      await exceedHoldLimit(manager);
    },
    callDuringDrain: exceedHoldLimit,
  },
  {
    name: "the kubelet, restarting one container",
    possibleHarms: [],
    consequences:
      "the restart takes 5 s longer, up to 15 s if the relay responds late or never; during a drain, until the end of the drain",
    call: (manager) => callFrom(undefined, manager, hookPath("app")),
    callDuringDrain: (manager) => startHeldCall(manager, hookPath("app")),
  },
  {
    name: "the kubelet, restarting two containers within a second",
    possibleHarms: [],
    consequences: "the restarts take 15 s longer; during a drain, until the end of the drain",
    call: (manager) => Promise.all(["app", "web"].map((name) => callFrom(undefined, manager, hookPath(name)))),
    callDuringDrain: (manager) => Promise.all(["app", "web"].map((name) => startHeldCall(manager, hookPath(name)))),
  },
  {
    name: "the kubelet, terminating the Pod",
    possibleHarms: ["start", "notify", "done", "suppress"],
    consequences:
      "this is the intended drain; if the Pod keeps running, the calls of a second termination within a minute are answered at once, without a drain",
    call: (manager) =>
      Promise.all([callFrom(undefined, manager, hookPath("app")), callFrom(undefined, manager, DRAIN_PATH, "POST")]),
    callDuringDrain: async (manager) => {
      for (let count = 0; count < 6; count += 1) await startHeldCall(manager, hookPath("app"));
      await startHeldCall(manager, DRAIN_PATH, "POST");
    },
  },
  {
    name: "the relay, about a Pod that has called it",
    possibleHarms: ["start", "notify", "done", "suppress", "cut"],
    consequences: "the relay is trusted: the webhook could also remove the Pod's hooks at admission",
    call: (manager) => Promise.all(["app", "web"].map((name) => callFrom(undefined, manager, hookPath(name)))),
    callDuringDrain: () => Promise.resolve(),
    relay: { firstStatus: statusLine({ state: "out", graceSeconds: RELAYED_GRACE_SECONDS }) },
  },
  {
    name: "a process in the Pod, with the token",
    possibleHarms: ["start", "notify", "done", "suppress"],
    consequences: "it could also stop the app",
    call: (manager) => callFrom(undefined, manager, DRAIN_PATH, "POST"),
    callDuringDrain: (manager) => startHeldCall(manager, DRAIN_PATH, "POST"),
  },
];

export function tableOf(callers: readonly Caller[]): string {
  const rowOf = (texts: readonly string[]) => `| ${texts.join(" | ")} |`;
  const rows = callers.map(({ name, possibleHarms, consequences }) =>
    rowOf([name, ...HARMS.map((harm) => (possibleHarms.includes(harm) ? "**yes**" : "no")), consequences]),
  );
  const header = ["caller", ...HARMS.map((harm) => HARM_NAMES[harm]), "consequences"];
  return [rowOf(header), `|${"---|".repeat(header.length)}`, ...rows].join("\n");
}
