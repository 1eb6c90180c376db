import { describe, expect, test } from "vitest";
import { readCommand } from "./command-line.ts";
import { readE2eOptions } from "./e2e-options.ts";

describe("the arguments of the command cluster", () => {
  test("select the newest Kubernetes by default", () => {
    const newest = { minor: "1.37", proxyMode: "nftables" };
    expect(readCommand(["up"])).toEqual({ kind: "up", settings: newest, install: false });
    expect(readCommand(["up", "--kubernetes", "1.35", "--proxy-mode", "iptables", "--install"])).toEqual({
      kind: "up",
      settings: { minor: "1.35", proxyMode: "iptables" },
      install: true,
    });
  });

  test.for([
    { title: "an unknown version", words: ["up", "--kubernetes", "1.34"], message: 'got "1.34", expected one of 1.37' },
    {
      title: "an unknown mode",
      words: ["up", "--proxy-mode", "ipvs"],
      message: 'got "ipvs", expected one of nftables',
    },
    { title: "an unknown command", words: ["reboot"], message: 'Command "reboot" does not exist' },
    { title: "no command", words: [], message: "A command is missing" },
    { title: "an unknown flag", words: ["down", "--now"], message: "--now" },
    { title: "an extra argument", words: ["down", "n1"], message: 'got "n1"' },
    { title: "nothing to build", words: ["build"], message: "got no name" },
    { title: "an unknown module", words: ["build", "helm", "toString"], message: 'got "toString"' },
  ])("are refused with the reason: $title", ({ words, message }) => {
    const command = readCommand(words);
    expect(command).toMatchObject({ kind: "invalid" });
    expect(JSON.stringify(command).replaceAll("\\", "")).toContain(message);
  });
});

describe("the arguments of the command e2e", () => {
  test("are passed to vitest if the command does not define them", () => {
    expect(readE2eOptions(["--kubernetes", "1.36", "serving", "--", "-t", "a rollout"])).toMatchObject({
      settings: { minor: "1.36", proxyMode: "nftables" },
      context: undefined,
      vitestArgs: ["serving", "-t", "a rollout"],
    });
  });

  test("select the cases with other controllers only for the suite's own cluster", () => {
    expect(readE2eOptions(["--others", "--", "argo"])).toMatchObject({
      others: true,
      bench: false,
      vitestArgs: ["argo"],
    });
    expect(readE2eOptions(["serving"])).toMatchObject({ others: false });
    const withContext = readE2eOptions(["--others", "--context", "kind", "--registry", "r.example"]);
    expect(withContext).toMatchObject({ message: expect.stringContaining("--others") });
  });

  test("select the kinds of load on gateways, which have to exist", () => {
    expect(readE2eOptions(["--others", "--load", "http2", "--load", "idle"])).toMatchObject({
      loads: ["http2", "idle"],
    });
    expect(readE2eOptions(["--others"])).toMatchObject({ loads: undefined });
    expect(readE2eOptions(["--others", "--load", "http3"])).toMatchObject({
      message: expect.stringContaining('--load: got "http3", expected one of http1-short'),
    });
  });

  test("select an existing cluster only together with a registry", () => {
    expect(readE2eOptions(["--context", "kind"])).toMatchObject({ message: expect.stringContaining("--registry") });
    expect(readE2eOptions(["--context", "kind", "--registry", "r.example"])).toMatchObject({
      context: "kind",
      registry: "r.example",
      tag: "test",
    });
  });
});
