/** Finds stop signals that do not reach the app, or stop it ungracefully. */
import { isNoHook, sleepSecondsOf } from "../../injection/hooks/own-hooks.ts";
import { stopSignalFactOf } from "../../injection/hooks/stop-signals.ts";
import { parseImage } from "../../kubernetes/image.ts";
import { listAt, objectAt, type RawObject, textAt, valueAt } from "../../kubernetes/raw-json.ts";
import { containersIn, preStopOf } from "../containers.ts";
import type { Rule, Violation } from "../rule.ts";
import { shellScriptOf } from "../sleeps.ts";

export const SHELL_HIDES_SIGNALS: Rule = {
  id: "shell-hides-signals",
  title: "A shell does not forward the stop signal to the app",
  why: "A shell that waits for its command does not forward signals, and as PID 1 it ignores SIGTERM: the app keeps running and is killed when the grace period ends. sh of Debian and Ubuntu (dash) waits for any command; bash and sh of Alpine wait if the script ends with a loop, wait or a pipe.",
  remedy: "Put exec in front of the last command, handle the signal with trap, or remove the shell.",
  level: "warning",
  check: ({ workloads }) =>
    workloads.flatMap((workload) =>
      containersIn(workload).flatMap(({ container, path, name }): readonly Violation[] => {
        const command = listAt(container, "command");
        if (command.length === 0 || valueAt(objectAt(workload.pod, "spec"), "shareProcessNamespace") === true)
          return [];
        const args = [...command, ...listAt(container, "args")];
        const script = shellScriptOf(args);
        if (script === undefined || !mayStayPid1(script, execsLastCommand(String(args[0]), container))) return [];
        const message = `Container ${name} starts its app from a shell that may stay PID 1 and not forward SIGTERM.`;
        return [{ at: workload, path: [...path, "command"], value: args[0], message }];
      }),
    ),
};

/** If the last command of a script is simple, bash and busybox's sh exec it, so it replaces the shell; dash does not. */
function execsLastCommand(shell: string, container: RawObject): boolean {
  return shell.endsWith("bash") || /alpine|busybox/.test(textAt(container, "image") ?? "");
}

/** Scripts with `trap` or `exec` pass. Scripts that only wait also pass, because they do not start an app. */
function mayStayPid1(script: string, execsLast: boolean): boolean {
  if (/\btrap\b/.test(script) || /(?:^|[\s;&|(])exec\s/.test(script)) return false;
  const lastLine = script.trim().split("\n").at(-1)?.trim() ?? "";
  if (lastLine === "" || IDLE_COMMAND.test(lastLine)) return false;
  return !execsLast || /(?:^|[\s;])(?:done|wait)\s*;?$/.test(lastLine) || /[^|]\|[^|]/.test(lastLine);
}

const IDLE_COMMAND = /\b(?:sleep\s+\S+|tail\s+-[fF]\s+\S+)\s*;?\s*(?:done)?\s*;?$/;

export const STOP_SIGNAL: Rule = {
  id: "stop-signal",
  title: "The stop signal drops open requests",
  why: "Some servers stop immediately on SIGTERM. Newer images set the graceful signal as STOPSIGNAL; older images do not, and some servers have no such signal.",
  remedy:
    "Use a newer image, stop the server gracefully in a preStop hook, or use lastcall to wait until no request is open.",
  level: "warning",
  check: ({ workloads }) =>
    workloads
      .filter(({ isInjected }) => !isInjected)
      .flatMap((workload) =>
        containersIn(workload).flatMap(({ container, path, name }): readonly Violation[] => {
          const reference = textAt(container, "image") ?? "";
          const message = hasGracefulHook(container) ? undefined : stopSignalProblem(reference, container);
          if (message === undefined) return [];
          return [
            { at: workload, path: [...path, "image"], value: reference, message: `Container ${name}: ${message}` },
          ];
        }),
      ),
};

function stopSignalProblem(reference: string, container: RawObject): string | undefined {
  const image = parseImage(reference);
  const fact = stopSignalFactOf(image);
  if (fact === undefined) return undefined;
  const stopSignal = textAt(objectAt(container, "lifecycle"), "stopSignal");
  const isSigterm = stopSignal === undefined ? fact.signalOf(image) === "SIGTERM" : stopSignal !== fact.gracefulSignal;
  if (!isSigterm) return undefined;
  return `${fact.program} drops open requests on ${stopSignal ?? "SIGTERM"}; ${fact.note}.`;
}

/** A hook that does more than sleep may stop the server gracefully. */
function hasGracefulHook(container: RawObject): boolean {
  const handler = preStopOf(container);
  return handler !== undefined && !isNoHook(handler) && sleepSecondsOf(handler) === undefined;
}
