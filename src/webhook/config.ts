/** The webhook's flags and environment as settings, and which of them go together. */
import { formatDuration } from "../contract/duration.ts";
import { helpRows, type ReadSettings, readByTable, type SettingProblem } from "../settings/read-settings.ts";
import { SETTINGS, type WebhookSettings } from "./settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export function readSettings(args: readonly string[], environment: Environment): ReadSettings<typeof SETTINGS> {
  const read = readByTable(SETTINGS, args, environment);
  const { settings } = read;
  const together = [
    ...certificateProblems(settings),
    ...enforcementProblems(settings),
    ...relayProblems(settings),
    ...portProblems(settings),
  ];
  if (settings.kubeVersion === "auto" && settings.cluster === "off") {
    together.push({ where: "--kube-version", message: "Only with --cluster=watch can auto ask the API server." });
  }
  return { ...read, problems: [...read.problems, ...together] };
}

/** What `lastcall webhook --help` prints. */
export function helpText(): string {
  return [
    "lastcall webhook [flags]",
    "",
    "Serves POST /mutate and /settings, /healthz, /readyz and /metrics over HTTPS.",
    "Every flag is also an environment variable: --drain-delay is LASTCALL_DRAIN_DELAY.",
    "",
    helpRows(SETTINGS),
  ].join("\n");
}

function enforcementProblems({ enforceConfiguration, enforceCopies }: WebhookSettings): readonly SettingProblem[] {
  const where = "--enforce-configuration";
  if ((enforceConfiguration === "") !== (enforceCopies === ""))
    return [{ where, message: "It and --enforce-copies are given together, or neither is." }];
  if (enforceConfiguration !== "" && enforceConfiguration === enforceCopies)
    return [{ where, message: "It is also --enforce-copies; these are two objects." }];
  return [];
}

function relayProblems(settings: WebhookSettings): readonly SettingProblem[] {
  const { relaySecret, relayAddress, relayReadPods, adminPort, cluster, caSecret } = settings;
  const problems: SettingProblem[] = [];
  const add = (where: string, message: string): unknown => problems.push({ where, message });
  if (relaySecret !== "" && cluster === "off")
    add("--relay-secret", "It needs --cluster=watch: the relay answers from what it reads at the API server.");
  if (relaySecret !== "" && relaySecret === caSecret)
    add("--relay-secret", "It is also --ca-secret; the relay needs a Secret of its own.");
  if (relaySecret === "") {
    if (relayAddress !== "") add("--relay-address", "It needs --relay-secret: without it there is no relay.");
    if (relayReadPods) add("--relay-read-pods", "It needs --relay-secret: without it there is no relay.");
    if (adminPort !== 0) add("--admin-port", "It needs --relay-secret: it shows the drains that the relay records.");
  }
  return problems;
}

/** Where several are 0, the system chooses different ones. */
function portProblems({ relaySecret, adminPort, relayPort, port }: WebhookSettings): readonly SettingProblem[] {
  const others = new Map([[port, "--port"]]);
  const problems: SettingProblem[] = [];
  const check = (flag: string, chosen: number): void => {
    const other = chosen === 0 ? undefined : others.get(chosen);
    if (other !== undefined) problems.push({ where: flag, message: `It is also ${other}; these are two servers.` });
    others.set(chosen, flag);
  };
  if (relaySecret !== "") check("--relay-port", relayPort);
  check("--admin-port", adminPort);
  return problems;
}

type CertificateSettings = Pick<
  WebhookSettings,
  | "certificateFile"
  | "keyFile"
  | "caFile"
  | "caSecret"
  | "caLifeMs"
  | "caSettleMs"
  | "webhookConfiguration"
  | "certificateCheckMs"
>;

/** A rotation must be over long before the last third of a CA's life is. */
const SETTLES_PER_LIFE = 10;

export function certificateProblems(settings: CertificateSettings): readonly SettingProblem[] {
  const problems: SettingProblem[] = [];
  const add = (where: string, message: string): unknown => problems.push({ where, message });
  const hasFiles = settings.certificateFile !== "" || settings.keyFile !== "";
  const hasSecret = settings.caSecret !== "";
  const hasConfiguration = settings.webhookConfiguration !== "";
  if (hasFiles && (settings.certificateFile === "" || settings.keyFile === "")) {
    add("--cert and --key", "One of them is missing; give both or neither.");
  }
  if ((hasFiles || hasSecret) && settings.caFile !== "") {
    add("--ca-file", "Only a certificate made in memory has a CA to write.");
  }
  if (hasFiles && hasSecret) {
    add("--ca-secret", "Either the files of --cert and --key are served or what the CA of --ca-secret signs.");
  }
  if (hasSecret && !hasConfiguration) {
    add("--ca-secret", "It needs --webhook-configuration: no API server would trust the certificates otherwise.");
  }
  if (hasConfiguration && !hasSecret && !hasFiles) {
    add("--webhook-configuration", "It needs --ca-secret, or --cert and --key with a ca.crt beside them.");
  }
  if (settings.caLifeMs < SETTLES_PER_LIFE * settings.caSettleMs) {
    const shortest = formatDuration(SETTLES_PER_LIFE * settings.caSettleMs);
    add("--ca-life", `With --ca-settle ${formatDuration(settings.caSettleMs)} it is at least ${shortest}.`);
  }
  if (settings.certificateCheckMs < 100) add("--certificate-check", "The shortest interval is 100ms.");
  return problems;
}
