/** Drains Envoy and counts its active requests. The driver `istio` does so for inbound listeners only. */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import type { HttpStream } from "../../http/http-client.ts";
import { type HttpTarget, isUnixTarget } from "../../http/http-target.ts";
import { type Driver, type DriverWarning, NO_RESPONSE } from "../../ports.ts";
import { adminsOf, type CommandResult, drainPathsOf, FAIL_HEALTH, PASS_HEALTH, postCommands } from "./envoy-admin.ts";
import { type CountResult, countRequests, createEnvoyEvidence } from "./envoy-count.ts";

const COMMAND_TIMEOUT_MS = 10_000;
/** A proxy that responded before may be restarting, so the driver waits longer for it than for a proxy that never responded. */
const ABSENT_AFTER_MS = 5_000;
const NEVER_COUNTED_AFTER_MS = 2_000;

export function createEnvoyDriver(settings: DrainSettings, sendHttp: HttpStream, warn: DriverWarning): Driver {
  const admins = adminsOf(settings);
  const paths = drainPathsOf(settings);
  let evidence = createEnvoyEvidence(settings.kubeletProbes);
  /** The admin address at which an Envoy responded. Commands are sent only to this address. */
  let envoyAdmin: HttpTarget | undefined = admins.length === 1 ? admins[0] : undefined;
  let dialCount = 0;
  let hasCounted = false;
  let absentSinceMs = -1;
  let isUseless = admins.length === 0;
  /** The proxy was absent for longer than its limit, one of the two times above. It may respond again later. */
  let isAbsent = false;
  let isDrainRequested = false;
  let isDrainSent = false;
  let isSending = false;
  /** The proxy may have restarted while commands were sent, so the new process may not have received all of them. */
  let mayHaveRestarted = false;
  let isHealthFailed = false;
  let areListenersDraining = false;

  const stream: HttpStream = (call, onChunk, done) => {
    // `dialCount` explains new connections in samples, which contain TCP connections only.
    if (!isUnixTarget(call.target)) dialCount = dialCount + 1;
    sendHttp(call, onChunk, done);
  };

  const countAt = (index: number, done: (result: CountResult) => void): void => {
    const admin = envoyAdmin ?? admins[index];
    if (admin === undefined) return;
    countRequests(stream, admin, settings, (result) => {
      if (result.count.isEnvoy) envoyAdmin = admin;
      else if (envoyAdmin === undefined && index + 1 < admins.length) {
        countAt(index + 1, (other) => done(other.count.isEnvoy ? other : result));
        return;
      }
      done(result);
    });
  };

  const warnBlind = (why: string): void => {
    if (!isUseless && !isAbsent)
      warn("driver cannot count requests or connections; samples of the sockets determine the end of the drain", why);
  };

  const onPossibleRestart = (): void => {
    isDrainSent = false;
    mayHaveRestarted = isSending;
  };

  const recordAbsence = (why: string, nowMs: number): void => {
    // A new process with the same counts would not be detected, so the commands are sent again. Sending them twice is harmless.
    onPossibleRestart();
    if (absentSinceMs < 0) absentSinceMs = nowMs;
    if (nowMs - absentSinceMs < (hasCounted ? ABSENT_AFTER_MS : NEVER_COUNTED_AFTER_MS)) return;
    warnBlind(why);
    isAbsent = true;
  };

  const applyResults = (results: readonly CommandResult[]): string => {
    isSending = false;
    const failures: string[] = [];
    isDrainSent = !mayHaveRestarted;
    mayHaveRestarted = false;
    for (const result of results) {
      if (result.failure !== "") failures.push(result.failure);
      else if (result.path === FAIL_HEALTH) isHealthFailed = true;
      else areListenersDraining = true;
      // A command without a response is sent again after the next successful count.
      if (result.failure !== "" && !result.refused) isDrainSent = false;
    }
    return failures.join("; ");
  };

  const sendDrain = (admin: HttpTarget, done: (failure: string) => void): void => {
    isSending = true;
    postCommands({ admin, paths, timeoutMs: COMMAND_TIMEOUT_MS, stream }, (results) => done(applyResults(results)));
  };

  const resendDrain = (): void => {
    if (!isDrainRequested || isDrainSent || isSending || envoyAdmin === undefined) return;
    sendDrain(envoyAdmin, (failure) => warn("driver resent the drain commands to Envoy", failure));
  };

  const handleResult = (result: CountResult, done: (active: number, hadTraffic: boolean) => void): void => {
    const nowMs = performance.now();
    if (result.kind === "useless") {
      warnBlind(result.why);
      isUseless = true;
      done(-1, false);
      return;
    }
    if (result.kind !== "counted") {
      if (result.kind === "absent") recordAbsence(result.why, nowMs);
      // A program is running, so the proxy is not absent any more.
      else absentSinceMs = -1;
      done(NO_RESPONSE, false);
      return;
    }
    if (isAbsent && !isUseless) warn("driver counts again", "Envoy responds again");
    isAbsent = false;
    hasCounted = true;
    absentSinceMs = -1;
    const { restarted, hadTraffic } = evidence.addCount(result.count, nowMs);
    if (restarted) onPossibleRestart();
    resendDrain();
    done(result.count.active, hadTraffic);
  };

  return {
    name: settings.driver,
    dialCount: () => dialCount,
    canCount: () => !isUseless && !isAbsent,
    countActive: (done) => {
      if (admins.length === 0) done(-1, false);
      else countAt(0, (result) => handleResult(result, done));
    },
    startDrain: (done) => {
      isDrainRequested = true;
      if (admins.length === 0)
        done(
          `lastcall.dev/driver-url is ${settings.driverUrl}, expected an http URL with an IP, or unix:/PATH of at most 107 bytes`,
        );
      else if (envoyAdmin !== undefined) sendDrain(envoyAdmin, done);
      // Commands are sent only after a count has identified the program as Envoy.
      else countAt(0, (result) => (envoyAdmin === undefined ? done(result.why) : sendDrain(envoyAdmin, done)));
    },
    cancelDrain: (done) => {
      const admin = envoyAdmin;
      const mustRevert = isHealthFailed && admin !== undefined;
      if (areListenersDraining)
        warn("driver cannot revert the drain completely", "Envoy continues to close connections until its restart");
      isDrainRequested = false;
      isDrainSent = false;
      isHealthFailed = false;
      areListenersDraining = false;
      isUseless = admins.length === 0;
      isAbsent = false;
      absentSinceMs = -1;
      evidence = createEnvoyEvidence(settings.kubeletProbes);
      if (!mustRevert || admin === undefined) {
        done("");
        return;
      }
      postCommands({ admin, paths: [PASS_HEALTH], timeoutMs: COMMAND_TIMEOUT_MS, stream }, (results) => {
        const failure = results.find((result) => result.failure !== "")?.failure ?? "";
        done(failure);
      });
    },
  };
}
