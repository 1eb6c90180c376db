import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ANNOTATIONS, FIELDS } from "../../src/policy/fields.ts";
import { type Profiles, resolvePolicy } from "../../src/policy/resolve.ts";
import { cluster, namespace, pod } from "./layers.ts";

describe("the precedence of settings", () => {
  test.for([
    {
      title: "Pod, namespace and cluster",
      layers: [
        pod({ "drain-timeout": "1m" }),
        namespace({ "drain-timeout": "2m" }),
        cluster({ "drain-timeout": "3m" }),
      ],
      ms: 60_000,
      from: "pod web-0",
    },
    {
      title: "namespace and cluster",
      layers: [pod({}), namespace({ "drain-timeout": "2m" }), cluster({ "drain-timeout": "3m" })],
      ms: 120_000,
      from: "namespace shop",
    },
    {
      title: "only the cluster",
      layers: [pod({}), namespace({}), cluster({ "drain-timeout": "3m" })],
      ms: 180_000,
      from: "cluster",
    },
    { title: "no layer", layers: [pod({}), namespace({}), cluster({})], ms: 60_000, from: "default" },
    {
      title: "a Pod with an invalid value and a namespace",
      layers: [pod({ "drain-timeout": "90" }), namespace({ "drain-timeout": "2m" })],
      ms: 120_000,
      from: "namespace shop",
    },
  ])("gives the value of $from if $title set a value", ({ layers, ms, from }) => {
    const { policy, origins } = resolvePolicy(layers, {});
    expect(policy.drainTimeoutMs).toBe(ms);
    expect(origins.drainTimeoutMs).toBe(from);
  });

  test("gives the default, with the origin default, if no layer sets a field", () => {
    const { policy, origins } = resolvePolicy([pod({ mode: "sleep" }), cluster({ driver: "none" })], {});
    expect([policy.drainTimeoutMs, origins.drainTimeoutMs]).toEqual([60_000, "default"]);
    expect([origins.mode, origins.driver]).toEqual(["pod web-0", "cluster"]);
  });

  test("prefers a layer to its profile, and the profile to the next layer", () => {
    const profiles = { slow: { "drain-timeout": "5m", "drain-delay": "9s" } };
    const layers = [pod({ profile: "slow", "drain-delay": "1s" }), namespace({ "drain-timeout": "2m" })];
    const { policy, origins, problems } = resolvePolicy(layers, profiles);
    expect(problems).toEqual([]);
    expect(policy.drainDelayMs).toBe(1_000);
    expect(policy.drainTimeoutMs).toBe(300_000);
    expect(origins.drainTimeoutMs).toBe("profile slow (pod web-0)");
  });

  test("gives the value of the nearest layer, for any values", () => {
    const duration = fc.constantFrom("1s", "2s", "3s", undefined, "bad", "4");
    fc.assert(
      fc.property(fc.tuple(duration, duration, duration), ([a, b, c]) => {
        const delayAnnotation = (text: string | undefined) => (text === undefined ? {} : { "drain-delay": text });
        const { policy } = resolvePolicy(
          [pod(delayAnnotation(a)), namespace(delayAnnotation(b)), cluster(delayAnnotation(c))],
          {},
        );
        const nearestValid = [a, b, c].find((text) => text?.endsWith("s"));
        expect(policy.drainDelayMs).toBe(nearestValid === undefined ? 5_000 : Number(nearestValid[0]) * 1_000);
      }),
    );
  });
});

