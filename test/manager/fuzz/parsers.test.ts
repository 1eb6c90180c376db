import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS } from "../../../src/contract/drain-settings.ts";
import { parseServeFlags } from "../../../src/contract/serve-flags.ts";
import { routeOf } from "../../../src/manager/calls/call-route.ts";
import { readChainedHooks } from "../../../src/manager/calls/original-hooks.ts";
import { parseActiveCount } from "../../../src/manager/drivers/http/http-driver.ts";
import { parseHttpTarget } from "../../../src/manager/http/http-target.ts";
import { depthOf } from "../../../src/manager/json-reader.ts";
import { parseOpens } from "../../../src/manager/sockets/kernel-counters.ts";
import { parseTable } from "../socket-lists.ts";
import { mutate, splice } from "./mutations.ts";
import { METRICS, SAMPLES, SNMP, TCP_TABLE } from "./samples.ts";
import { createRandom } from "./seeded-random.ts";

/** fast-check prints the seed of a failure, which reproduces the damage. */
const anySeed = fc.integer({ min: 0, max: 0xffffffff });
const RUN_OPTIONS = { numRuns: 2_000 };

function createDamagedText(parser: string, from: number): string {
  const random = createRandom(from);
  const samples = SAMPLES.filter((sample) => sample.parser === parser).map(({ bytes }) => bytes);
  const base = random.chance(0.2) ? splice(random.pick(samples), random.pick(samples), random) : random.pick(samples);
  return mutate(base, random).toString("utf8");
}

const isCount = (value: number) => Number.isInteger(value) && value >= -1;

describe("damaged tables of sockets", () => {
  test.for([
    { parser: "tcp-table", family: 2 },
    { parser: "tcp6-table", family: 10 },
  ])("are read by $parser without a result or with valid sockets only", ({ parser, family }) => {
    fc.assert(
      fc.property(anySeed, (from) => {
        const text = createDamagedText(parser, from);
        const sockets = parseTable(text, family);
        // If a line is invalid, parseTable returns undefined instead of skipping the line.
        if (sockets !== undefined) expect(sockets.length).toBe(text.split("\n").length - 2);
        for (const socket of sockets ?? []) {
          expect(socket.localPort).toBeLessThanOrEqual(65_535);
          expect(socket.peerPort).toBeLessThanOrEqual(65_535);
          expect(Math.min(socket.localPort, socket.peerPort, socket.receiveQueue, socket.sendQueue)).toBeGreaterThan(
            -1,
          );
          expect(socket.state).toBeGreaterThan(0);
          expect(socket.localAddress).toMatch(/^[0-9a-f.:]+$/);
          expect(socket.uid).toBeGreaterThan(-1);
        }
      }),
      RUN_OPTIONS,
    );
  });

  test("with repeated or missing lines result in one socket for each line", () => {
    const lines = TCP_TABLE.split("\n").slice(1, -1);
    const head = TCP_TABLE.slice(0, TCP_TABLE.indexOf("\n") + 1);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...lines), { maxLength: 30 }), (chosen) => {
        expect(parseTable(head + chosen.map((line) => `${line}\n`).join(""), 2)?.length).toBe(chosen.length);
      }),
    );
  });
});

describe("damaged counters of passive and active opens", () => {
  test("are unknown or integers", () => {
    fc.assert(
      fc.property(anySeed, (from) => {
        const { passive, active } = parseOpens(createDamagedText("snmp", from));
        expect(isCount(passive) && isCount(active)).toBe(true);
      }),
      RUN_OPTIONS,
    );
  });

  test("are unchanged or unknown after a truncation, never smaller", () => {
    for (let cut = 0; cut <= SNMP.length; cut += 1) {
      const { passive, active } = parseOpens(SNMP.slice(0, cut));
      expect([-1, 815]).toContain(passive);
      expect([-1, 4_711]).toContain(active);
    }
  });

  test("are unknown with a missing or additional column", () => {
    const [names = "", values = ""] = SNMP.split("\n").filter((line) => line.startsWith("Tcp: "));
    const columns = values.split(" ");
    for (let at = 1; at < columns.length; at += 1) {
      const lineWithFewerColumns = columns.toSpliced(at, 1).join(" ");
      const lineWithMoreColumns = columns.toSpliced(at, 0, "7").join(" ");
      for (const line of [lineWithFewerColumns, lineWithMoreColumns])
        expect(parseOpens(`${names}\n${line}\n`)).toEqual({ passive: -1, active: -1 });
    }
  });

  test("do not depend on other protocols or the order of columns", () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(["RtoMin", "ActiveOpens", "PassiveOpens", "CurrEstab"], { minLength: 4 }),
        (names) => {
          const values = names.map((name) => ({ ActiveOpens: "4", PassiveOpens: "5" })[name] ?? "0");
          const text = `Udp: A\nUdp: 1\nTcp: ${names.join(" ")}\nTcp: ${values.join(" ")}\nIp: B\nIp: 2\n`;
          expect(parseOpens(text)).toEqual({ passive: 5, active: 4 });
        },
      ),
    );
  });
});

