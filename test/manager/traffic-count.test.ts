import { describe, expect, test } from "vitest";
import { createTestMonitor, listener, reading } from "./traffic-room.ts";

const AT_LOOPBACK = { driver: "http", activeUrl: "http://127.0.0.1:8081/active" } as const;
const statusListener = (localAddress: string) => listener({ localAddress, localPort: 8081 });

describe("with the setting active-url", () => {
  test.for([
    { title: "the loopback address of the URL", settings: AT_LOOPBACK, at: "127.0.0.1" },
    {
      title: "the URL's IPv6 address in another spelling",
      settings: { ...AT_LOOPBACK, activeUrl: "http://[0:0::1]:8081/" },
      at: "::1",
    },
    { title: "the URL's port on all addresses", settings: { ...AT_LOOPBACK, ignorePorts: [8081] }, at: "0.0.0.0" },
    {
      title: "a loopback URL with the criterion `requests`",
      settings: { ...AT_LOOPBACK, drainedWhen: "requests" },
      at: "127.0.0.1",
    },
  ] as const)("a listener at $title counts as a listener of the Pod", ({ settings, at }) => {
    expect(createTestMonitor(settings).sample(reading([statusListener(at)]), 0).hasTcpListener).toBe(true);
  });

  test("a listener that the app closed does not count as a listener of the Pod", () => {
    const { sample } = createTestMonitor(AT_LOOPBACK);
    sample(reading([statusListener("127.0.0.1")]), 0);
    expect(sample(reading([]), 200).hasTcpListener).toBe(false);
  });

  test.for([
    {
      title: "its loopback port differs from the URL's",
      settings: AT_LOOPBACK,
      socket: { localAddress: "127.0.0.1", localPort: 9_000 },
    },
    {
      title: "its loopback address differs from the URL's",
      settings: AT_LOOPBACK,
      socket: { localAddress: "127.0.0.2", localPort: 8081 },
    },
    {
      title: "the driver does not call active-url",
      settings: { ...AT_LOOPBACK, driver: "none" },
      socket: { localAddress: "127.0.0.1", localPort: 8081 },
    },
    {
      title: "the criterion is not `requests`",
      settings: { ...AT_LOOPBACK, drainedWhen: "quiet" },
      socket: { localAddress: "127.0.0.1", localPort: 8081 },
    },
  ] as const)("a loopback listener does not count as a listener of the Pod if $title", ({ settings, socket }) => {
    expect(createTestMonitor(settings).sample(reading([listener(socket)]), 0).hasTcpListener).toBe(false);
  });

  test("the listener at active-url does not add connections or evidence of traffic", () => {
    const { sample } = createTestMonitor(AT_LOOPBACK);
    expect(sample(reading([statusListener("127.0.0.1")]), 0)).toMatchObject({ openConnections: 0, lastEvidenceMs: -1 });
  });
});
