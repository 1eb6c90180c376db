/** Tests that a driver stops counting after one long absence of its proxy, but not after several short absences. */
import { expect, test } from "vitest";
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import { createEnvoyDriver } from "../../src/manager/drivers/envoy/envoy-driver.ts";
import { createLinkerdDriver } from "../../src/manager/drivers/linkerd/linkerd-driver.ts";
import { type HttpEnd, type HttpStream, streamHttp } from "../../src/manager/http/http-client.ts";
import { type Driver, NO_RESPONSE } from "../../src/manager/ports.ts";
import { pause } from "../time/pause.ts";
import { startFakeEnvoy } from "./fake-envoy.ts";

const REFUSED: HttpEnd = { status: 0, failure: "refused", timedOut: false };
const TIMED_OUT: HttpEnd = { status: 0, failure: "no complete response within 2000 ms", timedOut: true };
/** Longer than the absence of a proxy after which the Envoy driver and the Linkerd driver stop counting. */
const LONG_ABSENCE_MS = 2_300;

const CREATE_DRIVER: Readonly<Record<string, (stream: HttpStream) => Driver>> = {
  envoy: (stream) => createEnvoyDriver(settingsOf("envoy"), stream, () => undefined),
  linkerd: (stream) => createLinkerdDriver(settingsOf("linkerd"), stream, () => undefined),
};

function settingsOf(driver: "envoy" | "linkerd"): DrainSettings {
  return { ...DEFAULT_SETTINGS, driver, driverUrl: "http://127.0.0.1:9901", drainedWhen: "connections" };
}

/** Creates a driver whose next request to the proxy has the result that the test passes to `count`. */
function createFaultyDriver(name: string) {
  let end = REFUSED;
  const driver = CREATE_DRIVER[name]?.((_call, _onChunk, done) => done(end));
  const count = (nextEnd: HttpEnd): Promise<number> => {
    end = nextEnd;
    return new Promise((done) => driver?.countActive((active) => done(active)));
  };
  return { count, counts: () => driver?.canCount() };
}

test.concurrent.for(["envoy", "linkerd"])(
  "the driver %s still counts requests after two refused connections with a request timeout in between",
  async (name) => {
    const { count, counts } = createFaultyDriver(name);
    const unknownCount = name === "envoy" ? NO_RESPONSE : -1;
    expect(await count(REFUSED)).toBe(unknownCount);
    await pause(LONG_ABSENCE_MS, "longer than the absence after which a driver stops counting");
    expect(await count(TIMED_OUT)).toBe(unknownCount);
    expect(await count(REFUSED)).toBe(unknownCount);
    expect(counts()).toBe(true);
  },
);

test.concurrent("the requests of an Envoy that returns after a long absence are counted again, and a message reports the return", async () => {
  const messages: string[] = [];
  const envoy = await startFakeEnvoy();
  envoy.defaultFault = "refuse";
  const settings = { ...settingsOf("envoy"), driverUrl: envoy.url };
  const driver = createEnvoyDriver(settings, streamHttp, (message) => messages.push(message));
  const count = () => new Promise((done) => driver.countActive(done));
  await count();
  await pause(LONG_ABSENCE_MS, "longer than the absence after which a driver stops counting");
  await count();
  await count();
  expect(driver.canCount()).toBe(false);
  envoy.defaultFault = undefined;
  expect(await count()).toBe(0);
  expect(driver.canCount()).toBe(true);
  expect(messages).toEqual([
    "driver cannot count requests or connections; samples of the sockets determine the end of the drain",
    "driver counts again",
  ]);
  await envoy.stop();
});

test.concurrent.for(["envoy", "linkerd"])(
  "the driver %s stops counting requests after one long absence of the proxy",
  async (name) => {
    const { count, counts } = createFaultyDriver(name);
    await count(REFUSED);
    await pause(LONG_ABSENCE_MS, "longer than the absence after which a driver stops counting");
    await count(REFUSED);
    expect(counts()).toBe(false);
  },
);
