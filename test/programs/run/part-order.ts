/** Orders the parts of `npm run test:programs`: programs are installed before the first measurement. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

const PARTS = ["install", "servers", "rollouts", "protocols", "rabbitmq", "envoy"];

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
