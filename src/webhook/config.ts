/** Reads the webhook's settings from flags and environment variables, and checks combinations of settings. */
import { formatDuration } from "../contract/duration.ts";
import { quote } from "../policy/quote.ts";
import { helpRows, type ReadSettings, readByTable, type SettingProblem } from "../settings/read-settings.ts";
import { SETTINGS, type WebhookSettings } from "./settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export function readSettings(args: readonly string[], environment: Environment): ReadSettings<typeof SETTINGS> {
  const reading = readByTable(SETTINGS, args, environment);
  const { settings } = reading;
  const combinationProblems = [
    ...certificateProblems(settings),
    ...enforcementProblems(settings),
    ...relayProblems(settings),
    ...portProblems(settings),
  ];
  if (settings.kubeVersion === "auto" && settings.cluster === "off") {
    combinationProblems.push({
      where: "--kube-version",
      message: "Is auto, which requires --cluster=watch. Set --cluster=watch, or set a version.",
    });
  }
  return { ...reading, problems: [...reading.problems, ...combinationProblems] };
}

export function helpText(): string {
  return [
    "lastcall webhook [flags]",
    "",
    "Serves POST /mutate and /settings, /healthz, /readyz and /metrics over HTTPS.",
    "Every flag is also an environment variable, such as LASTCALL_DRAIN_DELAY for --drain-delay.",
    "",
    helpRows(SETTINGS),
  ].join("\n");
}

const ONE_OF_TWO = "Only one of the two flags is set. Set both or neither.";

function enforcementProblems({ enforceConfiguration, enforceCopies }: WebhookSettings): readonly SettingProblem[] {
  if ((enforceConfiguration === "") !== (enforceCopies === ""))
    return [{ where: "--enforce-configuration and --enforce-copies", message: ONE_OF_TWO }];
  if (enforceConfiguration !== "" && enforceConfiguration === enforceCopies) {
    const message = `Is ${quote(enforceCopies)}, which is also the value of --enforce-copies. Set two different names.`;
    return [{ where: "--enforce-configuration", message }];
  }
  return [];
}

function relayProblems(settings: WebhookSettings): readonly SettingProblem[] {
  const { relaySecret, relayAddress, relayReadPods, adminPort, cluster, caSecret } = settings;
  const problems: SettingProblem[] = [];
  const add = (where: string, message: string): unknown => problems.push({ where, message });
  if (relaySecret !== "" && cluster === "off")
    add("--relay-secret", "Requires --cluster=watch, because the relay reads EndpointSlices.");
  if (relaySecret !== "" && relaySecret === caSecret)
    add(
      "--relay-secret",
      `Is ${quote(relaySecret)}, which is also the value of --ca-secret. Set the name of another Secret.`,
    );
  if (relaySecret === "") {
    if (relayAddress !== "") add("--relay-address", "Requires --relay-secret, which starts the relay.");
    if (relayReadPods) add("--relay-read-pods", "Requires --relay-secret, which starts the relay.");
    if (adminPort !== 0)
      add("--admin-port", "Requires --relay-secret, because the port serves the drains that the relay records.");
  }
  return problems;
}

function portProblems({ relaySecret, adminPort, relayPort, port }: WebhookSettings): readonly SettingProblem[] {
  const flagsByPort = new Map([[port, "--port"]]);
  const problems: SettingProblem[] = [];
  const check = (flag: string, flagPort: number): void => {
    const otherFlag = flagPort === 0 ? undefined : flagsByPort.get(flagPort);
    if (otherFlag !== undefined)
      problems.push({ where: flag, message: `Port ${flagPort} is also set by ${otherFlag}. Set two different ports.` });
    flagsByPort.set(flagPort, flag);
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

/** Minimum lifetime of a CA, as a multiple of the settle time: the next CA has to settle well within the CA's last third. */
const MIN_SETTLE_TIMES_PER_LIFE = 10;

export function certificateProblems(settings: CertificateSettings): readonly SettingProblem[] {
  const problems: SettingProblem[] = [];
  const add = (where: string, message: string): unknown => problems.push({ where, message });
  const hasFiles = settings.certificateFile !== "" || settings.keyFile !== "";
  const hasSecret = settings.caSecret !== "";
  const hasConfiguration = settings.webhookConfiguration !== "";
  if (hasFiles && (settings.certificateFile === "" || settings.keyFile === "")) {
    add("--cert and --key", ONE_OF_TWO);
  }
  if ((hasFiles || hasSecret) && settings.caFile !== "") {
    add(
      "--ca-file",
      "Applies only to a certificate that the webhook generates in memory. Unset it, or unset --cert, --key and --ca-secret.",
    );
  }
  if (hasFiles && hasSecret) {
    add("--ca-secret", "Cannot be combined with --cert and --key. Set either the Secret or the files.");
  }
  if (hasSecret && !hasConfiguration) {
    add("--ca-secret", "Requires --webhook-configuration; otherwise no API server would trust the certificates.");
  }
  if (hasConfiguration && !hasSecret && !hasFiles) {
    add("--webhook-configuration", "Requires --ca-secret, or --cert and --key with a ca.crt in the same directory.");
  }
  if (settings.caLifeMs < MIN_SETTLE_TIMES_PER_LIFE * settings.caSettleMs) {
    const shortest = formatDuration(MIN_SETTLE_TIMES_PER_LIFE * settings.caSettleMs);
    const [life, settle] = [formatDuration(settings.caLifeMs), formatDuration(settings.caSettleMs)];
    add("--ca-life", `Is ${life}, too short for --ca-settle ${settle}. Set at least ${shortest}.`);
  }
  if (settings.certificateCheckMs < 100)
    add("--certificate-check", `Is ${formatDuration(settings.certificateCheckMs)}. Set at least 100ms.`);
  return problems;
}
