import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_ENDPOINT } from "../../src/manager/relay/relay-settings.ts";
import type { TcpSocket } from "../../src/manager/sockets/reading.ts";
import { createProcessWatch, type OtherProcesses } from "../../src/manager/traffic/other-processes.ts";
import { addressOf } from "./socket-lists.ts";

const PROXY_UID = 1337;
const APP_UID = 65_532;
const MANAGER_PORT = 17_890;

const socket = (uid: number, state: number, localPort: number, peerPort = 0): TcpSocket => ({
  family: 2,
  state,
  localAddress: addressOf("10.0.0.5"),
  localPort,
  peerAddress: addressOf("10.0.0.9"),
  peerPort,
  uid,
  receiveQueue: 0,
  sendQueue: 0,
  lastDataSentMs: -1,
  lastDataReceivedMs: -1,
  lastAckReceivedMs: -1,
  bytesReceived: -1,
  dataSegmentsReceived: -1,
  dataSegmentsSent: -1,
  pureAcksSent: -1,
});

function processesIn(sockets: readonly TcpSocket[]): OtherProcesses {
  const watch = createProcessWatch(MANAGER_PORT, NO_ENDPOINT);
  // startSample discards an earlier sample.
  watch.startSample();
  watch.add(socket(7, 10, 15_006));
  watch.add(socket(8, 1, 40_000, 443));
  watch.startSample();
  for (const one of sockets) watch.add(one);
  return watch.finishSample();
}

const proxyListener = socket(PROXY_UID, 10, 15_006);

describe("the UIDs of processes other than the proxy", () => {
  test.for([
    { title: "the proxy's own sockets", sockets: [proxyListener, socket(PROXY_UID, 1, 40_000, 443)], verb: "exclude" },
    {
      title: "an app's outbound connection",
      sockets: [proxyListener, socket(APP_UID, 1, 40_000, 443)],
      verb: "include",
    },
    { title: "an app's listener", sockets: [proxyListener, socket(APP_UID, 10, 8_080)], verb: "include" },
    { title: "an app's TIME_WAIT entry", sockets: [proxyListener, socket(0, 6, 8_080, 50_000)], verb: "exclude" },
    {
      title: "the manager's listener, even with the app's UID",
      sockets: [proxyListener, socket(APP_UID, 10, MANAGER_PORT)],
      verb: "exclude",
    },
    {
      title: "a hook's connection to the manager",
      sockets: [proxyListener, socket(APP_UID, 1, 40_000, MANAGER_PORT)],
      verb: "exclude",
    },
  ])("$verb the owner of $title", ({ sockets, verb }) => {
    expect(processesIn(sockets)).toEqual({
      known: true,
      hasOthers: verb === "include",
      hasSharedUser: false,
    });
  });

  test("include the proxy's UID if a process with this UID listens on a port that is not a mesh port", () => {
    expect(processesIn([proxyListener, socket(PROXY_UID, 10, 8_080)])).toEqual({
      known: true,
      hasOthers: false,
      hasSharedUser: true,
    });
  });

  test("are unknown if no proxy listens", () => {
    expect(processesIn([socket(APP_UID, 1, 40_000, 443)]).known).toBe(false);
  });

  test("do not depend on the order of listeners or connections", () => {
    const anySocket = fc.record({
      uid: fc.constantFrom(PROXY_UID, APP_UID, 0),
      state: fc.constantFrom(1, 3, 6, 10),
      localPort: fc.constantFrom(8_080, 15_006, 40_000, MANAGER_PORT),
    });
    fc.assert(
      fc.property(fc.array(anySocket, { maxLength: 8 }), (chosen) => {
        const sockets = chosen.map(({ uid, state, localPort }) => socket(uid, state, localPort));
        const listeners = sockets.filter(({ state }) => state === 10);
        const others = sockets.filter(({ state }) => state !== 10);
        const reversed = [...[...listeners].reverse(), ...[...others].reverse()];
        expect(processesIn(reversed)).toEqual(processesIn([...listeners, ...others]));
      }),
    );
  });

  test("are reported as present if there are more users than the limit", () => {
    const manyListeners = Array.from({ length: 1_000 }, (_, uid) => socket(10_000 + uid, 10, 15_006));
    expect(processesIn(manyListeners)).toMatchObject({ known: true, hasOthers: true });
  });
});
