import { describe, expect, test } from "vitest";
import { RULES } from "../../src/lint/lint.ts";
import { deployment, findingsIn, idsIn, idsWithProfiles, READINESS_PROBE, SERVICE } from "./manifests.ts";

type Case = {
  readonly rule: string;
  readonly title: string;
  readonly bad: readonly string[];
  readonly good: readonly string[];
};

const containerWithHook = (hook: string): string => `lifecycle: {preStop: {${hook}}}, ${READINESS_PROBE}`;
const ingress = (annotation: string): string => `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, annotations: {${annotation}}}
spec: {rules: [{http: {paths: [{path: /, backend: {service: {name: web, port: {number: 80}}}}]}}]}
`;
const budget = (spec: string): string => `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {selector: {matchLabels: {app: web}}, ${spec}}
`;
const autoscaler = (least: number): string => `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {minReplicas: ${least}, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
`;
const withoutHook = deployment({ container: READINESS_PROBE });
const deploymentWithShell = (script: string, program = "sh"): string =>
  deployment({ container: `${containerWithHook("sleep: {seconds: 5}")}, command: [${program}, -c, "${script}"]` });

/** Returns a Deployment whose Pod template has this metadata. */
const deploymentWithTemplateMetadata = (metadata: string): string =>
  deployment().replace("metadata: {labels: {app: web}}", `metadata: {${metadata}}`);
const namespace = (metadata: string): string =>
  `{apiVersion: v1, kind: Namespace, metadata: {name: default, ${metadata}}}`;
const cronJob = (ofJob: string, ofPod: string): string => `
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  jobTemplate:
    ${ofJob}
    spec:
      template:
        ${ofPod}
        spec: {restartPolicy: Never, containers: [{name: app, image: shop/job:1}]}
`;

