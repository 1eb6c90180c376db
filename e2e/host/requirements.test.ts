import { describe, expect, test } from "vitest";
import { missingSentence } from "./requirements.ts";

describe("the sentence about what is missing", () => {
  test("names Debian's packages, and what to do about the rest", () => {
    const sentence = missingSentence({ names: ["go", "runc"], apt: ["runc"], advice: ["Go from its site"] });
    expect(sentence).toBe(
      "This machine lacks go, runc. What helps: apt-get install runc (or add --install); Go from its site.",
    );
  });
});
