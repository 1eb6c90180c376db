/** Renders docs/reference/alerts.md: one heading per alert, which runbook URLs link to. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { code } from "./markdown-table.ts";

const ALERTS_FILE = join(import.meta.dirname, "../../charts/lastcall/alerts/lastcall.yaml");

type Alert = {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
};

export function alertReference(): string {
  const { groups } = parse(readFileSync(ALERTS_FILE, "utf8")) as { groups: readonly { rules: readonly Alert[] }[] };
  const alerts = groups.flatMap(({ rules }) => rules);
  const unknownAlerts = Object.keys(ALERT_COMMANDS).filter((name) => !alerts.some(({ alert }) => alert === name));
  if (unknownAlerts.length > 0)
    throw new Error(
      `src/generate/alert-reference.ts: ALERT_COMMANDS has unknown alerts: ${unknownAlerts.join(", ")}; remove or rename them`,
    );
  return alerts
    .map(({ alert, labels, annotations }) => {
      const { summary, description } = annotations;
      return `## ${alert}\n\n${labels.severity}: ${summary} ${withoutTemplates(description)}\n\n${commandsOf(alert)}\n`;
    })
    .join("\n");
}

function commandsOf(alert: string): string {
  const commands = ALERT_COMMANDS[alert];
  if (commands === undefined)
    throw new Error(`src/generate/alert-reference.ts: ALERT_COMMANDS has no commands for the alert ${alert}; add them`);
  return ["```", ...commands, "```"].join("\n");
}

/** Replaces Prometheus' template expressions, which are evaluated only for a firing alert. */
function withoutTemplates(text: string): string {
  return text
    .replaceAll(/\{\{ *\$labels\.(\w+) *\}\}/g, (_, label: string) => code(label))
    .replaceAll(/\{\{[^}]*\}\}/g, code("value"));
}

const IN_NAMESPACE = "--namespace lastcall";
const SELECTOR = "--selector=app.kubernetes.io/component=webhook";
const GET_PODS = `kubectl get pods ${IN_NAMESPACE} ${SELECTOR} --output=wide`;
const GET_ENFORCE_CONFIGURATION = "kubectl get mutatingwebhookconfiguration enforce.lastcall.dev";
const GET_EVENTS = "kubectl get events --field-selector=source=lastcall";

function grepLogs(pattern: string): string {
  return `kubectl logs ${IN_NAMESPACE} ${SELECTOR} --prefix --tail=-1 --since=1h | grep -iE '${pattern}'`;
}

function canList(resource: string): string {
  return `kubectl auth can-i list ${resource} --all-namespaces --as=system:serviceaccount:lastcall:lastcall-webhook`;
}

/** Commands that help to find the cause of each alert, the most useful first. */
export const ALERT_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  LastcallDrainsTimeOut: [
    "lastcall drains | grep timeout          # the Pods and their remaining connections",
    `${GET_EVENTS},reason=DrainTimeout --all-namespaces`,
    "kubectl exec --namespace NAMESPACE POD --container lastcall -- /lastcall status   # while the Pod drains",
  ],
  LastcallDrainsForced: [
    "lastcall drains --namespace NAMESPACE | grep forced",
    `${GET_EVENTS} --namespace NAMESPACE`,
    "kubectl get nodes                            # a node that shut down is NotReady or deleted",
    grepLogs("relay"),
  ],
  LastcallDrainsBlind: [
    "lastcall drains --namespace NAMESPACE | grep blind",
    "kubectl logs --namespace NAMESPACE POD --container lastcall | head    # why the manager cannot read the sockets",
    "kubectl get pod POD --namespace NAMESPACE --output=jsonpath='{.spec.runtimeClassName} {..seccompProfile}'",
  ],
  LastcallDrainsLost: [
    "lastcall drains --namespace NAMESPACE | grep lost    # the Pods with exit code and reason",
    `${GET_EVENTS},reason=DrainLost --namespace NAMESPACE`,
    "kubectl get pods --namespace NAMESPACE --output=jsonpath='{range .items[*]}{.metadata.name} {..lastState.terminated.reason}{\"\\n\"}{end}'",
  ],
  LastcallRelayCannotWatch: [grepLogs("endpointslice"), canList("endpointslices.discovery.k8s.io")],
  LastcallRelayIdentityMissing: [grepLogs("lastcall-relay"), `kubectl get secret lastcall-relay ${IN_NAMESPACE}`],
  LastcallRelayUnresponsive: [grepLogs("relay"), GET_PODS, `kubectl top pods ${IN_NAMESPACE}`],
  LastcallRelayRestarts: [grepLogs("relay"), `kubectl top pods ${IN_NAMESPACE}`],
  LastcallRelayRefuses: [
    grepLogs("refused|credential"),
    `kubectl get secret lastcall-relay ${IN_NAMESPACE}   # AGE: Pods older than the Secret need a restart`,
  ],
  LastcallDrainReportsRefused: [grepLogs("report"), `kubectl get secret lastcall-relay ${IN_NAMESPACE}`],
  LastcallImageUnpullable: [
    `${GET_EVENTS},reason=NotInjected --all-namespaces`,
    "kubectl get events --all-namespaces --field-selector=reason=Failed | grep lastcall",
  ],
  LastcallAbsent: [
    GET_PODS,
    `kubectl describe deployment lastcall-webhook ${IN_NAMESPACE}`,
    `kubectl get podmonitors,servicemonitors ${IN_NAMESPACE}`,
  ],
  LastcallNotEnforcing: [GET_ENFORCE_CONFIGURATION, grepLogs("enforcement")],
  LastcallEnforcementBlockedByQuota: [
    "kubectl describe resourcequotas --namespace default    # or selfTest.namespace; compare Used with Hard",
    grepLogs("exceeded quota|failed quota|insufficient quota"),
    GET_ENFORCE_CONFIGURATION,
  ],
  LastcallAdmissionsFail: [grepLogs('"level":50'), GET_PODS],
  LastcallAdmissionsSlow: [`kubectl top pods ${IN_NAMESPACE}`, GET_PODS],
  LastcallCertificateExpires: [grepLogs("certificate"), `kubectl get secrets,certificates ${IN_NAMESPACE}`],
  LastcallAuthorityExpires: [grepLogs("certificate|lastcall-ca"), `kubectl get secret lastcall-ca ${IN_NAMESPACE}`],
  LastcallNotTrusted: [
    grepLogs("caBundle"),
    "kubectl get mutatingwebhookconfiguration drain.lastcall.dev --output=yaml --show-managed-fields | grep -E 'caBundle|manager:'",
  ],
  LastcallCacheStale: [grepLogs("unreachable"), ...["namespaces", "nodes", "limitranges", "events"].map(canList)],
};
