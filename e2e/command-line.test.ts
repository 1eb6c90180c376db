import { describe, expect, test } from "vitest";
import { readCommand } from "./command-line.ts";
import { readE2eOptions } from "./e2e-options.ts";

describe("the words after cluster", () => {
  test("ask for the newest Kubernetes unless another is named", () => {
    expect(readCommand(["up"])).toEqual({ kind: "up", minor: "1.37", install: false });
    expect(readCommand(["up", "--kubernetes", "1.35", "--install"])).toEqual({
      kind: "up",
      minor: "1.35",
      install: true,
    });
  });

  test.for([
    { says: "an unknown version", words: ["up", "--kubernetes", "1.34"], message: 'got "1.34", expected one of 1.37' },
    { says: "an unknown command", words: ["reboot"], message: 'no command "reboot"' },
    { says: "no command", words: [], message: "A command is missing" },
    { says: "an unknown flag", words: ["down", "--now"], message: "--now" },
    { says: "a word too many", words: ["down", "n1"], message: 'got "n1"' },
    { says: "nothing to build", words: ["build"], message: "got no name" },
    { says: "an unknown module", words: ["build", "helm", "toString"], message: 'got "toString"' },
  ])("are refused when they hold $says, naming it", ({ words, message }) => {
    const read = readCommand(words);
    expect(read).toMatchObject({ kind: "wrong" });
    expect(JSON.stringify(read).replaceAll("\\", "")).toContain(message);
  });
});

describe("the words after e2e", () => {
  test("pass on to vitest what is not theirs", () => {
    expect(readE2eOptions(["--kubernetes", "1.36", "serving", "--", "-t", "a rollout"])).toMatchObject({
      minor: "1.36",
      context: undefined,
      words: ["serving", "-t", "a rollout"],
    });
  });

  test("ask for the cases beside programs of others, which only the suite's own cluster can run", () => {
    expect(readE2eOptions(["--others", "--", "argo"])).toMatchObject({ others: true, bench: false, words: ["argo"] });
    expect(readE2eOptions(["serving"])).toMatchObject({ others: false });
    const elsewhere = readE2eOptions(["--others", "--context", "kind", "--registry", "r.example"]);
    expect(elsewhere).toMatchObject({ message: expect.stringContaining("--others") });
  });

  test("name a cluster and where its images come from together or not at all", () => {
    expect(readE2eOptions(["--context", "kind"])).toMatchObject({ message: expect.stringContaining("--registry") });
    expect(readE2eOptions(["--context", "kind", "--registry", "r.example"])).toMatchObject({
      context: "kind",
      registry: "r.example",
      tag: "test",
    });
  });
});
