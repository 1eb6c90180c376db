import { describe, expect, test } from "vitest";
import { missingRequirementsMessage } from "./requirements.ts";

describe("the message about missing requirements", () => {
  test("contains the names of Debian packages, and a remedy for other requirements", () => {
    const sentence = missingRequirementsMessage({ names: ["go", "runc"], apt: ["runc"], advice: ["Go from its site"] });
    expect(sentence).toBe(
      "Requirements are missing on this machine: go, runc. Install them: apt-get install runc (or add --install); Go from its site.",
    );
  });
});
