/** The order of the parts of `npm run test:programs`: what is needed is installed before anything is measured. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

const PARTS = ["install", "servers", "rollouts", "protocols", "rabbitmq", "envoy"];

/** Rooms that are not named here come last, by their names. */
export function inOrder(files: readonly string[]): readonly string[] {
  const place = (file: string) => {
    const at = PARTS.indexOf(/\/test\/programs\/([^/]+)\//.exec(file)?.[1] ?? "");
    return at < 0 ? PARTS.length : at;
  };
  return files.toSorted((one, other) => place(one) - place(other) || one.localeCompare(other));
}

export class PartOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = inOrder(files.map(({ moduleId }) => moduleId));
    return files.toSorted((one, other) => order.indexOf(one.moduleId) - order.indexOf(other.moduleId));
  }
}
