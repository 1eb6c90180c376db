/** Stop signals that do not arrive, or do the wrong thing. */
import { isNoHook, sleepSecondsOf } from "../../injection/hooks/own-hooks.ts";
import { listAt, objectAt, type RawObject, textAt, valueAt } from "../../kubernetes/raw-json.ts";
import { containersIn, preStopOf } from "../containers.ts";
import { parseImage } from "../image.ts";
import type { Rule, Violation } from "../rule.ts";
import { shellScriptOf } from "../sleeps.ts";
import { stopSignalFactOf } from "../stop-signals.ts";

export const SHELL_HIDES_SIGNALS: Rule = {
  id: "shell-hides-signals",
  title: "A shell keeps the stop signal from the app",
  why: "A shell that waits for its command passes no signal on, and as the container's first process it is not ended by SIGTERM either: the app runs on without a word and is killed when the grace period is over. sh of Debian and Ubuntu (dash) stays for any command; bash and the sh of Alpine stay for a loop, wait or pipe at the end.",
  remedy: "Put exec in front of the last command, handle the signal with trap, or leave out the shell.",
  level: "warning",
  check: ({ workloads }) =>
    workloads.flatMap((workload) =>
      containersIn(workload).flatMap(({ container, path, name }): readonly Violation[] => {
        const command = listAt(container, "command");
        if (command.length === 0 || valueAt(objectAt(workload.pod, "spec"), "shareProcessNamespace") === true)
          return [];
        const words = [...command, ...listAt(container, "args")];
        const script = shellScriptOf(words);
        if (script === undefined || !mayStay(script, yieldsToLast(String(words[0]), container))) return [];
        const message = `Container ${name} starts its app from a shell that may stay in front of it and keep SIGTERM to itself.`;
        return [{ at: workload, path: [...path, "command"], value: words[0], message }];
      }),
    ),
};

/** Bash and busybox give their place to a simple command that comes last; dash does not. */
function yieldsToLast(shell: string, container: RawObject): boolean {
  return shell.endsWith("bash") || /alpine|busybox/.test(textAt(container, "image") ?? "");
}

/** A script that handles signals, or gives its place to the app anywhere, is believed; one that only waits has no app. */
function mayStay(script: string, yields: boolean): boolean {
  if (/\btrap\b/.test(script) || /(?:^|[\s;&|(])exec\s/.test(script)) return false;
  const last = script.trim().split("\n").at(-1)?.trim() ?? "";
  if (last === "" || IDLE.test(last)) return false;
  return !yields || /(?:^|[\s;])(?:done|wait)\s*;?$/.test(last) || /[^|]\|[^|]/.test(last);
}

const IDLE = /\b(?:sleep\s+\S+|tail\s+-[fF]\s+\S+)\s*;?\s*(?:done)?\s*;?$/;

export const STOP_SIGNAL: Rule = {
  id: "stop-signal",
  title: "The stop signal drops open requests",
  why: "Some servers take SIGTERM as: stop now. Their images name the graceful signal as STOPSIGNAL, but older ones do not, and for some servers there is none.",
  remedy:
    "Take a newer image, tell the server to stop gracefully in a preStop hook, or let lastcall wait until no request is open.",
  level: "warning",
  check: ({ workloads }) =>
    workloads
      .filter(({ isHeld }) => !isHeld)
      .flatMap((workload) =>
        containersIn(workload).flatMap(({ container, path, name }): readonly Violation[] => {
          const reference = textAt(container, "image") ?? "";
          const message = hasGracefulHook(container) ? undefined : complaint(reference, container);
          if (message === undefined) return [];
          return [
            { at: workload, path: [...path, "image"], value: reference, message: `Container ${name}: ${message}` },
          ];
        }),
      ),
};

function complaint(reference: string, container: RawObject): string | undefined {
  const image = parseImage(reference);
  const fact = stopSignalFactOf(image);
  if (fact === undefined) return undefined;
  const told = textAt(objectAt(container, "lifecycle"), "stopSignal");
  const isSigterm = told === undefined ? fact.stopsBySigterm(image) : told !== fact.graceful;
  if (!isSigterm) return undefined;
  return `${fact.program} drops open requests on ${told ?? "SIGTERM"}; ${fact.since}.`;
}

/** A hook that does more than sleep may well stop the server gracefully. */
function hasGracefulHook(container: RawObject): boolean {
  const handler = preStopOf(container);
  return handler !== undefined && !isNoHook(handler) && sleepSecondsOf(handler) === undefined;
}
