/** Defines the programs and flags of the control plane. All run on n1: its kube-proxy forwards the API server's webhook calls. */
import { join } from "node:path";
import { API_SERVICE_ADDRESS, NODES, SERVICE_NETWORK } from "./addresses.ts";
import type { Component } from "./component.ts";
import type { StateFolder } from "./state-folder.ts";
import { writeAdmissionConfiguration } from "./webhook-client.ts";

/** The folders of the programs. */
export type ProgramFolders = { readonly kubernetes: string; readonly containerd: string; readonly etcd: string };

const ETCD_URL = "http://127.0.0.1:2379";

/** Returns the programs that start together first; the API server retries until etcd responds. */
export function etcdAndApiServer(programs: ProgramFolders, state: StateFolder): readonly Component[] {
  const pkiFile = (name: string) => join(state.pkiFolder, name);
  return [
    {
      name: "etcd",
      node: "n1",
      program: join(programs.etcd, "etcd"),
      flags: [
        `--data-dir=${join(state.root, "etcd")}`,
        // The data need not survive a crash of the host.
        "--unsafe-no-fsync",
        `--listen-client-urls=${ETCD_URL}`,
        `--advertise-client-urls=${ETCD_URL}`,
        "--listen-peer-urls=http://127.0.0.1:2380",
      ],
    },
    {
      name: "kube-apiserver",
      node: "n1",
      program: join(programs.kubernetes, "kube-apiserver"),
      flags: [
        `--etcd-servers=${ETCD_URL}`,
        `--service-cluster-ip-range=${SERVICE_NETWORK}`,
        `--advertise-address=${NODES[0].address}`,
        "--bind-address=0.0.0.0",
        "--secure-port=6443",
        `--cert-dir=${state.pkiFolder}`,
        `--tls-cert-file=${pkiFile("apiserver.crt")}`,
        `--tls-private-key-file=${pkiFile("apiserver.key")}`,
        `--client-ca-file=${pkiFile("ca.crt")}`,
        `--kubelet-client-certificate=${pkiFile("apiserver-kubelet.crt")}`,
        `--kubelet-client-key=${pkiFile("apiserver-kubelet.key")}`,
        `--kubelet-certificate-authority=${pkiFile("ca.crt")}`,
        "--kubelet-preferred-address-types=InternalIP",
        `--service-account-key-file=${pkiFile("sa.pub")}`,
        `--service-account-signing-key-file=${pkiFile("sa.key")}`,
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        `--admission-control-config-file=${writeAdmissionConfiguration(state.pkiFolder)}`,
        "--allow-privileged=true",
      ],
    },
  ];
}

/** Returns the programs that start once the API server is ready. */
export function controllerManagerAndScheduler(programs: ProgramFolders, state: StateFolder): readonly Component[] {
  const pkiFile = (name: string) => join(state.pkiFolder, name);
  const identityFlags = (name: string) =>
    ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"].map(
      (flag) => `--${flag}=${pkiFile(`${name}.kubeconfig`)}`,
    );
  return [
    {
      name: "kube-controller-manager",
      node: "n1",
      program: join(programs.kubernetes, "kube-controller-manager"),
      flags: [
        ...identityFlags("controller-manager"),
        `--service-account-private-key-file=${pkiFile("sa.key")}`,
        `--root-ca-file=${pkiFile("ca.crt")}`,
        `--cluster-signing-cert-file=${pkiFile("ca.crt")}`,
        `--cluster-signing-key-file=${pkiFile("ca.key")}`,
        "--use-service-account-credentials",
        // At the default of 20 requests a second the controllers start 5 s later, and until then namespaces do not get a ServiceAccount.
        "--kube-api-qps=1000",
        "--kube-api-burst=1000",
        "--leader-elect=false",
        "--allocate-node-cidrs=false",
        "--cert-dir=/run/controller-manager",
      ],
    },
    {
      name: "kube-scheduler",
      node: "n1",
      program: join(programs.kubernetes, "kube-scheduler"),
      flags: [...identityFlags("scheduler"), "--leader-elect=false", "--cert-dir=/run/scheduler"],
    },
  ];
}

/** The address of the API server for Pods. */
export const API_URL_IN_PODS = `https://${API_SERVICE_ADDRESS}`;
