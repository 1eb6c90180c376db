import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ownAddress } from "../leases/own-address.ts";
import {
  CLOSE_HEADER,
  MODES,
  openScenario,
  PORT,
  type PreloadScenario,
  withoutCloseHeader,
} from "./preload-scenario.ts";
import { hasProgram } from "./programs-here.ts";

const CONNECTIONS = 20;
const GET = "GET /f.txt HTTP/1.1\r\nHost: a\r\n\r\n";
const EXPECTING_POST = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
/** The body of every response. It looks like the head of an HTTP response, to which the library must not add a header. */
const BODY = "HTTP/1.1 200 OK\r\n\r\n";
const CALLS = ["write", "writev", "pieces", "send", "sendmsg", "fork"];
const NODE_SERVER = join(import.meta.dirname, "servers/node-http.ts");

const ARM64_COMPILER = "aarch64-linux-gnu-gcc";
const PROGRAMS = ["gcc", "musl-gcc", "python3", "nginx", ARM64_COMPILER, "qemu-aarch64"];
const missingPrograms = PROGRAMS.filter((program) => !hasProgram(program));
for (const program of missingPrograms)
  process.stdout.write(`the preload library is not tested with ${program}: the host lacks it\n`);

const withoutDate = (response: string): string => response.replace(/^Date: .*$/m, "Date:");

let scenario: PreloadScenario;
beforeAll(async () => {
  if (missingPrograms.includes("gcc")) return;
  scenario = await openScenario();
  writeFileSync(join(scenario.folder, "f.txt"), BODY);
});
afterEach(() => scenario.endAll());
afterAll(() => scenario.close());

type ServerCase = {
  readonly name: string;
  readonly command: (address: string) => readonly string[];
  readonly requiredProgram: string;
};

const CALL_SERVERS: readonly ServerCase[] = ["gcc", "musl-gcc"].flatMap((compiler) =>
  CALLS.map((call) => ({
    name: `a server compiled by ${compiler} with the output method ${call}`,
    requiredProgram: compiler,
    command: (address: string) => [scenario.compile("servers/calls.c", compiler), address, String(PORT), call],
  })),
);
const SERVERS: readonly ServerCase[] = [
  {
    name: "Node",
    requiredProgram: "gcc",
    command: (address) => [process.execPath, NODE_SERVER, address, String(PORT)],
  },
  { name: "Python's http.server", requiredProgram: "python3", command: pythonCommand },
  { name: "nginx", requiredProgram: "nginx", command: nginxCommand },
  ...CALL_SERVERS,
];

function pythonCommand(address: string): readonly string[] {
  return ["python3", "-m", "http.server", "--protocol=HTTP/1.1", `--bind=${address}`, String(PORT)];
}

function nginxCommand(address: string): readonly string[] {
  const { folder } = scenario;
  const httpBlock = `access_log off; sendfile on; server { listen ${address}:${PORT}; root ${folder}; }`;
  writeFileSync(
    join(folder, "nginx.conf"),
    `user root; daemon off; master_process off; error_log stderr; pid ${folder}/pid; events {} http { ${httpBlock} }`,
  );
  return ["nginx", "-p", folder, "-c", join(folder, "nginx.conf")];
}

/** Compares the responses on keep-alive connections before and during the drain. */
async function expectEachConnectionClosed(
  command: readonly string[],
  address: string,
  { openManager, start, connect }: PreloadScenario,
) {
  const manager = await openManager();
  await start(command, address);
  expect(manager.countSentPages()).toBeGreaterThan(0);
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(address)));
  const before = await Promise.all(clients.map((client) => client.request(GET, BODY)));
  await manager.setMode(MODES.close);
  const after = await Promise.all(clients.map((client) => client.request(GET, BODY)));
  expect(before.filter((response) => response.includes(CLOSE_HEADER))).toEqual([]);
  expect(after.filter((response) => response.split("\r\n")[1] !== CLOSE_HEADER.trimEnd())).toEqual([]);
  expect(after.map(withoutCloseHeader).map(withoutDate)).toEqual(before.map(withoutDate));
}

describe.skipIf(missingPrograms.includes("gcc"))("a server with the preload library", () => {
  test.for(SERVERS.filter(({ requiredProgram }) => !missingPrograms.includes(requiredProgram)))(
    "$name closes each keep-alive connection with its next response, and does not change anything else",
    ({ command }) => {
      const address = ownAddress();
      return expectEachConnectionClosed(command(address), address, scenario);
    },
  );

  test("adds the header `Connection: close` to the response to a request with `Expect: 100-continue`", async () => {
    const address = ownAddress();
    const manager = await scenario.openManager();
    await scenario.start([process.execPath, NODE_SERVER, address, String(PORT)], address);
    await manager.setMode(MODES.close);
    const client = await scenario.connect(address);
    expect(await client.request(EXPECTING_POST, "\r\n\r\n")).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    expect(await client.request("ok", BODY)).toContain(CLOSE_HEADER);
  });

  test.for([
    { place: "before", received: "the server's bytes", extra: 0 },
    { place: "after", received: "the server's bytes and the header", extra: CLOSE_HEADER.length },
  ])(
    "works if another library is preloaded $place it, and the other library receives $received",
    async ({ place, extra }) => {
      const address = ownAddress();
      const manager = await scenario.openManager();
      const otherLibrary = scenario.compile("servers/other-library.c", "gcc", ["-shared", "-fPIC"]);
      const countFile = join(scenario.folder, place);
      const libraries = place === "before" ? [otherLibrary, scenario.library] : [scenario.library, otherLibrary];
      const env = { LD_PRELOAD: libraries.join(":"), COUNT_FILE: countFile };
      await scenario.start([scenario.compile("servers/calls.c", "gcc"), address, String(PORT), "write"], address, env);
      await manager.setMode(MODES.close);
      const response = await (await scenario.connect(address)).request(GET, BODY);
      expect(response).toContain(CLOSE_HEADER);
      expect(Number(readFileSync(countFile, "utf8"))).toBe(withoutCloseHeader(response).length + extra);
    },
  );

  test.skipIf(missingPrograms.includes(ARM64_COMPILER) || missingPrograms.includes("qemu-aarch64"))(
    "closes each keep-alive connection with its next response on arm64",
    async () => {
      const arm64Scenario = await openScenario({ processor: "arm64" });
      try {
        const address = ownAddress();
        const server = arm64Scenario.compile("servers/calls.c", ARM64_COMPILER);
        // qemu passes its environment to the emulated program.
        const command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", server, address, String(PORT), "write"];
        await expectEachConnectionClosed(command, address, arm64Scenario);
      } finally {
        await arm64Scenario.close();
      }
    },
  );
});
