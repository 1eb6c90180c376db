/** Proxies that are gone for a moment, hang, and are gone for a moment again: only one long absence is given up. */
import { expect, test } from "vitest";
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import { createEnvoyDriver } from "../../src/manager/drivers/envoy-driver.ts";
import type { HttpEnd, HttpStream } from "../../src/manager/drivers/http-stream.ts";
import { createLinkerdDriver } from "../../src/manager/drivers/linkerd-driver.ts";
import type { Driver } from "../../src/manager/ports.ts";

const GONE: HttpEnd = { status: 0, failure: "refused", timedOut: false };
const HANGS: HttpEnd = { status: 0, failure: "no whole answer within 2000 ms", timedOut: true };
/** Longer than an absence is borne with by both drivers. */
const LONG_MS = 2_300;

const MAKERS: Readonly<Record<string, (stream: HttpStream) => Driver>> = {
  envoy: (stream) => createEnvoyDriver(settingsOf("envoy"), stream, () => undefined),
  linkerd: (stream) => createLinkerdDriver(settingsOf("linkerd"), stream, () => undefined),
};

function settingsOf(driver: "envoy" | "linkerd"): DrainSettings {
  return { ...DEFAULT_SETTINGS, driver, driverUrl: "http://127.0.0.1:9", drainedWhen: "connections" };
}

/** A driver whose every question ends as told. */
function asking(name: string) {
  let end = GONE;
  const driver = MAKERS[name]?.((_call, _onChunk, done) => done(end));
  const ask = (next: HttpEnd): Promise<number> => {
    end = next;
    return new Promise((done) => driver?.countActive((active) => done(active)));
  };
  return { ask, counts: () => driver?.counts() };
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

test.concurrent.for(["envoy", "linkerd"])("%s that hung between two short absences is not given up", async (name) => {
  const { ask, counts } = asking(name);
  expect(await ask(GONE)).toBe(-1);
  await pause(LONG_MS);
  expect(await ask(HANGS)).toBe(-1);
  expect(await ask(GONE)).toBe(-1);
  expect(counts()).toBe(true);
});

test.concurrent.for(["envoy", "linkerd"])("%s that was gone all the time is given up", async (name) => {
  const { ask, counts } = asking(name);
  await ask(GONE);
  await pause(LONG_MS);
  await ask(GONE);
  expect(counts()).toBe(false);
});
