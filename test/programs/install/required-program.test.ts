import { afterEach, expect, test, vi } from "vitest";
import { skipCase } from "./program-of.ts";

class SkipError extends Error {}

const context = {
  skip: (note: string): never => {
    throw new SkipError(note);
  },
};

afterEach(() => vi.unstubAllEnvs());

test("a case is skipped with the reason if its program is not installed", () => {
  vi.stubEnv("CI", "");
  expect(() => skipCase("nginx cannot be installed: apt-get needs root", context)).toThrow(
    new SkipError("nginx cannot be installed: apt-get needs root"),
  );
});

test("a case fails in CI if its program is not installed", () => {
  vi.stubEnv("CI", "true");
  expect(() => skipCase("nginx cannot be installed", context)).toThrow("nginx cannot be installed");
  expect(() => skipCase("nginx cannot be installed", context)).not.toThrow(SkipError);
});