const CASES: readonly Case[] = [
  {
    rule: "no-time-for-endpoints",
    title: "a container behind a Service does not have a hook",
    bad: [SERVICE, withoutHook],
    good: [SERVICE, deployment()],
  },
  {
    rule: "no-time-for-endpoints",
    title: "a container's hook sleeps 0 seconds",
    bad: [SERVICE, deployment({ container: containerWithHook("sleep: {seconds: 0}") })],
    good: [SERVICE, deployment({ container: containerWithHook("sleep: {seconds: 1}") })],
  },
  {
    rule: "no-time-for-endpoints",
    title: "the namespace has not opted in to lastcall",
    bad: [SERVICE, withoutHook, "{apiVersion: v1, kind: Namespace, metadata: {name: default}}"],
    good: [
      SERVICE,
      withoutHook,
      "{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {lastcall.dev/inject: enabled}}}",
    ],
  },
  {
    rule: "no-time-for-endpoints",
    title: "a container behind a Service that is not headless does not have a hook",
    bad: [SERVICE, withoutHook],
    good: [SERVICE.replace("spec:", "spec:\n  clusterIP: None"), withoutHook],
  },
  {
    rule: "no-time-for-endpoints",
    title: "a container behind a Service with a port that is not for metrics does not have a hook",
    bad: [SERVICE, withoutHook],
    good: [SERVICE.replace("name: http", "name: http-metrics"), withoutHook],
  },
  {
    rule: "no-grace",
    title: "the grace period of Pods behind a Service is 0",
    bad: [SERVICE, deployment({ pod: "terminationGracePeriodSeconds: 0" })],
    good: [deployment({ pod: "terminationGracePeriodSeconds: 0" })],
  },
  {
    rule: "sleep-exceeds-grace",
    title: "the sleep action takes the whole grace period",
    bad: [deployment({ container: containerWithHook("sleep: {seconds: 30}") })],
    good: [deployment({ container: containerWithHook("sleep: {seconds: 29}") })],
  },
  {
    rule: "sleep-exceeds-grace",
    title: "the sleeps of a script add up to the grace period",
    bad: [deployment({ container: containerWithHook('exec: {command: [sh, -c, "sleep 20; app stop && sleep 10"]}') })],
    good: [deployment({ container: containerWithHook('exec: {command: [sh, -c, "app stop || sleep 30"]}') })],
  },
  {
    rule: "sleep-exceeds-grace",
    title: "the grace period of the liveness probe is shorter than the hook",
    bad: [
      deployment({
        container: `${containerWithHook("sleep: {seconds: 10}")}, livenessProbe: {grpc: {port: 1}, terminationGracePeriodSeconds: 10}`,
      }),
    ],
    good: [
      deployment({
        container: `${containerWithHook("sleep: {seconds: 10}")}, livenessProbe: {grpc: {port: 1}, terminationGracePeriodSeconds: 11}`,
      }),
    ],
  },
  ...[
    ['nginx.ingress.kubernetes.io/proxy-read-timeout: "31"', 'nginx.ingress.kubernetes.io/proxy-read-timeout: "30"'],
    ["haproxy.org/timeout-server: 1m", "haproxy.org/timeout-server: 30s"],
    [
      'alb.ingress.kubernetes.io/target-group-attributes: "a=1,deregistration_delay.timeout_seconds=300"',
      'alb.ingress.kubernetes.io/target-group-attributes: "a=1,deregistration_delay.timeout_seconds=30"',
    ],
  ].map(([bad = "", good = ""]) => ({
    rule: "grace-below-ingress-timeout",
    title: `the ingress timeout of ${bad.split(":")[0]} exceeds the grace period`,
    bad: [SERVICE, deployment(), ingress(bad)],
    good: [SERVICE, deployment(), ingress(good)],
  })),
  {
    rule: "liveness-kills",
    title: "the liveness probe and the readiness probe use the same endpoint",
    bad: [
      SERVICE,
      deployment({
        container: `${containerWithHook("sleep: {seconds: 5}")}, livenessProbe: {httpGet: {path: /ready, port: 8080}}`,
      }),
    ],
    good: [
      SERVICE,
      deployment({
        container: `${containerWithHook("sleep: {seconds: 5}")}, livenessProbe: {httpGet: {path: /live, port: 8080}}`,
      }),
    ],
  },
  {
    rule: "liveness-kills",
    title: "the liveness probe fails no later than the readiness probe",
    bad: [
      SERVICE,
      deployment({
        container: `${containerWithHook("sleep: {seconds: 5}")}, livenessProbe: {failureThreshold: 3, httpGet: {path: /ready, port: 8080}}`,
      }),
    ],
    good: [
      SERVICE,
      deployment({
        container: `${containerWithHook("sleep: {seconds: 5}")}, livenessProbe: {failureThreshold: 4, httpGet: {path: /ready, port: 8080}}`,
      }),
    ],
  },
  {
    rule: "shell-hides-signals",
    title: "a shell starts the app without exec",
    bad: [deploymentWithShell("prepare; ./app")],
    good: [deploymentWithShell("prepare; exec ./app")],
  },
  {
    rule: "shell-hides-signals",
    title: "a shell waits without a trap",
    bad: [deploymentWithShell("./app & wait")],
    good: [deploymentWithShell("trap stop TERM; ./app & wait")],
  },
  {
    rule: "shell-hides-signals",
    title: "sh, unlike bash, stays PID 1 and does not forward signals",
    bad: [deploymentWithShell("./app")],
    good: [deploymentWithShell("./app", "bash")],
  },
  {
    rule: "shell-hides-signals",
    title: "bash starts the app before a pipe",
    bad: [deploymentWithShell("./app | tee log", "bash")],
    good: [deploymentWithShell("./app || report", "bash")],
  },
  {
    rule: "shell-hides-signals",
    title: "a shell sleeps and then starts an app without exec",
    bad: [deploymentWithShell("sleep 5; ./app")],
    good: [deploymentWithShell("while true; do sleep 60; done")],
  },
  ...[
    ["nginx:1.18", "nginx:1.20"],
    ["docker.io/library/nginx:1.19.4-alpine", "docker.io/library/nginx:1.19.5-alpine"],
    ["httpd:2.4.39", "httpd:2.4.41"],
    ["php:5.6-fpm", "php:5.6-cli"],
    ["php:7.0-fpm", "php:8.3-fpm"],
    ["haproxy:1.7.5", "haproxy:1.7"],
    ["envoyproxy/envoy:v1.36.0", "registry.example.com/envoy:v1.36.0"],
  ].map(([bad = "", good = ""]) => ({
    rule: "stop-signal",
    title: `SIGTERM is not the graceful signal of ${bad}, unlike ${good}`,
    bad: [deployment({ image: bad })],
    good: [deployment({ image: good })],
  })),
  {
    rule: "stop-signal",
    title: "SIGTERM is not the server's graceful signal, and no hook stops the server",
    bad: [deployment({ image: "nginx:1.18", container: containerWithHook("exec: {command: [sleep, '5']}") })],
    good: [deployment({ image: "nginx:1.18", container: containerWithHook("exec: {command: [nginx, -s, quit]}") })],
  },
  {
    rule: "stop-signal",
    title: "the container's stopSignal is not the server's graceful signal",
    bad: [deployment({ image: "nginx:1.29", container: "lifecycle: {stopSignal: SIGTERM}" })],
    good: [deployment({ image: "nginx:1.29", container: "lifecycle: {stopSignal: SIGQUIT}" })],
  },
  {
    rule: "rollout-stops-all",
    title: "the rollout strategy is Recreate",
    bad: [SERVICE, deployment({ spec: "strategy: {type: Recreate}" })],
    good: [SERVICE, deployment({ spec: "strategy: {type: RollingUpdate}" })],
  },
  {
    rule: "rollout-stops-all",
    title: "maxUnavailable of a rollout is all replicas",
    bad: [SERVICE, deployment({ spec: "strategy: {rollingUpdate: {maxUnavailable: 1}}" })],
    good: [
      SERVICE,
      deployment({
        spec: "{replicas: 2, strategy: {rollingUpdate: {maxUnavailable: 1}}}".slice(1, -1).replace(", ", "\n  "),
      }),
    ],
  },
  {
    rule: "rollout-stops-all",
    title: "a percentage of maxUnavailable or maxSurge rounds to 0",
    bad: [SERVICE, deployment({ spec: "strategy: {rollingUpdate: {maxUnavailable: 25%, maxSurge: 0}}" })],
    good: [SERVICE, deployment({ spec: "strategy: {rollingUpdate: {maxUnavailable: 25%, maxSurge: 1}}" })],
  },
  {
    rule: "rollout-stops-all",
    title: "maxUnavailable is not less than an autoscaler's minimum",
    bad: [SERVICE, autoscaler(1), deployment({ spec: "strategy: {rollingUpdate: {maxUnavailable: 1}}" })],
    good: [SERVICE, autoscaler(2), deployment({ spec: "strategy: {rollingUpdate: {maxUnavailable: 1}}" })],
  },
  {
    rule: "no-readiness",
    title: "a container behind a Service does not have a readiness probe",
    bad: [SERVICE, deployment({ container: "lifecycle: {preStop: {sleep: {seconds: 5}}}" })],
    good: [SERVICE, deployment()],
  },
  {
    rule: "budget-blocks-eviction",
    title: "maxUnavailable of a disruption budget is 0",
    bad: [budget("maxUnavailable: 0")],
    good: [budget("maxUnavailable: 1%")],
  },
  {
    rule: "budget-blocks-eviction",
    title: "minAvailable of a disruption budget is 100%",
    bad: [budget('minAvailable: "100%"')],
    good: [budget('minAvailable: "99%"')],
  },
  {
    rule: "budget-blocks-eviction",
    title: "minAvailable of a disruption budget equals the replicas",
    bad: [deployment(), budget("minAvailable: 2")],
    good: [deployment(), budget("minAvailable: 1")],
  },
  {
    rule: "budget-blocks-eviction",
    title: "a percentage of minAvailable rounds up to the replicas",
    bad: [deployment(), budget("minAvailable: 51%")],
    good: [deployment(), budget("minAvailable: 50%")],
  },
  {
    rule: "hook-tcp-socket",
    title: "a hook has the handler tcpSocket, which the kubelet does not run",
    bad: [deployment({ container: containerWithHook("tcpSocket: {port: 8080}") })],
    good: [deployment({ container: containerWithHook("httpGet: {port: 8080}") })],
  },
  {
    rule: "hook-port",
    title: "a hook uses an undeclared port name",
    bad: [deployment({ container: containerWithHook("httpGet: {port: admin}") })],
    good: [deployment({ container: containerWithHook("httpGet: {port: http}") })],
  },
  {
    rule: "hook-port",
    title: "a hook uses an undeclared port name with hostNetwork",
    bad: [deployment({ pod: "hostNetwork: true", container: containerWithHook("httpGet: {port: http}") })],
    good: [
      deployment({ pod: "hostNetwork: true", container: containerWithHook("httpGet: {port: http, host: 127.0.0.1}") }),
    ],
  },
  {
    rule: "hook-without-shell",
    title: "a hook runs a shell in a distroless image without debug tools",
    bad: [
      deployment({
        image: "gcr.io/distroless/java21:latest",
        container: containerWithHook("exec: {command: [sleep, '5']}"),
      }),
    ],
    good: [
      deployment({
        image: "gcr.io/distroless/java21:debug",
        container: containerWithHook("exec: {command: [sleep, '5']}"),
      }),
    ],
  },
  {
    rule: "kept-streams",
    title: "the name of a port declares HTTP/2",
    bad: [SERVICE.replace("name: http", "name: grpc-shop"), deployment()],
    good: [SERVICE, deployment()],
  },
  {
    rule: "kept-streams",
    title: "appProtocol, which overrides the port name, declares HTTP/2",
    bad: [SERVICE.replace("port: 80,", "port: 80, appProtocol: kubernetes.io/h2c,"), deployment()],
    good: [
      SERVICE.replace("name: http", "name: grpc").replace("port: 80,", "port: 80, appProtocol: http,"),
      deployment(),
    ],
  },
  ...[
    { title: "a misspelt annotation", bad: "lastcall.dev/drian-delay: 5s", good: "lastcall.dev/drain-delay: 5s" },
    {
      title: "a duration without a unit",
      bad: "lastcall.dev/drain-timeout: '90'",
      good: "lastcall.dev/drain-timeout: 90s",
    },
    { title: "an unknown profile", bad: "lastcall.dev/profile: spott", good: "lastcall.dev/profile: spot" },
  ].map(({ title, bad, good }) => ({
    rule: "lastcall-setting",
    title: `${title} on a Pod template`,
    bad: [deploymentWithTemplateMetadata(`annotations: {${bad}}`)],
    good: [deploymentWithTemplateMetadata(`annotations: {${good}}`)],
  })),
  {
    rule: "lastcall-setting",
    title: "an opt-in label with the value of another injector",
    bad: [deploymentWithTemplateMetadata("labels: {lastcall.dev/inject: 'true'}")],
    good: [deploymentWithTemplateMetadata("labels: {lastcall.dev/inject: enabled, lastcall.dev/revision: canary}")],
  },
  {
    rule: "lastcall-setting",
    title: "an annotation as a label",
    bad: [deploymentWithTemplateMetadata("labels: {lastcall.dev/drain-delay: 5s}")],
    good: [
      deploymentWithTemplateMetadata("annotations: {lastcall.dev/drain-delay: 5s, lastcall.dev/status: injected}"),
    ],
  },
  {
    rule: "lastcall-setting",
    title: "an annotation on the workload that the Pod template does not have",
    bad: [deployment({ annotations: "lastcall.dev/drain-delay: 5s" })],
    good: [
      deploymentWithTemplateMetadata("annotations: {lastcall.dev/drain-delay: 5s}").replace(
        "annotations: {}",
        "annotations: {lastcall.dev/drain-delay: 5s}",
      ),
    ],
  },
  {
    rule: "lastcall-setting",
    title: "an annotation on the template of a CronJob's Jobs",
    bad: [cronJob("metadata: {annotations: {lastcall.dev/mode: native}}", "")],
    good: [cronJob("", "metadata: {annotations: {lastcall.dev/mode: native}}")],
  },
  {
    rule: "lastcall-setting",
    title: "a label of a namespace that does not opt in",
    bad: [namespace("labels: {lastcall.dev/inject: 'true'}")],
    good: [namespace("labels: {lastcall.dev/inject: disabled}")],
  },
  {
    rule: "lastcall-setting",
    title: "an annotation of a namespace that does not opt in",
    bad: [namespace("annotations: {lastcall.dev/inject: enabled}")],
    good: [namespace("annotations: {lastcall.dev/drain-delay: 9s}")],
  },
  {
    rule: "lastcall-setting",
    title: "an annotation that opts in without any label",
    bad: [namespace("labels: {}"), deploymentWithTemplateMetadata("annotations: {lastcall.dev/inject: enabled}")],
    good: [
      namespace("labels: {lastcall.dev/inject: enabled}"),
      deploymentWithTemplateMetadata("annotations: {lastcall.dev/inject: enabled}"),
    ],
  },
];

