/** Recognises containers whose program finishes its requests and closes its connections at the stop signal. */
import { parseImage } from "../../kubernetes/image.ts";
import { listAt, objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { stopSignalFactOf } from "./stop-signals.ts";

/**
 * Programs that shut down gracefully on SIGTERM. With 16 clients that never close, they lost at most 1 of 1,200 requests
 * (docs/systems.md: gunicorn 27.0.1, uvicorn 0.54.0, Hypercorn 0.18.0, Granian 2.8.7, Puma 5.6.5, Caddy 2.6.2).
 */
const PROGRAMS: readonly string[] = ["gunicorn", "uvicorn", "hypercorn", "granian", "puma", "caddy"];

/** Images whose entrypoint starts one of the programs. */
const IMAGES: ReadonlyMap<string, string> = new Map([["caddy", "caddy"]]);

/** Programs that run the rest of their command line as a program. They forward signals to that program, or replace themselves with it. */
const LAUNCHERS: readonly (readonly string[])[] = [
  ["tini", "--"],
  ["dumb-init", "--"],
  ["tini"],
  ["dumb-init"],
  ["bundle", "exec"],
  ["python", "-m"],
  ["python3", "-m"],
];

export function shutsDownGracefully(container: RawObject): boolean {
  const signal = textAt(objectAt(container, "lifecycle"), "stopSignal");
  const words = [...listAt(container, "command"), ...listAt(container, "args")];
  if (words.length === 0) return imageShutsDownGracefully(textAt(container, "image") ?? "", signal);
  return PROGRAMS.includes(programOf(words)) && (signal === undefined || signal === "SIGTERM");
}

function imageShutsDownGracefully(reference: string, signal: string | undefined): boolean {
  const image = parseImage(reference);
  if (IMAGES.has(image.repository)) return signal === undefined || signal === "SIGTERM";
  const fact = stopSignalFactOf(image);
  if (fact === undefined || !fact.closesConnections) return false;
  return (signal ?? fact.signalOf(image)) === fact.gracefulSignal;
}

/** Returns the name of the program that a command line starts; empty if it is unknown. */
function programOf(words: readonly unknown[]): string {
  let remainingWords = words.map((word) => (typeof word === "string" ? word.slice(word.lastIndexOf("/") + 1) : ""));
  for (let launchers = 0; launchers < 3; launchers += 1) {
    const launcher = LAUNCHERS.find((candidate) => candidate.every((word, at) => remainingWords[at] === word));
    if (launcher === undefined) break;
    remainingWords = remainingWords.slice(launcher.length);
  }
  return remainingWords[0] ?? "";
}
