/** Checks that the settings for certificates fit together. */
import { formatDuration } from "../../contract/duration.ts";
import type { SettingProblem } from "../../settings/read-settings.ts";
import type { WebhookSettings } from "../settings.ts";

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
