import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { appUrl, type Codec, driverUrl } from "../../src/policy/codecs.ts";
import { ANNOTATIONS, FIELDS, type Field, fallbackText } from "../../src/policy/fields.ts";
import { readValue } from "../../src/policy/read-value.ts";

function codecOf(field: Field): Codec<unknown> {
  return ANNOTATIONS[field].codec as Codec<unknown>;
}

const VALID_TEXTS: Readonly<Record<Field, readonly string[]>> = {
  inject: ["enabled", "disabled"],
  mode: ["auto", "sleep"],
  drainDelayMs: ["0s", "1500ms"],
  deregistrationDelayMs: ["5m"],
  drainTimeoutMs: ["6h"],
  quietPeriodMs: ["2s"],
  patienceMs: ["0s", "10s"],
  shutdown: ["graceful", "abrupt"],
  drainedWhen: ["requests"],
  driver: ["http"],
  driverUrl: ["http://127.0.0.1:9901", "http://[::1]:15000/", "unix:/admin/admin.sock"],
  drainUrl: ["http://127.0.0.1:8080/drain", "http://127.9.2.3/x?y=z", "http://[::1]:8080?q"],
  activeUrl: ['http://127.0.0.1:8080/metrics#requests_active{app="x"}', "http://127.0.0.1:1/#/a/b"],
  drainPorts: ["80", "80, 443"],
  ignorePorts: ["9090,9091"],
  containers: ["app", "app,worker-2"],
  preStop: ["chain"],
  port: ["1024", "65535"],
  profile: ["slow"],
  resources: ["auto", "cpu=10m", "cpu=10m/20m,memory=16Mi", "memory=1.5Gi"],
  runAsUser: ["auto", "unset", "1", "2147483647"],
  preload: ["disabled", "http1"],
};

describe.for(FIELDS)("the codec of the setting %s", (field) => {
  const { parse, format, schema } = codecOf(field);

  test("reads valid values, which match the schema", () => {
    for (const text of VALID_TEXTS[field]) {
      const value = parse(text);
      expect(value, text).toBeDefined();
      expect(parse(format(value))).toEqual(value);
      if (schema.pattern !== undefined) expect(text).toMatch(new RegExp(schema.pattern));
      if (schema.enum !== undefined) expect(schema.enum).toContain(text);
    }
  });

  test("never throws, and every accepted value is equal after formatting and parsing", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.constantFrom(...VALID_TEXTS[field]), fc.stringMatching(/^[0-9a-z:/.,=-]{1,30}$/)),
        (text) => {
          const value = parse(text);
          if (value !== undefined) expect(parse(format(value))).toEqual(value);
        },
      ),
    );
  });
});

const NOT_LOOPBACK = [
  "http://localhost:9901",
  "http://10.0.0.1:9901",
  "https://127.0.0.1",
  "http://127.0.0.1:0",
  "http://127.0.0.1:70000",
  "http://127.0.0.1@evil/",
  "http://127.0.0.1:80\r\nX: y",
  "http://127.1/",
  "http://127.0.0.999/",
  "http://127.0.0.01/",
  "http://127.0.0/",
  "http://128.0.0.1/",
  "http://[::]/",
  "http://[::2]:80/",
  "http://[fd00::1]:80/drain",
  "http://[::ffff:127.0.0.1]/",
  "http://app.default.svc/drain",
  "http://$(POD_IP)/",
];

test.for(NOT_LOOPBACK)("the URL %j without a valid loopback IP is rejected as drain URL and as driver URL", (text) => {
  expect(driverUrl.parse(text)).toBeUndefined();
  expect(appUrl.parse(text)).toBeUndefined();
});

test.for(["unix:relative.sock", "unix:/a/../b.sock", "unix:/", "unix:/admin/", `unix:/${"x".repeat(200)}`])(
  "the driver URL %j is rejected",
  (text) => {
    expect(driverUrl.parse(text)).toBeUndefined();
  },
);

test("a list setting is read without duplicates, in its order", () => {
  expect(codecOf("drainPorts").parse("443,80,443, 80,81")).toEqual([443, 80, 81]);
  expect(codecOf("containers").parse("b,a,b")).toEqual(["b", "a"]);
});

test("a list setting with more entries than its limit is rejected", () => {
  const readList = (field: Field, entries: number, text: (at: number) => string) =>
    readValue(codecOf(field), Array.from({ length: entries }, (_, at) => text(at)).join());
  expect(readList("drainPorts", 20_000, (at) => String(at + 1))).toMatchObject({ ok: true });
  const message = "Got 20001 entries, expected at most 20000.";
  expect(readList("drainPorts", 20_001, () => "80")).toEqual({ ok: false, code: "list_too_long", message });
  expect(readList("ignorePorts", 400_000, () => "")).toMatchObject({ code: "list_too_long" });
  expect(readList("containers", 1_000, (at) => `c${at}`)).toMatchObject({ ok: true });
  expect(readList("containers", 1_001, (at) => `c${at}`)).toMatchObject({ code: "list_too_long" });
});

const LONGEST_LABEL = "a".repeat(63);
const pathOfLength = (characters: number) => `/${"a".repeat(characters - 1)}`;

test.for<[Field, string, string]>([
  ["drainPorts", "1,65535", "65536"],
  ["drainPorts", "1", "0"],
  ["port", "65535", "65536"],
  ["port", "1024", "1023"],
  ["containers", LONGEST_LABEL, `${LONGEST_LABEL}a`],
  ["profile", LONGEST_LABEL, `${LONGEST_LABEL}a`],
  ["profile", "a", ""],
  ["resources", "cpu=1,memory=1", "cpu=1,cpu=1"],
  ["resources", "memory=1", "storage=1"],
  ["resources", "cpu=1", ""],
  ["drainUrl", "http://127.0.0.1:65535", "http://127.0.0.1:65536"],
  ["drainUrl", "http://127.0.0.1:1", "http://127.0.0.1:0"],
  ["drainUrl", "http://127.255.255.255", "http://127.0.0.256"],
  ["drainUrl", "http://127.0.0.1/a", "see http://127.0.0.1/a"],
  ["drainUrl", "http://127.0.0.1/a", "xhttp://127.0.0.1/a"],
  ["drainUrl", "http://127.0.0.1/a", "http://127.0.0.1/a b"],
  ["drainUrl", `http://127.0.0.1${pathOfLength(496)}`, `http://127.0.0.1${pathOfLength(497)}`],
  ["driverUrl", `unix:${pathOfLength(107)}`, `unix:${pathOfLength(108)}`],
])("the setting %s accepts %j and rejects %j", ([field, good, bad]) => {
  expect(codecOf(field).parse(good), good).toBeDefined();
  expect(codecOf(field).parse(bad), bad).toBeUndefined();
});

test.for<[Field, string]>([
  ["drainDelayMs", "5s"],
  ["mode", "auto"],
  ["inject", "from the namespace"],
  ["drainPorts", "all TCP ports that listen on a non-loopback address, except the manager's"],
])("the default of the setting %s is shown as %j", ([field, shown]) => {
  expect(fallbackText(field)).toBe(shown);
});
