/** Lists the servers of the rollouts, each with its usual start command. */
import { join } from "node:path";
import type { StopSignal } from "../../../src/demo/pods/kubelet-rules.ts";
import { webDeployment } from "../harness/web-deployment.ts";
import type { FoundProgram } from "../install/program-of.ts";
import type { ProgramName } from "../install/program-table.ts";
import {
  APACHE,
  APACHE_H2,
  CADDY,
  CADDY_H2,
  HAPROXY,
  HAPROXY_H2,
  LIGHTTPD,
  NGINX,
  NGINX_H2,
} from "./proxy-configurations.ts";

export type ServerRow = {
  readonly system: string;
  readonly program: ProgramName;
  readonly stopSignal: StopSignal;
  readonly signalOf: "image" | "kubelet";
  /** A shell script that execs the server; `$FOLDER` is an empty folder of the Pod, `$PROGRAM` the program. */
  readonly script: string;
  readonly configuration?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** `tcp` for servers that do not respond to HTTP/1.1 probes. */
  readonly probe?: "tcp";
  /** Reason why the server does not load the preload library. */
  readonly unreachedByPreload?: string;
};

const APPS_FOLDER = join(import.meta.dirname, "apps");

type ServerStart = Pick<
  ServerRow,
  "system" | "program" | "script" | "configuration" | "environment" | "unreachedByPreload"
>;

const STATICALLY_LINKED = "a statically linked program, which loads no library";

const NGINX_START: ServerStart = {
  system: "nginx",
  program: "nginx",
  script: 'exec $PROGRAM -p "$FOLDER" -c "$FOLDER/configuration" -e stderr',
  configuration: NGINX,
};
const HAPROXY_START: ServerStart = {
  system: "HAProxy",
  program: "haproxy",
  script: 'exec $PROGRAM -W -db -f "$FOLDER/configuration"',
  configuration: HAPROXY,
};
const APACHE_START: ServerStart = {
  system: "Apache httpd (event)",
  program: "apache",
  script: 'chmod 755 "$FOLDER"; exec $PROGRAM -D FOREGROUND -f "$FOLDER/configuration"',
  configuration: APACHE,
};
const CADDY_START: ServerStart = {
  system: "Caddy",
  program: "caddy",
  script:
    'export XDG_DATA_HOME="$FOLDER" XDG_CONFIG_HOME="$FOLDER"; exec $PROGRAM run --config "$FOLDER/configuration" --adapter caddyfile',
  configuration: CADDY,
  unreachedByPreload: STATICALLY_LINKED,
};
const HYPERCORN_START: ServerStart = {
  system: "Hypercorn",
  program: "hypercorn",
  script: "exec $PROGRAM --bind 0.0.0.0:8080 --keep-alive 75 --log-level warning asgi:app",
};
const GO_START: ServerStart = {
  system: "Go net/http",
  program: "go",
  script: "exec $PROGRAM",
  unreachedByPreload: STATICALLY_LINKED,
};

const GUNICORN = "exec $PROGRAM --bind 0.0.0.0:8080 --no-control-socket --log-level warning --keep-alive 75";

const fromImage = (start: ServerStart, stopSignal: StopSignal): ServerRow => ({
  ...start,
  stopSignal,
  signalOf: "image",
});
const fromKubelet = (start: ServerStart): ServerRow => ({ ...start, stopSignal: "SIGTERM", signalOf: "kubelet" });

