import fc from "fast-check";
import { expect, test } from "vitest";
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import { DRIVERS } from "../../src/contract/driver-table.ts";
import { formatServeFlags, parseServeFlags } from "../../src/contract/serve-flags.ts";
import type { DerivedRow, FlagKind, Row } from "../../src/policy/field-rows.ts";
import { ROWS } from "../../src/policy/fields.ts";

const anyPort = fc.integer({ min: 1, max: 65_535 });
const anyName = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
const anyDurationMs = fc.nat({ max: 3_600 }).map((seconds) => seconds * 1_000);
const anyUrl = fc.constantFrom("", "http://127.0.0.1:9901", "http://10.0.0.1:80/a?b=c#d", "unix:/run/x.sock");

const ARBITRARIES: Readonly<Record<FlagKind, (row: Row<unknown> | DerivedRow) => fc.Arbitrary<unknown>>> = {
  port: () => anyPort,
  duration: () => fc.oneof(anyDurationMs, fc.nat({ max: 9_999 })),
  ports: () => fc.array(anyPort, { maxLength: 5 }),
  text: () => anyUrl,
  choice: (row) => fc.constantFrom(...(("codec" in row && row.codec.schema.enum) || [])),
  driver: () => fc.constantFrom(...DRIVERS.map(({ name }) => name)),
  address: () => fc.constantFrom("", "127.0.1.7", "::1"),
  hooks: () =>
    fc.array(fc.record({ container: anyName, role: fc.constantFrom("app", "mesh-proxy") }), { maxLength: 4 }),
  probes: () => fc.array(fc.record({ port: anyPort, periodMs: anyDurationMs }), { maxLength: 4 }),
  switch: () => fc.boolean(),
};

const anySettings = fc.record(
  Object.fromEntries(
    ROWS.flatMap(([key, row]) => {
      const managerFlag = "codec" in row ? row.manager : row;
      return managerFlag === undefined ? [] : [[key, ARBITRARIES[managerFlag.kind](row)]];
    }),
  ),
) as fc.Arbitrary<DrainSettings>;

test("the table of the manager's flags contains every setting", () => {
  const [sample] = fc.sample(anySettings, 1);
  expect(Object.keys(sample ?? {})).toEqual(Object.keys(DEFAULT_SETTINGS));
});

test("every setting of the manager is the same after a round trip through the flags", () => {
  fc.assert(
    fc.property(anySettings, (value) => {
      expect(parseServeFlags(formatServeFlags(value))).toEqual({ settings: value, problems: [] });
    }),
  );
});

test("the manager has its default settings without flags", () => {
  expect(parseServeFlags([])).toEqual({ settings: DEFAULT_SETTINGS, problems: [] });
});

test.for([
  { flag: "--drain-delay=30", message: '--drain-delay got "30", expected a duration with a unit, such as 30s' },
  { flag: "--port=0", message: '--port got "0", expected a port from 1 to 65535' },
  { flag: "--port=65536", message: '--port got "65536", expected a port from 1 to 65535' },
  { flag: "--port", message: "--port needs a value, written --port=VALUE" },
  { flag: "--driver=", message: "--driver needs a value, written --driver=VALUE" },
  { flag: "--driver=nginx", message: '--driver got "nginx", expected one of none, envoy, istio, linkerd, http' },
  { flag: "--drained-when=never", message: "expected auto, quiet, connections, requests or deadline" },
  { flag: "--drain-ports=80,x", message: '--drain-ports got "x", expected ports from 1 to 65535' },
  { flag: "--hooks=app", message: '--hooks got "app", expected CONTAINER:app or CONTAINER:mesh-proxy' },
  { flag: "--hooks=app:boss", message: '--hooks got "app:boss"' },
  { flag: "--kubelet-probes=8080", message: '--kubelet-probes got "8080", expected PORT:PERIOD, such as 8080:10s' },
  { flag: "--preload=http2", message: '--preload got "http2", expected disabled or http1' },
  { flag: "--address-scope=web-0", message: '--address-scope got "web-0", expected an IP address, such as 10.1.0.7' },
  { flag: "--address-scope=1.2.3", message: '--address-scope got "1.2.3", expected an IP address' },
  { flag: "--completes=yes", message: "--completes takes no value" },
  { flag: "--drain-dealy=5s", message: "unknown flag --drain-dealy; expected one of --port" },
])("an invalid flag of the manager is reported with the expected value: $flag", ({ flag, message }) => {
  const { problems } = parseServeFlags([flag]);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.message).toContain(message);
});

test("the manager reports all invalid flags together and uses the valid flags", () => {
  const { settings: parsed, problems } = parseServeFlags(["--port=x", "--drain-delay=7s", "--nope", "--port=1"]);
  expect(problems.map(({ flag }) => flag)).toEqual(["--nope", "--port", "--port"]);
  expect(parsed.drainDelayMs).toBe(7_000);
});

test("the parser of the manager's flags never throws", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (args) => {
      const { problems } = parseServeFlags(args);
      expect(problems.length > 0 || args.length === 0 || args.every((arg) => arg.startsWith("--"))).toBe(true);
    }),
  );
});
