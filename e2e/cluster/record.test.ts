import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { identityOf } from "../host/process-identity.ts";
import { type ClusterRecord, isRunning, readRecord, writeRecord } from "./record.ts";

const folder = mkdtempSync(join(tmpdir(), "lastcall-record-"));
const file = join(folder, "cluster.json");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ownIdentity = identityOf(process.pid) ?? { pid: 0, startTicks: 0 };
const record: ClusterRecord = {
  stage: "up",
  minor: "1.37",
  proxyMode: "nftables",
  binaries: "/nowhere",
  outer: ownIdentity,
  init: ownIdentity,
  host: { kernel: "6", cgroups: "v1", containerd: "1.6.20", runc: "1.1.5" },
};

describe("the stored record of a test cluster", () => {
  test("contains the same values when it is read again", () => {
    writeRecord(file, record);
    expect(readRecord(file)).toEqual(record);
  });

  test("is not the record of a running cluster if other processes reuse its PIDs", () => {
    expect(isRunning(record)).toBe(true);
    expect(isRunning({ ...record, init: { ...ownIdentity, startTicks: ownIdentity.startTicks + 1 } })).toBe(false);
  });

  test.for(["", "{", "null", "[]", '{"outer":{"pid":"1"},"init":{"pid":1}}', '{"outer":1,"init":2,"binaries":"x"}'])(
    "is undefined for the content %s",
    (text) => {
      writeFileSync(file, text);
      expect(readRecord(file)).toBeUndefined();
    },
  );
});
