import { describe, expect, test } from "vitest";
import { NO_ENDPOINT } from "../../src/manager/relay/relay-settings.ts";
import { neighboursIn } from "../../src/manager/traffic/neighbours.ts";
import type { Reading, TcpSocket } from "../../src/manager/traffic/observation.ts";

const PROXY = 1337;
const APP = 65_532;
const MANAGER_PORT = 17_890;

const socket = (uid: number, state: number, localPort: number, peerPort = 0): TcpSocket => ({
  family: 2,
  state,
  localAddress: "10.0.0.5",
  localPort,
  peerAddress: "10.0.0.9",
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

const reading = (sockets: TcpSocket[]): Reading => ({
  source: "netlink",
  sockets,
  udpPorts: [],
  passiveOpens: -1,
  activeOpens: -1,
});

const proxyListens = socket(PROXY, 10, 15_006);

describe("who but the proxy has sockets", () => {
  test.for([
    { says: "only the proxy's own", sockets: [proxyListens, socket(PROXY, 1, 40_000, 443)], others: false },
    { says: "an app that calls out", sockets: [proxyListens, socket(APP, 1, 40_000, 443)], others: true },
    { says: "an app that listens", sockets: [proxyListens, socket(APP, 10, 8_080)], others: true },
    { says: "what an app left behind", sockets: [proxyListens, socket(0, 6, 8_080, 50_000)], others: false },
    {
      says: "the manager's, with the app's user",
      sockets: [proxyListens, socket(APP, 10, MANAGER_PORT)],
      others: false,
    },
    {
      says: "a hook's call to the manager",
      sockets: [proxyListens, socket(APP, 1, 40_000, MANAGER_PORT)],
      others: false,
    },
  ])("$says counts as others: $others", ({ sockets, others }) => {
    expect(neighboursIn(reading(sockets), MANAGER_PORT, NO_ENDPOINT)).toEqual({
      known: true,
      others,
      sharedUser: false,
    });
  });

  test("a listener with the proxy's user outside its ports means the user is shared", () => {
    const seen = neighboursIn(reading([proxyListens, socket(PROXY, 10, 8_080)]), MANAGER_PORT, NO_ENDPOINT);
    expect(seen).toEqual({ known: true, others: false, sharedUser: true });
  });

  test("without a reading, or without a proxy that listens, nothing is known", () => {
    expect(neighboursIn(undefined, MANAGER_PORT, NO_ENDPOINT).known).toBe(false);
    expect(neighboursIn(reading([socket(APP, 1, 40_000, 443)]), MANAGER_PORT, NO_ENDPOINT).known).toBe(false);
  });
});