describe("lint", () => {
  test.for(CASES)("reports the finding $rule for manifests with the mistake: $title", ({ rule, bad, good }) => {
    expect(idsIn(...bad)).toContain(rule);
    expect(idsIn(...good)).not.toContain(rule);
  });

  test("does not report a finding for a Deployment that shuts down gracefully", () => {
    expect(findingsIn(SERVICE, deployment(), budget("maxUnavailable: 1"))).toEqual([]);
  });

  test("does not report a finding for Pods that run to completion", () => {
    const job = withoutHook.replace("apps/v1", "batch/v1").replace("Deployment", "Job");
    expect(idsIn(SERVICE, job)).toEqual([]);
  });
});

describe("lint reports an invalid setting of lastcall", () => {
  test("with the path of the annotation", () => {
    const findings = findingsIn(deploymentWithTemplateMetadata("annotations: {lastcall.dev/drian-delay: 5s}"));
    expect(findings.map(({ path, value, message }) => ({ path, value, message }))).toEqual([
      {
        path: ["spec", "template", "metadata", "annotations", "lastcall.dev/drian-delay"],
        value: "5s",
        message: '"lastcall.dev/drian-delay" is unknown; did you mean lastcall.dev/drain-delay?',
      },
    ]);
  });

  test("unless it is the name of a profile of the cluster configuration", () => {
    const text = deploymentWithTemplateMetadata("annotations: {lastcall.dev/profile: slow}");
    expect(idsIn(text)).toEqual(["lastcall-setting"]);
    expect(idsWithProfiles({ slow: { "drain-delay": "20s" } }, text)).toEqual([]);
  });
});

test("every lint rule has a case", () => {
  expect(new Set(CASES.map(({ rule }) => rule))).toEqual(new Set(RULES.map(({ id }) => id)));
});

describe("an ignore-check annotation disables", () => {
  test("one lint rule for one object", () => {
    const silenced = deployment({
      container: "",
      annotations: "ignore-check.lastcall.dev/no-readiness: starts at once",
    });
    expect(idsIn(SERVICE, silenced)).toEqual(["no-time-for-endpoints"]);
  });

  test("one lint rule from the Pod template", () => {
    const silenced = withoutHook.replace(
      "{labels: {app: web}}",
      "{labels: {app: web}, annotations: {ignore-check.lastcall.dev/no-time-for-endpoints: ''}}",
    );
    expect(idsIn(SERVICE, silenced)).toEqual([]);
  });
});
