/** Creates the keys and certificates of the cluster: one certificate per identity, without bootstrap tokens. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../host/run.ts";
import { API_SERVER_URL, API_SERVICE_ADDRESS, NODES } from "./addresses.ts";

const CLUSTER_CA = "ca";
/** Signs only the API server's client certificates for webhooks, as documented. */
export const WEBHOOK_CLIENT_CA = "webhook-client-ca";
/** The API server's client certificate for lastcall's webhook. */
export const WEBHOOK_CLIENT = "webhook-client";

type Identity = {
  readonly file: string;
  readonly ca?: string;
  readonly subject: string;
  readonly altNames: string;
  readonly hasKubeconfig: boolean;
};

const API_NAMES = [
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
];

const IDENTITIES: readonly Identity[] = [
  {
    file: "apiserver",
    subject: "/CN=kube-apiserver",
    altNames: [
      ...[...API_NAMES, "localhost"].map((name) => `DNS:${name}`),
      ...[API_SERVICE_ADDRESS, NODES[0].address, "127.0.0.1"].map((address) => `IP:${address}`),
    ].join(","),
    hasKubeconfig: false,
  },
  clientIdentity("apiserver-kubelet", "/O=system:masters/CN=apiserver-kubelet-client"),
  clientIdentity("admin", "/O=system:masters/CN=admin"),
  clientIdentity("controller-manager", "/CN=system:kube-controller-manager"),
  clientIdentity("scheduler", "/CN=system:kube-scheduler"),
  clientIdentity("proxy", "/CN=system:kube-proxy"),
  ...NODES.map(({ name, address }) => ({
    file: name,
    subject: `/O=system:nodes/CN=system:node:${name}`,
    altNames: `IP:${address},DNS:${name}`,
    hasKubeconfig: true,
  })),
  { ...clientIdentity(WEBHOOK_CLIENT, "/CN=kube-apiserver"), ca: WEBHOOK_CLIENT_CA, hasKubeconfig: false },
];

function clientIdentity(file: string, subject: string): Identity {
  return { file, subject, altNames: `DNS:${file}`, hasKubeconfig: true };
}

const EC_KEY_FLAGS = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
const VALIDITY_FLAGS = ["-days", "30"];

/** Writes all files into `folder`, which only its owner may read. It takes half a second, because most keys use elliptic curves. */
export async function createCertificates(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await Promise.all([CLUSTER_CA, WEBHOOK_CLIENT_CA].map((authority) => createCa(authority, folder)));
  await Promise.all([
    ...IDENTITIES.map((identity) => createCertificate(identity, folder)),
    createServiceAccountKeys(folder),
  ]);
}

async function createCa(file: string, folder: string): Promise<void> {
  const pathOf = (extension: string) => join(folder, `${file}.${extension}`);
  const usage = "keyUsage=critical,keyCertSign,cRLSign,digitalSignature";
  const subject = `/CN=lastcall-test ${file}`;
  const selfSignedFlags = [
    "-x509",
    ...EC_KEY_FLAGS,
    "-keyout",
    pathOf("key"),
    "-out",
    pathOf("crt"),
    "-subj",
    subject,
    ...VALIDITY_FLAGS,
  ];
  await run("openssl", ["req", ...selfSignedFlags, "-addext", "basicConstraints=critical,CA:TRUE", "-addext", usage]);
}

async function createCertificate(
  { file, ca = CLUSTER_CA, subject, altNames, hasKubeconfig }: Identity,
  folder: string,
): Promise<void> {
  const pathOf = (extension: string) => join(folder, `${file}.${extension}`);
  const extensions = [
    `subjectAltName=${altNames}`,
    "extendedKeyUsage=serverAuth,clientAuth",
    "keyUsage=digitalSignature",
  ];
  writeFileSync(pathOf("ext"), `${extensions.join("\n")}\n`);
  await run("openssl", ["req", ...EC_KEY_FLAGS, "-keyout", pathOf("key"), "-out", pathOf("csr"), "-subj", subject]);
  const signerFlags = [
    "-CA",
    join(folder, `${ca}.crt`),
    "-CAkey",
    join(folder, `${ca}.key`),
    "-set_serial",
    serialNumberOf(file),
  ];
  await run("openssl", [
    "x509",
    "-req",
    "-in",
    pathOf("csr"),
    ...signerFlags,
    "-out",
    pathOf("crt"),
    ...VALIDITY_FLAGS,
    "-extfile",
    pathOf("ext"),
  ]);
  if (hasKubeconfig) writeFileSync(pathOf("kubeconfig"), kubeconfigText(file, folder), { mode: 0o600 });
}

/** Returns a fixed serial number for each identity; with a counter file openssl could not sign in parallel. */
function serialNumberOf(file: string): string {
  return String(1000 + IDENTITIES.findIndex((identity) => identity.file === file));
}

async function createServiceAccountKeys(folder: string): Promise<void> {
  await run("openssl", ["genrsa", "-out", join(folder, "sa.key"), "2048"]);
  await run("openssl", ["rsa", "-in", join(folder, "sa.key"), "-pubout", "-out", join(folder, "sa.pub")]);
}

function kubeconfigText(file: string, folder: string): string {
  const cluster = { server: API_SERVER_URL, "certificate-authority": join(folder, `${CLUSTER_CA}.crt`) };
  const user = { "client-certificate": join(folder, `${file}.crt`), "client-key": join(folder, `${file}.key`) };
  return `${JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "lastcall-test", cluster }],
    users: [{ name: file, user }],
    contexts: [{ name: "lastcall-test", context: { cluster: "lastcall-test", user: file } }],
    "current-context": "lastcall-test",
  })}\n`;
}
