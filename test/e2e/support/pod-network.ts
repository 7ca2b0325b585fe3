import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { ServerFlags } from '../../envtest/flags.ts';

/** Of every pod; no machine has it (RFC 5737). */
export const podAddress = '192.0.2.10';

export interface PodNetwork {
  /** For the kube-apiserver that is to reach pods through it. */
  readonly flags: ServerFlags;
  close(): Promise<void>;
}

/**
 * The network of pods as kube-apiserver reaches it: a proxy on a Unix socket (`EgressSelectorConfiguration`), which takes each address for this machine's
 * loopback. kube-apiserver itself connects to no loopback address of a pod (`IsProxyableIP` of k8s.io/kubernetes/pkg/proxy/util).
 */
export const openPodNetwork = async (directory: string): Promise<PodNetwork> => {
  const socket = join(directory, 'pods.sock');
  const server = createServer();
  server.on('connect', ({ url = '' }, client) => {
    const pod = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(pod).pipe(client);
    });
    pod.on('error', () => client.destroy());
    client.on('error', () => pod.destroy());
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
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
