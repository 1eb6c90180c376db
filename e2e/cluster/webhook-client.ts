/** Configures the API server's client certificate for lastcall's webhook, as in docs/operations.md. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { RELEASE_NAMESPACE } from "../client/release.ts";
import { WEBHOOK_CLIENT } from "./certificates.ts";

/** Writes the files as JSON, which is valid YAML. @returns the file for `--admission-control-config-file` */
export function writeAdmissionConfiguration(pki: string): string {
  const [configuration, kubeconfig] = [join(pki, "admission.yaml"), join(pki, "webhooks.kubeconfig")];
  const user = {
    "client-certificate": join(pki, `${WEBHOOK_CLIENT}.crt`),
    "client-key": join(pki, `${WEBHOOK_CLIENT}.key`),
  };
  const service = `lastcall-webhook.${RELEASE_NAMESPACE}.svc`;
  write(kubeconfig, { apiVersion: "v1", kind: "Config", users: [{ name: service, user }] });
  write(configuration, {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AdmissionConfiguration",
    plugins: [
      {
        name: "MutatingAdmissionWebhook",
        configuration: {
          apiVersion: "apiserver.config.k8s.io/v1",
          kind: "WebhookAdmissionConfiguration",
          kubeConfigFile: kubeconfig,
        },
      },
    ],
  });
  return configuration;
}

function write(file: string, content: object): void {
  writeFileSync(file, `${JSON.stringify(content)}\n`, { mode: 0o600 });
}
