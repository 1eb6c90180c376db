/** Prints at the end of the run how long each part took and how it ended. */
import type { Reporter, TestModule } from "vitest/node";
import { partOf } from "./part-order.ts";
import { type PartTotal, partsTable } from "./parts-table.ts";

export class PartsReporter implements Reporter {
  private readonly startedMs = performance.now();
  private readonly moduleStartedMs = new Map<string, number>();
  private readonly totals: PartTotal[] = [];

  onTestModuleStart(module: TestModule): void {
    this.moduleStartedMs.set(module.moduleId, performance.now());
  }

  onTestModuleEnd(module: TestModule): void {
    const nowMs = performance.now();
    const states = [...module.children.allTests()].map((one) => one.result().state);
    this.totals.push({
      part: partOf(module.moduleId),
      passed: states.filter((state) => state === "passed").length,
      failed: states.filter((state) => state === "failed").length,
      skipped: states.filter((state) => state === "skipped" || state === "pending").length,
      ms: nowMs - (this.moduleStartedMs.get(module.moduleId) ?? nowMs),
    });
  }

  onTestRunEnd(): void {
    process.stdout.write(`\n${partsTable(this.totals, performance.now() - this.startedMs)}\n`);
  }
}
