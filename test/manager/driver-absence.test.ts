/** Proxies that are gone for a moment, hang, and are gone for a moment again: only one long absence is given up. */
import { expect, test } from "vitest";
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import { createEnvoyDriver } from "../../src/manager/drivers/envoy/envoy-driver.ts";
import { createLinkerdDriver } from "../../src/manager/drivers/linkerd/linkerd-driver.ts";
import { type HttpEnd, type HttpStream, streamHttp } from "../../src/manager/http/http-client.ts";
import { type Driver, NOT_ANSWERED } from "../../src/manager/ports.ts";
import { pause } from "../time/pause.ts";
import { startFakeEnvoy } from "./fake-envoy.ts";

const GONE: HttpEnd = { status: 0, failure: "refused", timedOut: false };
const HANGS: HttpEnd = { status: 0, failure: "no complete response within 2000 ms", timedOut: true };
/** Longer than an absence is borne with by both drivers. */
const LONG_MS = 2_300;

const MAKERS: Readonly<Record<string, (stream: HttpStream) => Driver>> = {
  envoy: (stream) => createEnvoyDriver(settingsOf("envoy"), stream, () => undefined),
  linkerd: (stream) => createLinkerdDriver(settingsOf("linkerd"), stream, () => undefined),
};

function settingsOf(driver: "envoy" | "linkerd"): DrainSettings {
  return { ...DEFAULT_SETTINGS, driver, driverUrl: "http://127.0.0.1:9901", drainedWhen: "connections" };
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

test.concurrent.for(["envoy", "linkerd"])("%s that hung between two short absences is not given up", async (name) => {
  const { ask, counts } = asking(name);
  const unknown = name === "envoy" ? NOT_ANSWERED : -1;
  expect(await ask(GONE)).toBe(unknown);
  await pause(LONG_MS, "longer than an absence is borne with");
  expect(await ask(HANGS)).toBe(unknown);
  expect(await ask(GONE)).toBe(unknown);
  expect(counts()).toBe(true);
});

test.concurrent("an Envoy that comes back after it was given up counts again, and that is told", async () => {
  const notes: string[] = [];
  const envoy = await startFakeEnvoy();
  envoy.always = "refuse";
  const settings = { ...settingsOf("envoy"), driverUrl: envoy.url };
  const driver = createEnvoyDriver(settings, streamHttp, (message) => notes.push(message));
  const ask = () => new Promise((done) => driver.countActive(done));
  await ask();
  await pause(LONG_MS, "longer than an absence is borne with");
  await ask();
  await ask();
  expect(driver.counts()).toBe(false);
  envoy.always = undefined;
  expect(await ask()).toBe(0);
  expect(driver.counts()).toBe(true);
  expect(notes).toEqual(["driver cannot count, using samples of sockets", "driver counts again"]);
  await envoy.stop();
});

test.concurrent.for(["envoy", "linkerd"])("%s that was gone all the time is given up", async (name) => {
  const { ask, counts } = asking(name);
  await ask(GONE);
  await pause(LONG_MS, "longer than an absence is borne with");
  await ask(GONE);
  expect(counts()).toBe(false);
});
