/** Who can cause what in a Pod's manager: the table of docs/who-may-speak.md, row by row as it is tried. */
import { request } from "node:http";
import { networkInterfaces } from "node:os";
import { type Relaying, statusLine } from "./fake-relay.ts";
import { hookPath, type Manager, PORT, TOKEN } from "./manager-process.ts";

/** What may happen to a Pod, in the order of the table's columns. */
export const HARMS = ["begin", "tell", "done", "suppress", "cut"] as const;
export type Harm = (typeof HARMS)[number];

export const HARM_WORDS: Readonly<Record<Harm, string>> = {
  begin: "begin a drain",
  tell: "have the driver told",
  done: "have the manager done",
  suppress: "suppress the Pod's real drain",
  cut: "cut a drain that runs",
};

export type Speaker = {
  readonly who: string;
  readonly can: readonly Harm[];
  /** What else it costs, for the last column. */
  readonly costs: string;
  /** On a Pod that lives. Ends when all that it asked for has been answered. */
  readonly acts: (manager: Manager) => Promise<unknown>;
  /** In a drain that runs. Ends when it has been heard. */
  readonly meddles: (manager: Manager) => Promise<unknown>;
  /** A relay of its own that says this. */
  readonly relay?: Relaying;
};

/** An address of this host that is not loopback; undefined where it has none. */
export const OUTSIDE = Object.values(networkInterfaces())
  .flatMap((some) => some ?? [])
  .find((one) => one.family === "IPv4" && !one.internal)?.address;

/** @returns the status, once it is answered */
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

/** Without the token a call is closed unread, or answered 404 where it came later than its connection. */
async function strangersCall(from: string, manager: Manager, path: string): Promise<void> {
  const status = await callFrom(from, manager, path).catch(() => 404);
  if (status !== 404) throw new Error(`a stranger's call was answered ${status}`);
}

const FOUR = ["127.201.0.1", "127.201.0.2", "127.201.0.3", "127.201.0.4"];
const STATUS = `/${TOKEN}/status`;
const DRAIN = `/${TOKEN}/drain`;
/** More than the manager keeps, by the number of calls that have to be answered early. */
const CROWD = 148;
const ANSWERED_EARLY = 20;

/** A call is held for as long as the drain lasts: that it has been heard shows in a later call's answer. */
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

/**
 * Far less than the drain of a Pod that is at work would take, which shows that it is cut, and far more than its delay, so
 * that the driver has been told by then however late each program has its turn.
 */
const RELAYED_GRACE_SECONDS = 8;

export const SPEAKERS: readonly Speaker[] = [
  {
    who: "any Pod, without the token",
    can: [],
    costs: "nothing",
    acts: (manager) =>
      Promise.all(
        ["app", "web"].flatMap((name) => FOUR.map((from) => strangersCall(from, manager, `/wrong/prestop/${name}`))),
      ),
    meddles: (manager) =>
      Promise.all(FOUR.flatMap((from) => [1, 2].map(() => strangersCall(from, manager, "/wrong/prestop/app")))),
  },
  {
    who: "a reader of Pods, from another Pod with the token",
    can: [],
    costs: "its own calls are held for 5 s, or 15 s; where a container restarts meanwhile, that takes up to 15 s",
    acts: async (manager) => {
      const drains = OUTSIDE === undefined ? [] : [callFrom(OUTSIDE, manager, DRAIN, "POST")];
      const from = OUTSIDE === undefined ? FOUR : [OUTSIDE, ...FOUR];
      const hooks = ["app", "web"].flatMap((name) => from.map((one) => callFrom(one, manager, hookPath(name))));
      await Promise.all([...drains, ...hooks]);
      // It does not leave, and the Pod's own calls come after as many of its own as the manager keeps.
      await crowd(manager);
    },
    meddles: crowd,
  },
  {
    who: "the kubelet, restarting one container",
    can: [],
    costs:
      "the restart takes 5 s longer, up to 15 s where the relay answers late or not at all, in a drain as long as that",
    acts: (manager) => callFrom(undefined, manager, hookPath("app")),
    meddles: (manager) => heldCall(manager, hookPath("app")),
  },
  {
    who: "the kubelet, restarting two containers within a second",
    can: [],
    costs: "the restarts take 15 s longer, in a drain as long as that",
    acts: (manager) => Promise.all(["app", "web"].map((name) => callFrom(undefined, manager, hookPath(name)))),
    meddles: (manager) => Promise.all(["app", "web"].map((name) => heldCall(manager, hookPath(name)))),
  },
  {
    who: "the kubelet, ending the Pod",
    can: ["begin", "tell", "done", "suppress"],
    costs: "that is the drain; a second end within the minute finds it done",
    acts: (manager) =>
      Promise.all([callFrom(undefined, manager, hookPath("app")), callFrom(undefined, manager, DRAIN, "POST")]),
    meddles: async (manager) => {
      for (let again = 0; again < 6; again += 1) await heldCall(manager, hookPath("app"));
      await heldCall(manager, DRAIN, "POST");
    },
  },
  {
    who: "the relay, about a Pod that has called it",
    can: ["begin", "tell", "done", "suppress", "cut"],
    costs: "it is believed: who runs the webhook could as well delete the Pod's hooks at its admission",
    acts: (manager) => Promise.all(["app", "web"].map((name) => callFrom(undefined, manager, hookPath(name)))),
    meddles: () => Promise.resolve(),
    relay: { first: statusLine({ state: "out", graceSeconds: RELAYED_GRACE_SECONDS }) },
  },
  {
    who: "a process in the Pod that has the token",
    can: ["begin", "tell", "done", "suppress"],
    costs: "it could as well end the app",
    acts: (manager) => callFrom(undefined, manager, DRAIN, "POST"),
    meddles: (manager) => heldCall(manager, DRAIN, "POST"),
  },
];

/** The table of the document, as Markdown. */
export function tableOf(speakers: readonly Speaker[]): string {
  const cells = (texts: readonly string[]) => `| ${texts.join(" | ")} |`;
  const rows = speakers.map(({ who, can, costs }) =>
    cells([who, ...HARMS.map((harm) => (can.includes(harm) ? "**yes**" : "no")), costs]),
  );
  const head = ["who speaks", ...HARMS.map((harm) => HARM_WORDS[harm]), "what it costs"];
  return [cells(head), `|${"---|".repeat(head.length)}`, ...rows].join("\n");
}
