/**
 * Drains two Pods alternately: one whose client never disconnects, and one that is quiet. Runs only as a native program, in which
 * the compiler binds the C library. Arguments: address of the Pods, busy port, quiet port, rounds, drains per round. Prints a
 * line per round: its number, samples, virtual hours, resident KiB, the outcomes of both Pods.
 */
import { DEFAULT_SETTINGS, type DrainSettings } from "../../../src/contract/drain-settings.ts";
import { nativeLibc } from "../../../src/manager/native-libc.ts";
import { readTextFile, scanTextFile } from "../../../src/manager/read-text.ts";
import { createSocketReader } from "../../../src/manager/sockets/sockets.ts";
import { createVirtualPod } from "./virtual-drains.ts";

const KIB_PER_PAGE = 4;
const MS_PER_HOUR = 3_600_000;

function residentKib(): number {
  const fields = (readTextFile("/proc/self/statm") ?? "").split(" ");
  return Number(fields[1] ?? "0") * KIB_PER_PAGE;
}

function settingsFor(address: string, port: number): DrainSettings {
  return {
    ...DEFAULT_SETTINGS,
    addressScope: address,
    drainPorts: [port],
    hooks: [{ container: "app", role: "app" }],
    kubeletProbes: [{ port, periodMs: 10_000 }],
  };
}

function run(args: readonly string[]): void {
  const address = args[0] ?? "";
  const reader = createSocketReader(nativeLibc, readTextFile, scanTextFile, 0);
  const busyPod = createVirtualPod(settingsFor(address, Number(args[1] ?? "0")), reader);
  const quietPod = createVirtualPod(settingsFor(address, Number(args[2] ?? "0")), reader);
  const rounds = Number(args[3] ?? "0");
  const drains = Number(args[4] ?? "0");
  for (let round = 1; round <= rounds; round = round + 1) {
    for (let count = 0; count < drains; count = count + 1) {
      busyPod.drain();
      quietPod.drain();
    }
    const hours = (busyPod.nowMs() + quietPod.nowMs()) / MS_PER_HOUR;
    process.stdout.write(
      `${round} ${busyPod.sampleCount() + quietPod.sampleCount()} ${hours} ${residentKib()} ${busyPod.outcome()} ${quietPod.outcome()}\n`,
    );
  }
}

run(process.argv.slice(2));
