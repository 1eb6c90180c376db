import { describe, expect, test } from "vitest";
import { judging, listener, reading } from "./traffic-room.ts";

const AT_LOOPBACK = { driver: "http", activeUrl: "http://127.0.0.1:8081/active" } as const;
const status = (localAddress: string) => listener({ localAddress, localPort: 8081 });

describe("an app that no one outside can reach, and that counts its work", () => {
  test.for([
    { says: "on the loopback address of its URL", settings: AT_LOOPBACK, at: "127.0.0.1" },
    {
      says: "on IPv6, however its URL spells it",
      settings: { ...AT_LOOPBACK, activeUrl: "http://[0:0::1]:8081/" },
      at: "::1",
    },
    { says: "on every address", settings: { ...AT_LOOPBACK, ignorePorts: [8081] }, at: "0.0.0.0" },
    {
      says: "where requests are asked for by name",
      settings: { ...AT_LOOPBACK, drainedWhen: "requests" },
      at: "127.0.0.1",
    },
  ] as const)("is someone to wait for: $says", ({ settings, at }) => {
    expect(judging(settings).look(reading([status(at)]), 0).hasTcpListener).toBe(true);
  });

  test("is gone when it does not listen there any more", () => {
    const { look } = judging(AT_LOOPBACK);
    look(reading([status("127.0.0.1")]), 0);
    expect(look(reading([]), 200).hasTcpListener).toBe(false);
  });

  test.for([
    {
      says: "another port of the loopback",
      settings: AT_LOOPBACK,
      socket: { localAddress: "127.0.0.1", localPort: 9_000 },
    },
    { says: "another loopback address", settings: AT_LOOPBACK, socket: { localAddress: "127.0.0.2", localPort: 8081 } },
    {
      says: "a driver that does not ask there",
      settings: { ...AT_LOOPBACK, driver: "none" },
      socket: { localAddress: "127.0.0.1", localPort: 8081 },
    },
    {
      says: "a criterion that does not count",
      settings: { ...AT_LOOPBACK, drainedWhen: "quiet" },
      socket: { localAddress: "127.0.0.1", localPort: 8081 },
    },
  ] as const)("is not proven by $says", ({ settings, socket }) => {
    expect(judging(settings).look(reading([listener(socket)]), 0).hasTcpListener).toBe(false);
  });

  test("has no traffic of its own there", () => {
    const { look } = judging(AT_LOOPBACK);
    expect(look(reading([status("127.0.0.1")]), 0)).toMatchObject({ openConnections: 0, lastEvidenceMs: -1 });
  });
});
