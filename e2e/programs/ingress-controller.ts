/**
 * A fake controller of ingress-nginx: a real nginx on port 80 with a fixed configuration, `/healthz`
 * on port 10254, and nginx's graceful shutdown at SIGTERM. It ignores its flags.
 */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";

const CONFIG_FILE = "/tmp/nginx.conf";
const pathDirectives = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
  (name) => `${name}_temp_path /tmp/${name};`,
);

mkdirSync("/tmp", { recursive: true });
mkdirSync("/etc", { recursive: true });
// nginx resolves its user, and the image has no user database.
writeFileSync("/etc/passwd", "root:x:0:0::/:/\n");
writeFileSync("/etc/group", "root:x:0:\n");
writeFileSync(
  CONFIG_FILE,
  `daemon off; user root; worker_processes 1; pid /tmp/nginx.pid; events {}
http {
  access_log off; ${pathDirectives.join(" ")}
  server { listen 80; location / { return 200 "hello\\n"; } }
  server { listen 10254; location = /healthz { return 200 "ok\\n"; } }
}
`,
);
const nginx = spawn("/bin/nginx", ["-e", "stderr", "-c", CONFIG_FILE], { stdio: "inherit" });
nginx.once("exit", (status) => process.exit(status ?? 1));
process.once("SIGTERM", () => void nginx.kill("SIGQUIT"));
