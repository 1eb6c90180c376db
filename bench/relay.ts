/**
 * `npm run bench:relay [-- --json] [-- --streams=N]`: measures the relay of a real webhook with an API server of 150 000
 * endpoints and 5 000 simultaneous drains, and the webhook's admissions with and without these drains.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "../src/webhook/certificates/self-made.ts";
import { reviewBytes } from "./admission-reviews.ts";
import { kubeconfigText, readRelayPort } from "./relay-access.ts";
import { checkGoals } from "./relay-goals.ts";
import { measure } from "./relay-measure.ts";
import { type ApiAddress, type ApiAddressRequest, startChild } from "./relay-messages.ts";
import { readOptions, USAGE } from "./relay-options.ts";
import type { RelayResults } from "./relay-results.ts";
import { startClientProcess } from "./relay-scenarios.ts";
import { formatResults } from "./relay-text.ts";
import { startServer } from "./server-process.ts";

const BENCH_FOLDER = import.meta.dirname;
const PROGRAM = join(BENCH_FOLDER, "../src/lastcall.ts");
const CLIENT_PROCESSES = 4;

async function runBenchmark(streams: number): Promise<RelayResults> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-bench-"));
  const runningProcesses: { readonly stop: () => Promise<void> }[] = [];
  const trackProcess = <T extends { readonly stop: () => Promise<void> }>(process: T): T => {
    runningProcesses.push(process);
    return process;
  };
  const writeFile = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  try {
    const certificate = await makeCertificate("lastcall", Date.now());
    const { cert, key } = certificate.source.current();
    const [certFile, keyFile] = [writeFile("tls.crt", cert), writeFile("tls.key", key)];
    const caFile = writeFile("ca.crt", certificate.caCertificate);
    const bodyFile = writeFile("review.json", reviewBytes("small"));
    const api = trackProcess(startChild(join(BENCH_FOLDER, "relay-api-server.ts"), [certFile, keyFile]));
    const { port: apiPort } = await api.sendCommand<ApiAddress>({ request: "address" } satisfies ApiAddressRequest);
    const kubeconfig = writeFile("kubeconfig", kubeconfigText(apiPort, certificate.caCertificate));
    const webhookFlags = ["--port=0", "--host=127.0.0.1", "--opt-in=all", `--cert=${certFile}`, `--key=${keyFile}`];
    const clusterFlags = ["--cluster=watch", `--kubeconfig=${kubeconfig}`];
    const relayFlags = ["--relay-secret=lastcall-relay", "--relay-port=0", "--relay-address=127.0.0.1:8444"];
    const args = [PROGRAM, "webhook", ...webhookFlags, ...clusterFlags, ...relayFlags];
    const logFile = join(folder, "webhook.log");
    const draining = trackProcess(await startServer("webhook", args, logFile));
    const control = trackProcess(await startServer("control webhook", args, join(folder, "control.log")));
    const clients = Array.from({ length: CLIENT_PROCESSES }, () => trackProcess(startClientProcess()));
    return await measure(
      {
        processes: { port: await readRelayPort(logFile), api, clients },
        webhook: { port: draining.port, ca: certificate.caCertificate },
        webhooks: { draining: { ...draining, caFile, bodyFile }, control: { ...control, caFile, bodyFile } },
        print: (line) => process.stderr.write(`${line}\n`),
      },
      streams,
    );
  } finally {
    for (const process of runningProcesses) await process.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 64;
} else {
  const results = await runBenchmark(options.streams);
  process.stdout.write(
    options.json ? `${JSON.stringify({ ...results, goals: checkGoals(results) })}\n` : formatResults(results),
  );
}
