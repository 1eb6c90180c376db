/** Defines the configurations of the proxies, which listen on 8080 and forward all requests except /healthz to the upstream. */
import { UPSTREAM_ADDRESS } from "../harness/roll-request.ts";

const KEEP_ALIVE_SECONDS = 75;

export const NGINX = `
daemon off;
user root;
worker_processes 2;
pid nginx.pid;
error_log stderr error;
events { worker_connections 512; }
http {
  access_log off;
  keepalive_timeout ${KEEP_ALIVE_SECONDS}s;
  keepalive_requests 100000;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {
    listen 8080;
    location = /healthz { return 200 "ok\\n"; }
    location / { proxy_pass http://${UPSTREAM_ADDRESS}; }
  }
}
`;

export const HAPROXY = `
global
  maxconn 1000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout http-keep-alive ${KEEP_ALIVE_SECONDS}s
frontend web
  bind :8080
  monitor-uri /healthz
  default_backend upstream
backend upstream
  server only ${UPSTREAM_ADDRESS}
`;

export const APACHE = `
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so
LoadModule proxy_http_module /usr/lib/apache2/modules/mod_proxy_http.so
ServerName web
Listen 8080
User www-data
Group www-data
PidFile \${FOLDER}/apache.pid
DefaultRuntimeDir \${FOLDER}
ErrorLog "|/bin/cat 1>&2"
KeepAlive On
KeepAliveTimeout ${KEEP_ALIVE_SECONDS}
MaxKeepAliveRequests 0
ProxyPass / http://${UPSTREAM_ADDRESS}/ disablereuse=On
`;

const [UPSTREAM_HOST, UPSTREAM_PORT] = UPSTREAM_ADDRESS.split(":");

export const LIGHTTPD = `
server.modules = ("mod_proxy")
server.port = 8080
server.document-root = "/var/empty"
server.max-keep-alive-idle = ${KEEP_ALIVE_SECONDS}
server.max-keep-alive-requests = 100000
proxy.server = ("" => (("host" => "${UPSTREAM_HOST}", "port" => ${UPSTREAM_PORT})))
`;

export const CADDY = `
{
  admin off
  auto_https off
  log {
    level ERROR
  }
}
:8080 {
  respond /healthz 200
  reverse_proxy ${UPSTREAM_ADDRESS}
}
`;

export const NGINX_H2 = NGINX.replace("listen 8080;", "listen 8080 http2;");
export const HAPROXY_H2 = HAPROXY.replace("bind :8080", "bind :8080 proto h2");
export const APACHE_H2 = `LoadModule http2_module /usr/lib/apache2/modules/mod_http2.so${APACHE}Protocols h2c http/1.1\n`;
export const CADDY_H2 = CADDY.replace("admin off", "admin off\n  servers {\n    protocols h1 h2c\n  }");
