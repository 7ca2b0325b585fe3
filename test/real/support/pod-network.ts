import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { TestClient } from '../../envtest/client.ts';
import type { ServerFlags } from '../../envtest/flags.ts';

/** Address of every pod. No machine has it (RFC 5737). */
const podAddress = '192.0.2.10';

export interface ProberPod {
  readonly name: string;
  readonly healthPort: number;
  readonly nodeName?: string;
}

/** Creates the pod of a prober that runs as a process of this machine. */
export const createProberPod = async (seed: TestClient, { name, healthPort, nodeName }: ProberPod): Promise<void> => {
  const pods = '/api/v1/namespaces/garden/pods';
  const ports = [{ name: 'health', containerPort: healthPort }];
  await seed.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'garden', labels: { app: 'dwd-prober' } },
    spec: { nodeName, containers: [{ name: 'dwd', image: 'registry.example/dwd:0.1.0', ports }] },
  });
  const status = { podIP: podAddress, podIPs: [{ ip: podAddress }], conditions: [{ type: 'Ready', status: 'True' }] };
  await seed.patch(`${pods}/${name}/status`, { status });
};

export interface PodNetwork {
  /** Flags for the kube-apiserver that reaches pods through this network. */
  readonly flags: ServerFlags;
  close(): Promise<void>;
}

/**
 * Opens the pod network for kube-apiserver: a proxy on a Unix socket (`EgressSelectorConfiguration`) that replaces every address by this
 * machine's loopback address. kube-apiserver itself connects to no loopback address of a pod (`IsProxyableIP` of k8s.io/kubernetes/pkg/proxy/util).
 */
export const openPodNetwork = async (): Promise<PodNetwork> => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-pods-'));
  const socket = join(directory, 'pods.sock');
  const server = createServer();
  const tunnels = new Set<Duplex>();
  server.on('connect', ({ url = '' }, client) => {
    const pod = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(pod).pipe(client);
    });
    pod.on('error', () => client.destroy());
    tunnels.add(client);
    client.on('error', () => pod.destroy());
    client.on('close', () => {
      tunnels.delete(client);
      pod.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const file = join(directory, 'egress.json');
  const connection = { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName: socket } } };
  const config = {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [{ name: 'cluster', connection }],
  };
  writeFileSync(file, JSON.stringify(config));
  return {
    flags: { 'egress-selector-config-file': file },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          rmSync(directory, { recursive: true, force: true });
          resolve();
        });
        server.closeAllConnections();
        for (const tunnel of tunnels) tunnel.destroy();
      }),
  };
};
