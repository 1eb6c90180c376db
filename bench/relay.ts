/**
 * `npm run bench:relay [-- --json] [-- --streams=N]`: the real webhook with its relay against an API server with 150 000
 * endpoints, 5 000 Pods that drain at once, and admissions in the same process meanwhile and in quiet.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "../src/webhook/certificates/self-made.ts";
import { reviewBytes } from "./admission-reviews.ts";
import { kubeconfigText, relayPortIn } from "./relay-access.ts";
import type { RelayFigures } from "./relay-figures.ts";
import { goalsOf } from "./relay-goals.ts";
import { measure } from "./relay-measure.ts";
import { type ApiPlace, startChild } from "./relay-messages.ts";
import { readOptions, USAGE } from "./relay-options.ts";
import { startAsker } from "./relay-scenes.ts";
import { textOf } from "./relay-text.ts";
import { startServer } from "./server-process.ts";

const HERE = import.meta.dirname;
const PROGRAM = join(HERE, "../src/lastcall.ts");
const ASKERS = 4;

async function run(streams: number): Promise<RelayFigures> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-bench-"));
  const running: { readonly stop: () => Promise<void> }[] = [];
  const started = <T extends { readonly stop: () => Promise<void> }>(process: T): T => {
    running.push(process);
    return process;
  };
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  try {
    const made = await makeCertificate("lastcall", Date.now());
    const { cert, key } = made.source.current();
    const [certFile, keyFile] = [file("tls.crt", cert), file("tls.key", key)];
    const caFile = file("ca.crt", made.caCertificate);
    const bodyFile = file("review.json", reviewBytes("small"));
    const api = started(startChild(join(HERE, "relay-api-server.ts"), [certFile, keyFile]));
    const { port: apiPort } = await api.order<ApiPlace>({ asks: "place" });
    const kubeconfig = file("kubeconfig", kubeconfigText(apiPort, made.caCertificate));
    const flags = ["--port=0", "--host=127.0.0.1", "--opt-in=all", `--cert=${certFile}`, `--key=${keyFile}`];
    const cluster = ["--cluster=watch", `--kubeconfig=${kubeconfig}`];
    const relay = ["--relay-secret=lastcall-relay", "--relay-port=0", "--relay-address=127.0.0.1:8444"];
    const args = [PROGRAM, "webhook", ...flags, ...cluster, ...relay];
    const log = join(folder, "webhook.log");
    const here = started(await startServer("webhook", args, log));
    const aside = started(await startServer("webhook without drains", args, join(folder, "aside.log")));
    const askers = Array.from({ length: ASKERS }, () => started(startAsker()));
    return await measure(
      {
        scene: { port: await relayPortIn(log), api, askers },
        place: { port: here.port, ca: made.caCertificate },
        admitting: { here: { ...here, caFile, bodyFile }, aside: { ...aside, caFile, bodyFile } },
        say: (what) => process.stderr.write(`${what}\n`),
      },
      streams,
    );
  } finally {
    for (const each of running) await each.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 64;
} else {
  const figures = await run(options.streams);
  process.stdout.write(options.json ? `${JSON.stringify({ ...figures, goals: goalsOf(figures) })}\n` : textOf(figures));
}