describe("damaged responses of an app", () => {
  const selectors = ["", "http_active", 'http_active{route="/a"}', "/server/active/0", "/__proto__/constructor/length"];

  test("result in an integer or an unknown count", () => {
    fc.assert(
      fc.property(anySeed, fc.constantFrom(...selectors), (from, selector) => {
        expect(isCount(parseActiveCount(createDamagedText("count", from), selector))).toBe(true);
      }),
      RUN_OPTIONS,
    );
  });

  test("never result in zero if the line of a counted metric is truncated", () => {
    const metricsText = "http_active 30\n";
    for (let cut = 0; cut < metricsText.length; cut += 1)
      expect(parseActiveCount(metricsText.slice(0, cut), "http_active")).not.toBe(0);
  });

  test("result in the same count for any other metrics", () => {
    const anyOtherLine = fc.array(fc.constantFrom("# HELP x", "up 1", "http_actives 5", "", 'y{a="}"} NaN'), {
      maxLength: 9,
    });
    fc.assert(
      fc.property(anyOtherLine, anyOtherLine, (before, after) => {
        const metricsText = [...before, METRICS.trimEnd(), ...after].join("\n");
        expect(parseActiveCount(metricsText, "http_active")).toBe(7);
      }),
    );
  });
});

describe("damaged settings of original hooks", () => {
  const anyHandler = fc.dictionary(
    fc.constantFrom("httpGet", "sleep", "exec"),
    fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.dictionary(fc.constantFrom("port", "path", "scheme", "httpHeaders", "seconds"), fc.jsonValue({ maxDepth: 2 })),
    ),
  );
  const anyChain = fc.dictionary(
    fc.stringMatching(/^[a-z]{1,5}$/),
    fc.oneof(anyHandler, fc.jsonValue({ maxDepth: 1 })),
  );

  test("are valid or rejected with a message", () => {
    const anyOriginal = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
      fc.record({ chain: anyChain }).map((value) => JSON.stringify(value)),
      anySeed.map((from) => createDamagedText("original", from)),
    );
    fc.assert(
      fc.property(anyOriginal, (text) => {
        for (const hook of readChainedHooks(text).hooks) {
          if (hook.kind === "sleep") {
            expect(Number.isSafeInteger(hook.seconds) && hook.seconds >= 0).toBe(true);
            continue;
          }
          expect(Number.isInteger(hook.port) && hook.port > 0 && hook.port < 65_536).toBe(true);
          expect(hook.path).toMatch(/^\/[\x21-\x7e]*$/);
          for (const { name, value } of hook.headers) {
            expect(typeof name === "string" && name !== "").toBe(true);
            expect(typeof value).toBe("string");
          }
        }
      }),
      RUN_OPTIONS,
    );
  });

  test.for([
    { title: "an object without a value", header: '{"name":"X-A"}' },
    { title: "an object whose name is a number", header: '{"name":5,"value":"x"}' },
    { title: "an object whose value is a number", header: '{"name":"X-A","value":5}' },
    { title: "null", header: "null" },
  ])("are rejected only for the container with a header that is $title", ({ header }) => {
    const text = `{"chain":{"bad":{"httpGet":{"port":80,"httpHeaders":[${header}]}},"good":{"sleep":{"seconds":3}}}}`;
    expect(readChainedHooks(text)).toEqual({
      hooks: [{ kind: "sleep", container: "good", seconds: 3 }],
      problem: "the preStop hook of container bad is neither a sleep nor an httpGet with the scheme HTTP",
    });
  });
});

describe("damaged input of the manager", () => {
  test("as flags results in settings within their limits and a message for each invalid flag", () => {
    fc.assert(
      fc.property(anySeed, (from) => {
        const { settings, problems } = parseServeFlags(createDamagedText("flags", from).split("\n"));
        for (const ms of [settings.drainDelayMs, settings.drainTimeoutMs, settings.quietPeriodMs, settings.appGraceMs])
          expect(Number.isSafeInteger(ms) && ms >= 0).toBe(true);
        for (const port of [settings.port, ...settings.drainPorts, ...settings.ignorePorts])
          expect(Number.isInteger(port) && port > 0 && port < 65_536).toBe(true);
        for (const { message } of problems) expect(message).toMatch(/^(unknown flag )?.* /s);
      }),
      RUN_OPTIONS,
    );
  });

  test("as an unknown flag does not change a setting", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !/^--(c|[pdqahik])/.test(text)),
        (text) => {
          const { settings, problems } = parseServeFlags([text]);
          expect(settings).toEqual(DEFAULT_SETTINGS);
          expect(problems.length).toBe(1);
        },
      ),
    );
  });

  test("as a URL is rejected or valid for a connection", () => {
    fc.assert(
      fc.property(anySeed, (from) => {
        const target = parseHttpTarget(createDamagedText("target", from));
        if (target === undefined) return;
        expect(target.port > 0 && target.port < 65_536).toBe(true);
        expect(target.host).toMatch(/^[0-9a-fA-F:.]+$/);
        expect(target.path).toMatch(/^\/[\x21-\x7e]*$/);
      }),
      RUN_OPTIONS,
    );
  });

  test("as a path without the whole token does not have a route", () => {
    fc.assert(
      fc.property(anySeed, fc.constantFrom("GET", "POST", "PUT", ""), (from, method) => {
        const url = createDamagedText("route", from);
        const route = routeOf({ method, url, isLocal: true }, "t0ken", ["app", "web-1"]);
        expect(route.kind === "nothing" || url.startsWith("/t0ken/")).toBe(true);
        if (route.kind === "prestop") expect(["app", "web-1"]).toContain(route.container);
      }),
      RUN_OPTIONS,
    );
  });

  test("as JSON text has the same measured nesting depth as its parsed value", () => {
    const valueDepth = (value: unknown): number =>
      typeof value !== "object" || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(valueDepth));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 12 }), (value) => depthOf(JSON.stringify(value)) === valueDepth(value)),
    );
  });
});
