/** Configures Envoy as Envoy Gateway does: a listener for each protocol, the admin interface on loopback. */
import { buildCluster, filter, type HttpStats, httpFilter, tcpAt, udpAt } from "./envoy-parts.ts";
import { PROXY_PORTS, UPSTREAM_PORTS } from "./upstream-ports.ts";

export type EnvoyOptions = {
  readonly upstream: string;
  /** Restricts the statistics to server statistics and gauges of connections, as meshes do to save memory. */
  readonly fewStatistics: boolean;
  readonly certificate: { readonly chain: string; readonly key: string };
};

const WEB_STATS: HttpStats = { prefix: "web", codec: "AUTO" };
const HTTP3_STATS: HttpStats = { prefix: "h3", codec: "HTTP3" };

export function envoyConfig({ upstream, fewStatistics, certificate }: EnvoyOptions): object {
  const matcher = { inclusion_list: { patterns: [{ prefix: "server" }, { suffix: "downstream_cx_active" }] } };
  return {
    ...(fewStatistics ? { stats_config: { stats_matcher: matcher } } : {}),
    admin: { address: tcpAt("127.0.0.1", PROXY_PORTS.admin) },
    static_resources: {
      listeners: [
        {
          name: "web",
          address: tcpAt("0.0.0.0", PROXY_PORTS.web),
          filter_chains: [{ filters: [httpFilter(WEB_STATS, ROUTES)] }],
        },
        {
          name: "raw",
          address: tcpAt("0.0.0.0", PROXY_PORTS.tcp),
          filter_chains: [
            { filters: [filter("tcp_proxy", "tcp_proxy.v3.TcpProxy", { stat_prefix: "raw", cluster: "tcp" })] },
          ],
        },
        udpListener(),
        http3Listener(certificate),
        {
          name: "ready",
          address: tcpAt("0.0.0.0", PROXY_PORTS.ready),
          filter_chains: [{ filters: [readinessListener()] }],
        },
      ],
      clusters: [
        buildCluster("web", tcpAt(upstream, UPSTREAM_PORTS.http1)),
        buildCluster("grpc", tcpAt(upstream, UPSTREAM_PORTS.http2), "http2"),
        buildCluster("tcp", tcpAt(upstream, UPSTREAM_PORTS.tcp)),
        buildCluster("udp", udpAt(upstream, UPSTREAM_PORTS.udp)),
      ],
    },
  };
}

const ROUTES = [
  { match: { prefix: "/lastcall.test.Upstream/" }, route: { cluster: "grpc", timeout: "0s" } },
  { match: { prefix: "/" }, route: { cluster: "web", timeout: "0s" } },
];

function readinessListener(): object {
  const notFoundRoutes = [{ match: { prefix: "/" }, direct_response: { status: 404 } }];
  const healthCheckFilter = {
    name: "envoy.filters.http.health_check",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.health_check.v3.HealthCheck",
      pass_through_mode: false,
      headers: [{ name: ":path", string_match: { exact: "/ready" } }],
    },
  };
  return httpFilter({ prefix: "eg-ready-http", codec: "AUTO" }, notFoundRoutes, [healthCheckFilter]);
}

function udpListener(): object {
  const route = {
    name: "route",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.udp.udp_proxy.v3.Route",
      cluster: "udp",
    },
  };
  const proxy = {
    "@type": "type.googleapis.com/envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig",
    stat_prefix: "datagrams",
    matcher: { on_no_match: { action: route } },
  };
  return {
    name: "datagrams",
    address: udpAt("0.0.0.0", PROXY_PORTS.udp),
    listener_filters: [{ name: "envoy.filters.udp_listener.udp_proxy", typed_config: proxy }],
  };
}

/** `MODIFY_ONLY` as in Envoy Gateway: a failed health check does not drain this listener. */
function http3Listener({ chain, key }: EnvoyOptions["certificate"]): object {
  const tls = {
    "@type": "type.googleapis.com/envoy.extensions.transport_sockets.quic.v3.QuicDownstreamTransport",
    downstream_tls_context: {
      common_tls_context: {
        tls_certificates: [{ certificate_chain: { filename: chain }, private_key: { filename: key } }],
        alpn_protocols: ["h3"],
      },
    },
  };
  return {
    name: "http3",
    address: udpAt("0.0.0.0", PROXY_PORTS.http3),
    drain_type: "MODIFY_ONLY",
    udp_listener_config: { quic_options: {}, downstream_socket_config: { prefer_gro: true } },
    filter_chains: [
      {
        transport_socket: { name: "envoy.transport_sockets.quic", typed_config: tls },
        filters: [httpFilter(HTTP3_STATS, ROUTES)],
      },
    ],
  };
}
