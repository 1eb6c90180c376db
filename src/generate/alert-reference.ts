/** Renders docs/reference/alerts.md: one heading per alert, which runbook URLs link to. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { code } from "./markdown-table.ts";

const FILE = join(import.meta.dirname, "../../charts/lastcall/alerts/lastcall.yaml");

type Alert = {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
};

export function alertReference(): string {
  const { groups } = parse(readFileSync(FILE, "utf8")) as { groups: readonly { rules: readonly Alert[] }[] };
  const alerts = groups.flatMap(({ rules }) => rules);
  const unknown = Object.keys(ALERT_COMMANDS).filter((name) => !alerts.some(({ alert }) => alert === name));
  if (unknown.length > 0) throw new Error(`ALERT_COMMANDS has unknown alerts: ${unknown.join(", ")}`);
  return alerts
    .map(({ alert, labels, annotations }) => {
      const { summary, description } = annotations;
      return `## ${alert}\n\n${labels.severity}: ${summary} ${withoutTemplates(description)}\n\n${commandsOf(alert)}\n`;
    })
    .join("\n");
}

function commandsOf(alert: string): string {
  const commands = ALERT_COMMANDS[alert];
  if (commands === undefined) throw new Error(`ALERT_COMMANDS lacks the alert ${alert}`);
  return ["```", ...commands, "```"].join("\n");
}

/** Replaces Prometheus' template expressions, which only a firing alert can fill in. */
function withoutTemplates(text: string): string {
  return text
    .replaceAll(/\{\{ *\$labels\.(\w+) *\}\}/g, (_, label: string) => code(label))
    .replaceAll(/\{\{[^}]*\}\}/g, code("value"));
}

const IN = "--namespace lastcall";
const SELECTOR = "--selector=app.kubernetes.io/component=webhook";
const PODS = `kubectl get pods ${IN} ${SELECTOR} --output=wide`;
const ENFORCE = "kubectl get mutatingwebhookconfiguration enforce.lastcall.dev";
const NOTES = "kubectl get events --field-selector=source=lastcall";

function log(pattern: string): string {
  return `kubectl logs ${IN} ${SELECTOR} --prefix --tail=-1 --since=1h | grep -iE '${pattern}'`;
}

function canList(resource: string): string {
  return `kubectl auth can-i list ${resource} --all-namespaces --as=system:serviceaccount:lastcall:lastcall-webhook`;
}

/** Commands that find the cause of each alert, the most useful first. */
export const ALERT_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  LastcallDrainsTimeOut: [
    "lastcall drains | grep timeout          # the Pods and their remaining connections",
    `${NOTES},reason=DrainTimeout --all-namespaces`,
    "kubectl exec --namespace NAMESPACE POD --container lastcall -- /lastcall status   # while the Pod drains",
  ],
  LastcallDrainsForced: [
    "lastcall drains --namespace NAMESPACE | grep forced",
    `${NOTES} --namespace NAMESPACE`,
    "kubectl get nodes                            # a node that shut down is NotReady or deleted",
    log("relay"),
  ],
  LastcallDrainsBlind: [
    "lastcall drains --namespace NAMESPACE | grep blind",
    "kubectl logs --namespace NAMESPACE POD --container lastcall | head    # why the manager cannot read the sockets",
    "kubectl get pod POD --namespace NAMESPACE --output=jsonpath='{.spec.runtimeClassName} {..seccompProfile}'",
  ],
  LastcallDrainsLost: [
    "lastcall drains --namespace NAMESPACE | grep lost    # the Pods with exit code and reason",
    `${NOTES},reason=DrainLost --namespace NAMESPACE`,
    "kubectl get pods --namespace NAMESPACE --output=jsonpath='{range .items[*]}{.metadata.name} {..lastState.terminated.reason}{\"\\n\"}{end}'",
  ],
  LastcallRelayCannotWatch: [log("endpointslice"), canList("endpointslices.discovery.k8s.io")],
  LastcallRelayIdentityMissing: [log("lastcall-relay"), `kubectl get secret lastcall-relay ${IN}`],
  LastcallRelayUnresponsive: [log("relay"), PODS, `kubectl top pods ${IN}`],
  LastcallRelayRestarts: [log("relay"), `kubectl top pods ${IN}`],
  LastcallRelayRefuses: [
    log("refused|credential"),
    `kubectl get secret lastcall-relay ${IN}   # AGE: Pods older than the Secret need a restart`,
  ],
  LastcallDrainReportsRefused: [log("report"), `kubectl get secret lastcall-relay ${IN}`],
  LastcallImageUnpullable: [
    `${NOTES},reason=NotInjected --all-namespaces`,
    "kubectl get events --all-namespaces --field-selector=reason=Failed | grep lastcall",
  ],
  LastcallAbsent: [
    PODS,
    `kubectl describe deployment lastcall-webhook ${IN}`,
    `kubectl get podmonitors,servicemonitors ${IN}`,
  ],
  LastcallNotEnforcing: [ENFORCE, log("enforcement")],
  LastcallEnforcementBlockedByQuota: [
    "kubectl describe resourcequotas --namespace default    # or selfTest.namespace; compare Used with Hard",
    log("exceeded quota|failed quota|insufficient quota"),
    ENFORCE,
  ],
  LastcallAdmissionsFail: [log('"level":50'), PODS],
  LastcallAdmissionsSlow: [`kubectl top pods ${IN}`, PODS],
  LastcallCertificateExpires: [log("certificate"), `kubectl get secrets,certificates ${IN}`],
  LastcallAuthorityExpires: [log("certificate|lastcall-ca"), `kubectl get secret lastcall-ca ${IN}`],
  LastcallNotTrusted: [
    log("caBundle"),
    "kubectl get mutatingwebhookconfiguration drain.lastcall.dev --output=yaml --show-managed-fields | grep -E 'caBundle|manager:'",
  ],
  LastcallCacheStale: [log("unreachable"), ...["namespaces", "nodes", "limitranges", "events"].map(canList)],
};