export const SERVERS: readonly ServerRow[] = [
  fromImage(NGINX_START, "SIGQUIT"),
  fromKubelet(NGINX_START),
  fromImage(HAPROXY_START, "SIGUSR1"),
  fromKubelet(HAPROXY_START),
  fromImage(APACHE_START, "SIGWINCH"),
  fromKubelet(APACHE_START),
  fromKubelet({
    system: "lighttpd",
    program: "lighttpd",
    script: 'exec $PROGRAM -D -f "$FOLDER/configuration"',
    configuration: LIGHTTPD,
  }),
  fromKubelet(CADDY_START),
  fromKubelet({
    system: "gunicorn (gthread)",
    program: "gunicorn",
    script: `${GUNICORN} --worker-tmp-dir "$FOLDER" --worker-class gthread --workers 1 --threads 16 wsgi:app`,
  }),
  fromKubelet({
    system: "gunicorn (sync)",
    program: "gunicorn",
    script: `${GUNICORN} --worker-tmp-dir "$FOLDER" --worker-class sync --workers 10 wsgi:app`,
  }),
  fromKubelet({
    system: "uvicorn",
    program: "uvicorn",
    script: "exec $PROGRAM --host 0.0.0.0 --port 8080 --timeout-keep-alive 75 --log-level warning asgi:app",
  }),
  fromKubelet(HYPERCORN_START),
  fromKubelet({
    system: "Granian",
    program: "granian",
    script: "exec $PROGRAM --interface asgi --host 0.0.0.0 --port 8080 --log-level warning asgi:app",
  }),
  fromKubelet({ system: "Node http", program: "node", script: "exec $PROGRAM node-server.mjs" }),
  fromKubelet({ system: "Fastify", program: "fastify", script: "exec $PROGRAM fastify-server.mjs" }),
  fromKubelet(GO_START),
  fromKubelet({
    system: "Puma",
    program: "puma",
    script: "exec $PROGRAM --quiet --environment production --bind tcp://0.0.0.0:8080 --threads 16:16 config.ru",
    environment: { PUMA_PERSISTENT_TIMEOUT: "75" },
  }),
  fromKubelet({
    system: "Passenger (standalone)",
    program: "passenger",
    script: [
      'cp config.ru "$FOLDER"; cd "$FOLDER"; mkdir -p tmp registry public; export TMPDIR="$FOLDER/tmp";',
      "exec $PROGRAM start --engine builtin --address 0.0.0.0 --port 8080 --environment production --max-pool-size 6",
      "--min-instances 6 --disable-security-update-check --disable-anonymous-telemetry --log-level 2",
      '--log-file "$FOLDER/passenger.log" --pid-file "$FOLDER/passenger.pid" --instance-registry-dir "$FOLDER/registry"',
      "--no-compile-runtime --no-install-runtime",
    ].join(" "),
  }),
];

export const HTTP2_SERVERS: readonly ServerRow[] = [
  { ...NGINX_START, configuration: NGINX_H2 },
  { ...HAPROXY_START, configuration: HAPROXY_H2 },
  { ...APACHE_START, configuration: APACHE_H2 },
  { ...CADDY_START, configuration: CADDY_H2 },
  HYPERCORN_START,
  GO_START,
].map((start) => ({ ...fromKubelet(start), probe: "tcp" }));

export function titleOf({ system, stopSignal }: ServerRow): string {
  return `${system} stopped by ${stopSignal}`;
}

/** @param scratch the only folder that the Pods write to */
export function serverDeployment(row: ServerRow, program: FoundProgram, scratch: string): object {
  const writeConfiguration =
    row.configuration === undefined ? "" : 'printf %s "$CONFIGURATION" > "$FOLDER/configuration"; ';
  const probeAction =
    row.probe === "tcp" ? { tcpSocket: { port: "http" } } : { httpGet: { path: "/healthz", port: "http" } };
  const variables = {
    ...program.environment,
    ...row.environment,
    PROGRAM: program.command.join(" "),
    FOLDER: `${scratch}/$(HOSTNAME)`,
    CONFIGURATION: row.configuration ?? "",
    PYTHONDONTWRITEBYTECODE: "1",
  };
  return webDeployment({
    image: `example.org/${row.program}:1`,
    command: ["sh", "-c", `mkdir -p "$FOLDER"; ${writeConfiguration}${row.script}`],
    workingDir: APPS_FOLDER,
    env: Object.entries(variables).map(([name, value]) => ({ name, value })),
    lifecycle: { stopSignal: row.stopSignal },
    readinessProbe: { ...probeAction, periodSeconds: 1, timeoutSeconds: 3 },
  });
}
