/** The lines of the results: reading them, and replacing the one that a new result is about. Pure. */
import type { OtherResult } from "./program-result.ts";

/** @throws when a line is not JSON, with its number. */
export function resultLines(text: string): readonly OtherResult[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line, index) => {
      try {
        return JSON.parse(line);
      } catch (cause) {
        throw new Error(`line ${index + 1} of the results is not JSON; run npm run test:programs again`, { cause });
      }
    });
}

/** A case that runs again replaces its own line, in its place. */
export function withResult(text: string, result: OtherResult): string {
  const before = resultLines(text);
  const at = before.findIndex((one) => identityOf(one) === identityOf(result));
  const after = at < 0 ? [...before, result] : before.with(at, result);
  return after.map((one) => `${JSON.stringify(one)}\n`).join("");
}

function identityOf(result: OtherResult): string {
  return JSON.stringify([result.kind, result.system, "stopSignal" in result ? result.stopSignal : ""]);
}