describe("invalid settings", () => {
  test("are all reported with the place, the value and the expected values", () => {
    const { problems } = resolvePolicy(
      [
        pod({ "drain-delay": "5", "drain-timout": "60s" }),
        namespace({ port: "80", driver: 7 }),
        cluster({ inject: "enabled" }),
      ],
      {},
    );
    expect(problems).toEqual([
      {
        code: "unknown_annotation",
        where: "pod web-0",
        message: '"lastcall.dev/drain-timout" is unknown; did you mean lastcall.dev/drain-timeout?',
      },
      {
        code: "wrong_scope",
        where: "cluster, lastcall.dev/inject",
        message: "Has no effect on a cluster. Set it on a pod or namespace.",
      },
      {
        code: "bad_value",
        where: "namespace shop, lastcall.dev/port",
        message: 'Got "80", expected a port from 1024 to 65535.',
      },
      {
        code: "bad_value",
        where: "pod web-0, lastcall.dev/drain-delay",
        message: 'Got "5", expected a duration with a unit, such as 30s, 500ms, 2m or 1h.',
      },
      {
        code: "bad_value",
        where: "namespace shop, lastcall.dev/driver",
        message: "Got a number instead of a string, expected one of auto, none, envoy, istio, linkerd, http.",
      },
    ]);
  });

  test("with more than 20 unknown names are listed up to that limit and then counted, across all layers", () => {
    const unknownAnnotations = (count: number, text: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${text}-${at}`, "x"]));
    const { problems } = resolvePolicy(
      [
        pod(unknownAnnotations(15, "pod")),
        namespace(unknownAnnotations(8, "space")),
        cluster(unknownAnnotations(1, "whole")),
      ],
      {},
    );
    expect(problems.map(({ code }) => code)).toEqual(Array.from({ length: 22 }, () => "unknown_annotation"));
    expect(problems.filter(({ message }) => /^".*" is unknown/.test(message)).map(({ where }) => where)).toEqual([
      ...Array.from({ length: 15 }, () => "pod web-0"),
      ...Array.from({ length: 5 }, () => "namespace shop"),
    ]);
    expect(problems.filter(({ message }) => message.includes(" more annotation"))).toEqual([
      {
        code: "unknown_annotation",
        where: "namespace shop",
        message: "3 more annotations with the prefix lastcall.dev/ are unknown.",
      },
      {
        code: "unknown_annotation",
        where: "cluster",
        message: "1 more annotation with the prefix lastcall.dev/ is unknown.",
      },
    ]);
  });

  test("with an unknown name unlike any valid name are reported with some valid names", () => {
    const [problem] = resolvePolicy([pod({ zzzzzzzz: "x" })], {}).problems;
    expect(problem?.message).toBe(
      '"lastcall.dev/zzzzzzzz" is unknown; expected inject, mode, port, drain-delay, deregistration-delay, …',
    );
  });

  test("with an unknown profile are reported with the existing profiles", () => {
    const { problems } = resolvePolicy([pod({ profile: "slwo" })], { slow: {}, fast: {} });
    expect(problems).toEqual([
      {
        code: "unknown_profile",
        where: "pod web-0, lastcall.dev/profile",
        message: 'Got "slwo", expected one of spot, dev, singleton, edge, long-work, slow, fast.',
      },
    ]);
  });

  test("with an unknown profile are reported with the shipped profiles if the cluster does not have other profiles", () => {
    const messagesWith = (profiles: Readonly<Record<string, object>>) =>
      resolvePolicy([pod({ profile: "slow" })], profiles as Profiles).problems.map(({ message }) => message);
    expect(messagesWith({})).toEqual(['Got "slow", expected one of spot, dev, singleton, edge, long-work.']);
    const manyProfiles = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`p${at}`, {}]));
    expect(messagesWith(manyProfiles)).toEqual([
      expect.stringMatching(/^Got "slow", expected one of spot, dev, .{89}\.$/),
    ]);
  });

  test("include a profile that is named like a property of every JavaScript object", () => {
    const { problems } = resolvePolicy([pod({ profile: "constructor" })], {});
    expect(problems.map(({ code }) => code)).toEqual(["unknown_profile"]);
  });

  test("do not include lastcall's own status annotation", () => {
    expect(resolvePolicy([pod({ status: "{}" })], {}).problems).toEqual([]);
  });

  const INVALID_TEXTS = [
    "",
    " 5",
    "-1",
    "1e9s",
    "NaN",
    "\u0000",
    "ünïcode",
    "x".repeat(10_240),
    "null",
    "{}",
    "5s\n",
    "0x10",
  ];
  test.for(FIELDS.filter((field) => field !== "inject"))(
    "of the annotation %s, with any text, are reported with a short message",
    (field) => {
      const { name } = ANNOTATIONS[field];
      for (const text of INVALID_TEXTS) {
        const { policy, problems } = resolvePolicy([pod({ [name]: text })], {});
        // A text of lower-case letters and digits is a valid name of a container or a profile.
        if ((field === "containers" || field === "profile") && /^(?!x{64})[a-z0-9]+$/.test(text)) continue;
        expect(problems, `${name}=${text.slice(0, 20)}`).toHaveLength(1);
        expect(policy[field]).toEqual(ANNOTATIONS[field].fallback);
        expect(problems[0]?.message).toMatch(/^[\x20-\x7e…–]{10,220}$/);
      }
    },
  );

  test("with annotations of any type never cause an exception", () => {
    const keys = fc.oneof(fc.constantFrom(...FIELDS.map((field) => ANNOTATIONS[field].name)), fc.string());
    fc.assert(
      fc.property(fc.dictionary(keys, fc.anything()), (values) => {
        const { policy } = resolvePolicy([pod(values), cluster(values)], {});
        expect(policy.drainDelayMs).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
