/** Tells Envoy that it drains and counts what it still works on. As `istio` it only speaks of what comes in. */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import type { HttpStream } from "../../http/http-client.ts";
import { type HttpTarget, isUnixTarget } from "../../http/http-target.ts";
import { type Driver, type DriverNote, NOT_ANSWERED } from "../../ports.ts";
import { adminsOf, drainPathsOf, FAIL_HEALTH, PASS_HEALTH, type Told, tellEnvoy } from "./envoy-admin.ts";
import { askEnvoy, createEnvoyEvidence, type EnvoyAnswer } from "./envoy-count.ts";

const TELL_LIMIT_MS = 10_000;
/** A proxy that was there may be restarting; one that was never seen is given less. */
const GONE_AFTER_MS = 5_000;
const NEVER_SEEN_AFTER_MS = 2_000;

/** @param reach makes the calls to the admin interface */
export function createEnvoyDriver(settings: DrainSettings, reach: HttpStream, note: DriverNote): Driver {
  const admins = adminsOf(settings);
  const paths = drainPathsOf(settings);
  let evidence = createEnvoyEvidence(settings.kubeletProbes);
  /** Which of the possible addresses answered as an Envoy; only that one is ever told anything. */
  let found: HttpTarget | undefined = admins.length === 1 ? admins[0] : undefined;
  let dials = 0;
  let seen = false;
  let absentSinceMs = -1;
  let blind = admins.length === 0;
  /** The proxy was given up because it was not there, and may come back. */
  let gone = false;
  let wanted = false;
  let told = false;
  let telling = false;
  /** While it was being told another process may have come, which did not hear all of it. */
  let toldAnother = false;
  let healthFailed = false;
  let listenersDrain = false;

  const stream: HttpStream = (call, onChunk, done) => {
    // Those over a Unix socket are not among the kernel's TCP connections.
    if (!isUnixTarget(call.target)) dials = dials + 1;
    reach(call, onChunk, done);
  };

  /** Tries every address in turn until one is an Envoy. */
  const ask = (index: number, done: (answer: EnvoyAnswer) => void): void => {
    const admin = found ?? admins[index];
    if (admin === undefined) return;
    askEnvoy(stream, admin, settings, (answer) => {
      if (answer.count.isEnvoy) found = admin;
      else if (found === undefined && index + 1 < admins.length) {
        ask(index + 1, (other) => done(other.count.isEnvoy ? other : answer));
        return;
      }
      done(answer);
    });
  };

  const noteBlindness = (why: string): void => {
    if (!blind && !gone) note("driver cannot count, sockets decide instead", why);
  };

  const mayBeAnother = (): void => {
    told = false;
    toldAnother = telling;
  };

  const noteAbsence = (why: string, nowMs: number): void => {
    // Who comes next may be a new process whose counts happen to be as high; saying it twice does no harm.
    mayBeAnother();
    if (absentSinceMs < 0) absentSinceMs = nowMs;
    if (nowMs - absentSinceMs < (seen ? GONE_AFTER_MS : NEVER_SEEN_AFTER_MS)) return;
    noteBlindness(why);
    gone = true;
  };

  const takeTold = (results: readonly Told[]): string => {
    telling = false;
    const failures: string[] = [];
    told = !toldAnother;
    toldAnother = false;
    for (const result of results) {
      if (result.failure !== "") failures.push(result.failure);
      else if (result.path === FAIL_HEALTH) healthFailed = true;
      else listenersDrain = true;
      // A command that got no answer is sent again as soon as a count shows that the proxy answers.
      if (result.failure !== "" && !result.refused) told = false;
    }
    return failures.length === 0 ? "" : `Envoy was not told to drain: ${failures.join("; ")}`;
  };

  const tell = (admin: HttpTarget, done: (failure: string) => void): void => {
    telling = true;
    tellEnvoy({ admin, paths, limitMs: TELL_LIMIT_MS, stream }, (results) => done(takeTold(results)));
  };

  const tellAgain = (): void => {
    if (!wanted || told || telling || found === undefined) return;
    tell(found, (failure) => note("driver told Envoy again", failure));
  };

  const takeAnswer = (answer: EnvoyAnswer, done: (active: number, moved: boolean) => void): void => {
    const nowMs = performance.now();
    if (answer.kind === "useless") {
      noteBlindness(answer.why);
      blind = true;
      done(-1, false);
      return;
    }
    if (answer.kind !== "counted") {
      if (answer.kind === "absent") noteAbsence(answer.why, nowMs);
      // A program is there again: an absence before has ended, and the next one is another.
      else absentSinceMs = -1;
      done(NOT_ANSWERED, false);
      return;
    }
    if (gone && !blind) note("driver counts again", "Envoy answers after all");
    gone = false;
    seen = true;
    absentSinceMs = -1;
    const { restarted, moved } = evidence.take(answer.count, nowMs);
    if (restarted) mayBeAnother();
    tellAgain();
    done(answer.count.active, moved);
  };

  return {
    name: settings.driver,
    dials: () => dials,
    counts: () => !blind && !gone,
    countActive: (done) => {
      if (admins.length === 0) done(-1, false);
      else ask(0, (answer) => takeAnswer(answer, done));
    },
    tellDraining: (done) => {
      wanted = true;
      if (admins.length === 0)
        done(
          `Envoy was not told to drain: ${settings.driverUrl} is neither an http URL with an IP nor unix:/PATH of at most 107 bytes`,
        );
      else if (found !== undefined) tell(found, done);
      // Nothing is told before the program is known to be an Envoy; the first count that finds one later tells it.
      else
        ask(0, (answer) =>
          found === undefined ? done(`Envoy was not told to drain: ${answer.why}`) : tell(found, done),
        );
    },
    tellStaying: (done) => {
      const admin = found;
      const undo = healthFailed && admin !== undefined;
      if (listenersDrain)
        note("driver cannot take everything back", "Envoy goes on closing connections until it is restarted");
      wanted = false;
      told = false;
      healthFailed = false;
      listenersDrain = false;
      blind = admins.length === 0;
      gone = false;
      absentSinceMs = -1;
      evidence = createEnvoyEvidence(settings.kubeletProbes);
      if (!undo || admin === undefined) {
        done("");
        return;
      }
      tellEnvoy({ admin, paths: [PASS_HEALTH], limitMs: TELL_LIMIT_MS, stream }, (results) => {
        const failure = results.find((result) => result.failure !== "")?.failure ?? "";
        done(failure === "" ? "" : `Envoy was not told that it stays: ${failure}`);
      });
    },
  };
}
