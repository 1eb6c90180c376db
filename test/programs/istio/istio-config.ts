/**
 * Configures Envoy as Istio's agent and control plane do for a sidecar, reduced to one app that calls one service: redirected
 * inbound and outbound traffic, 127.0.0.6 as the source address of inbound traffic, the listeners of the agent.
 */
import { buildCluster, filter, httpFilter, tcpAt } from "../envoy/envoy-parts.ts";
import { UPSTREAM_PORTS } from "../envoy/upstream-ports.ts";
import { APP_PORT, ISTIO_PORTS } from "./istio-ports.ts";

export type IstioOptions = {
  readonly upstream: string;
  /** `cut`: Istio's default, which excludes most statistics; `all`: a `proxyStatsMatcher` that matches everything. */
  readonly statistics: "cut" | "all";
};

export const ISTIO_ARGUMENTS: readonly string[] = [
  ...["--drain-time-s", "45", "--drain-strategy", "immediate", "--local-address-ip-version", "v4"],
  ...["--file-flush-interval-msec", "1000", "--disable-hot-restart", "--allow-unknown-static-fields"],
  ...["-l", "error", "--component-log-level", "misc:error", "--skip-deprecated-logs", "--concurrency", "2"],
];

const DEFAULT_STATISTICS = [
  ...["cluster_manager", "listener_manager", "server", "cluster.xds-grpc", "wasm"].map((prefix) => ({ prefix })),
  { suffix: "downstream_cx_active" },
];

export function istioConfig({ upstream, statistics }: IstioOptions): object {
  return {
    ...(statistics === "cut"
      ? { stats_config: { stats_matcher: { inclusion_list: { patterns: DEFAULT_STATISTICS } } } }
      : {}),
    admin: { address: tcpAt("127.0.0.1", ISTIO_PORTS.admin) },
    static_resources: {
      listeners: [...agentListeners(), virtualOutbound(), serviceListener(), virtualInbound()],
      clusters: [
        buildCluster("prometheus_stats", tcpAt("127.0.0.1", ISTIO_PORTS.admin)),
        buildCluster(OUTBOUND_CLUSTER, tcpAt(upstream, UPSTREAM_PORTS.http1)),
        originalDestination("PassthroughCluster"),
        originalDestination(INBOUND_CLUSTER, "127.0.0.6"),
      ],
    },
  };
}

const OUTBOUND_CLUSTER = `outbound|${UPSTREAM_PORTS.http1}||upstream.shop.svc.cluster.local`;
const INBOUND_CLUSTER = `inbound|${APP_PORT}||`;

/** Listeners for Prometheus and for readiness probes. Envoy responds to the probes, because the agent does not run. */
function agentListeners(): readonly object[] {
  const metricsRoutes = [
    {
      match: { prefix: "/stats/prometheus" },
      route: { cluster: "prometheus_stats" },
    },
  ];
  const healthRoutes = [{ match: { prefix: "/healthz/ready" }, direct_response: { status: 200 } }];
  return [
    {
      address: tcpAt("0.0.0.0", ISTIO_PORTS.stats),
      filter_chains: [{ filters: [httpFilter(httpStats("stats"), metricsRoutes)] }],
    },
    {
      address: tcpAt("0.0.0.0", ISTIO_PORTS.status),
      filter_chains: [{ filters: [httpFilter(httpStats("agent"), healthRoutes)] }],
    },
  ];
}

function virtualOutbound(): object {
  return {
    name: "virtualOutbound",
    traffic_direction: "OUTBOUND",
    use_original_dst: true,
    address: tcpAt("0.0.0.0", ISTIO_PORTS.outbound),
    filter_chains: [{ filters: [passthrough("PassthroughCluster")] }],
  };
}

function serviceListener(): object {
  const routes = [{ match: { prefix: "/" }, route: { cluster: OUTBOUND_CLUSTER, timeout: "0s" } }];
  return {
    name: `0.0.0.0_${UPSTREAM_PORTS.http1}`,
    traffic_direction: "OUTBOUND",
    bind_to_port: false,
    address: tcpAt("0.0.0.0", UPSTREAM_PORTS.http1),
    filter_chains: [{ filters: [httpFilter(httpStats(`outbound_0.0.0.0_${UPSTREAM_PORTS.http1};`), routes)] }],
  };
}

function virtualInbound(): object {
  const listenerFilter = (name: string, type: string) => ({
    name: `envoy.filters.listener.${name}`,
    typed_config: { "@type": `type.googleapis.com/envoy.extensions.filters.listener.${name}.v3.${type}` },
  });
  const routes = [{ match: { prefix: "/" }, route: { cluster: INBOUND_CLUSTER, timeout: "0s" } }];
  return {
    name: "virtualInbound",
    traffic_direction: "INBOUND",
    address: tcpAt("0.0.0.0", ISTIO_PORTS.inbound),
    listener_filters: [
      listenerFilter("original_dst", "OriginalDst"),
      listenerFilter("tls_inspector", "TlsInspector"),
      listenerFilter("http_inspector", "HttpInspector"),
    ],
    filter_chains: [
      {
        filter_chain_match: { destination_port: APP_PORT },
        filters: [httpFilter(httpStats(`inbound_0.0.0.0_${APP_PORT};`), routes)],
      },
    ],
    default_filter_chain: { filters: [passthrough(INBOUND_CLUSTER)] },
  };
}

function httpStats(prefix: string) {
  return { prefix, codec: "AUTO" as const };
}

function passthrough(cluster: string): object {
  return filter("tcp_proxy", "tcp_proxy.v3.TcpProxy", { stat_prefix: cluster, cluster });
}

function originalDestination(name: string, source?: string): object {
  const bindConfig = { upstream_bind_config: { source_address: { address: source, port_value: 0 } } };
  return {
    name,
    type: "ORIGINAL_DST",
    lb_policy: "CLUSTER_PROVIDED",
    ...(source === undefined ? {} : bindConfig),
  };
}
