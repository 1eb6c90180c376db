/** Lists the callers of a Pod's manager and their possible effects, as in the table of docs/caller-authorization.md. */
import { request } from "node:http";
import { networkInterfaces } from "node:os";
import { type Relaying, statusLine } from "./fake-relay.ts";
import { hookPath, type Manager, PORT, TOKEN } from "./manager-process.ts";

/** In the order of the table's columns. */
export const HARMS = ["start", "notify", "done", "suppress", "cut"] as const;
export type Harm = (typeof HARMS)[number];

export const HARM_NAMES: Readonly<Record<Harm, string>> = {
  start: "start a drain",
  notify: "start the driver's drain",
  done: "set the manager to done",
  suppress: "suppress the Pod's real drain",
  cut: "cut a running drain",
};

export type Caller = {
  readonly who: string;
  readonly can: readonly Harm[];
  /** Other consequences, for the last column. */
  readonly costs: string;
  /** Calls without a drain. Resolves when all calls are answered. */
  readonly acts: (manager: Manager) => Promise<unknown>;
  /** Calls during a drain. Resolves when the manager has received them. */
  readonly actsInDrain: (manager: Manager) => Promise<unknown>;
  /** Starts a relay with these responses. */
  readonly relay?: Relaying;
};

/** An address of this host that is not loopback; undefined without one. */
export const EXTERNAL_ADDRESS = Object.values(networkInterfaces())
  .flatMap((some) => some ?? [])
  .find((one) => one.family === "IPv4" && !one.internal)?.address;

export function callFrom(from: string | undefined, manager: Manager, path: string, method = "GET"): Promise<number> {
  return new Promise((resolve, reject) => {
    const bound = from === undefined ? {} : { localAddress: from };
    const sent = request({ host: manager.address, port: PORT, path, method, agent: false, ...bound }, (res) => {
      res.resume();
      res.on("end", () => resolve(res.statusCode ?? 0));
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** Without the token a connection is closed unread, or its request gets 404 if it came in a later segment. */
async function callWithoutToken(from: string, manager: Manager, path: string): Promise<void> {
  const status = await callFrom(from, manager, path).catch(() => 404);
  if (status !== 404) throw new Error(`a call without the token was answered with ${status}`);
}

const FOUR = ["127.201.0.1", "127.201.0.2", "127.201.0.3", "127.201.0.4"];
const STATUS = `/${TOKEN}/status`;
const DRAIN = `/${TOKEN}/drain`;
/** Exceeds the limit of held calls, so that some are answered early. */
const CROWD = 148;
const ANSWERED_EARLY = 20;

/** The call is held until the end of the drain, so the response to a later call proves its arrival. */
function heldCall(manager: Manager, path: string, method = "GET"): Promise<unknown> {
  void callFrom(undefined, manager, path, method).catch(() => {});
  return callFrom(undefined, manager, STATUS);
}

async function crowd(manager: Manager): Promise<void> {
  await new Promise<void>((resolve) => {
    let answered = 0;
    const early = () => {
      answered += 1;
      if (answered === ANSWERED_EARLY) resolve();
    };
    for (let at = 0; at < CROWD; at += 1) {
      void callFrom(FOUR[at % FOUR.length], manager, hookPath("app")).then(early, () => {});
    }
  });
}

/** Longer than the drain delay, after which the driver's drain starts, and shorter than the drain of a busy Pod. */
const RELAYED_GRACE_SECONDS = 8;

export const CALLERS: readonly Caller[] = [
  {
    who: "any Pod, without the token",
    can: [],
    costs: "nothing",
    acts: (manager) =>
      Promise.all(
        ["app", "web"].flatMap((name) => FOUR.map((from) => callWithoutToken(from, manager, `/wrong/prestop/${name}`))),
      ),
    actsInDrain: (manager) =>
      Promise.all(FOUR.flatMap((from) => [1, 2].map(() => callWithoutToken(from, manager, "/wrong/prestop/app")))),
  },
  {
    who: "a reader of Pods, from another Pod with the token",
    can: [],
    costs: "its own calls are held for 5 s or 15 s; a container restart in that time takes up to 15 s",
    acts: async (manager) => {
      const drains = EXTERNAL_ADDRESS === undefined ? [] : [callFrom(EXTERNAL_ADDRESS, manager, DRAIN, "POST")];
      const from = EXTERNAL_ADDRESS === undefined ? FOUR : [EXTERNAL_ADDRESS, ...FOUR];
      const hooks = ["app", "web"].flatMap((name) => from.map((one) => callFrom(one, manager, hookPath(name))));
      await Promise.all([...drains, ...hooks]);
      // These calls stay and reach the limit of held calls before the Pod's own.
      await crowd(manager);
    },
    actsInDrain: crowd,
  },
  {
    who: "the kubelet, restarting one container",
    can: [],
    costs: "the restart takes 5 s longer, up to 15 s if the relay answers late or never; during a drain, until its end",
    acts: (manager) => callFrom(undefined, manager, hookPath("app")),
    actsInDrain: (manager) => heldCall(manager, hookPath("app")),
  },
  {
    who: "the kubelet, restarting two containers within a second",
    can: [],
    costs: "the restarts take 15 s longer; during a drain, until its end",
    acts: (manager) => Promise.all(["app", "web"].map((name) => callFrom(undefined, manager, hookPath(name)))),
    actsInDrain: (manager) => Promise.all(["app", "web"].map((name) => heldCall(manager, hookPath(name)))),
  },
  {
    who: "the kubelet, terminating the Pod",
    can: ["start", "notify", "done", "suppress"],
    costs: "this is the drain; a second termination within a minute finds the manager done",
    acts: (manager) =>
      Promise.all([callFrom(undefined, manager, hookPath("app")), callFrom(undefined, manager, DRAIN, "POST")]),
    actsInDrain: async (manager) => {
      for (let again = 0; again < 6; again += 1) await heldCall(manager, hookPath("app"));
      await heldCall(manager, DRAIN, "POST");
    },
  },
  {
    who: "the relay, about a Pod that has called it",
    can: ["start", "notify", "done", "suppress", "cut"],
    costs: "the relay is trusted: the webhook could also remove the Pod's hooks at admission",
    acts: (manager) => Promise.all(["app", "web"].map((name) => callFrom(undefined, manager, hookPath(name)))),
    actsInDrain: () => Promise.resolve(),
    relay: { first: statusLine({ state: "out", graceSeconds: RELAYED_GRACE_SECONDS }) },
  },
  {
    who: "a process in the Pod, with the token",
    can: ["start", "notify", "done", "suppress"],
    costs: "it could also stop the app",
    acts: (manager) => callFrom(undefined, manager, DRAIN, "POST"),
    actsInDrain: (manager) => heldCall(manager, DRAIN, "POST"),
  },
];

export function tableOf(callers: readonly Caller[]): string {
  const cells = (texts: readonly string[]) => `| ${texts.join(" | ")} |`;
  const rows = callers.map(({ who, can, costs }) =>
    cells([who, ...HARMS.map((harm) => (can.includes(harm) ? "**yes**" : "no")), costs]),
  );
  const head = ["caller", ...HARMS.map((harm) => HARM_NAMES[harm]), "consequences"];
  return [cells(head), `|${"---|".repeat(head.length)}`, ...rows].join("\n");
}
