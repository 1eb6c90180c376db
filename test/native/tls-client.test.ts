import { execFile } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { SecureVersion } from "node:tls";
import { generate } from "selfsigned";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { buildProgram } from "../../native/build/build.ts";

/** With a TLS client linked in, the manager may be 1 MiB. */
const LIMIT_BYTES = 1024 * 1024;
const FOLDER = new URL("../../build/native-tests", import.meta.url).pathname;
const PROGRAM = `${FOLDER}/tls-client`;
const NAME = "relay.lastcall.internal";

type Authority = { readonly cert: string; readonly key: string };

async function authority(name: string): Promise<Authority> {
  const made = await generate([{ name: "commonName", value: name }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    extensions: [{ name: "basicConstraints", cA: true, critical: true }],
  });
  return { cert: made.cert, key: made.private };
}

async function leafOf(ca: Authority) {
  return generate([{ name: "commonName", value: NAME }], {
    keyType: "ec",
    algorithm: "sha256",
    ca,
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: NAME }] }],
  });
}

function ask(port: number, caFile: string, name: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(PROGRAM, ["ask", "127.0.0.1", String(port), caFile, name], (_, out) => resolve(out.trim()));
  });
}

// Where the native manager cannot be built, the global setup has said so; in CI that is a failure.
describe.skipIf(inject("nativeManager") === "")("the manager with a TLS client", { timeout: 240_000 }, () => {
  let ca: Authority;
  const caFile = `${FOLDER}/ca.pem`;
  const otherFile = `${FOLDER}/other.pem`;
  const servers: ReturnType<typeof createServer>[] = [];

  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    await buildProgram("x64", { source: "test/native/tls-client-main.ts", bindsLibc: true }, PROGRAM);
    ca = await authority("the relay's authority");
    writeFileSync(caFile, ca.cert);
    writeFileSync(otherFile, (await authority("somebody else")).cert);
  }, 240_000);

  afterAll(() => {
    for (const server of servers) server.close();
  });

  async function serve(version: SecureVersion): Promise<number> {
    const leaf = await leafOf(ca);
    const tls = { cert: leaf.cert, key: leaf.private, minVersion: version, maxVersion: version };
    const server = createServer(tls, (_, res) => {
      res.setHeader("content-length", "5");
      res.end("hello");
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const at = server.address();
    return typeof at === "object" && at !== null ? at.port : 0;
  }

  test("is not larger than 1 MiB", () => {
    expect(statSync(PROGRAM).size).toBeLessThanOrEqual(LIMIT_BYTES);
  });

  test.for(["TLSv1.3", "TLSv1.2"] as const)(
    "speaks %s with a server, by address and the name it expects",
    async (version) => {
      expect(await ask(await serve(version), caFile, NAME)).toBe("answered 200 hello");
    },
  );

  test("refuses a server of another authority", async () => {
    expect(await ask(await serve("TLSv1.3"), otherFile, NAME)).toMatch(/^refused /);
  });

  test("refuses a server with another name", async () => {
    expect(await ask(await serve("TLSv1.3"), caFile, "other.lastcall.internal")).toMatch(/^refused /);
  });
});
