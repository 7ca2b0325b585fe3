import { request } from 'node:https';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlPlane } from './control-plane.ts';
import { type ServerFlags, toArguments } from './flags.ts';
import { type ManagedProcess, freePorts, startProcess, untilReady } from './processes.ts';

export interface ControllerManagerOptions {
  /** Seconds without a renewed lease or status after which a node becomes Unknown; by default 50, as in Kubernetes. */
  readonly nodeMonitorGracePeriodSeconds?: number;
  /** Seconds between two checks of all nodes; by default 1, in Kubernetes 5. */
  readonly nodeMonitorPeriodSeconds?: number;
  /** Names as in `kube-controller-manager --help`; by default only node-lifecycle-controller. */
  readonly controllers?: readonly string[];
  /** Other flags, without the dashes; they override the helper's own. */
  readonly flags?: ServerFlags;
}

/**
 * Starts a real kube-controller-manager as the admin, without leader election. Resolves when it is healthy. Stop it before the control
 * plane, whose directory holds its files.
 */
export async function startControllerManager(
  controlPlane: ControlPlane,
  options: ControllerManagerOptions = {},
): Promise<Pick<ManagedProcess, 'pid' | 'stop' | 'logTail'>> {
  const [port] = await freePorts(1);
  const directory = join(controlPlane.directory, `kube-controller-manager-${String(port)}`);
  mkdirSync(directory);
  const flags: ServerFlags = {
    kubeconfig: controlPlane.admin.kubeconfig.file,
    'leader-elect': 'false',
    controllers: (options.controllers ?? ['node-lifecycle-controller']).join(','),
    'bind-address': '127.0.0.1',
    'secure-port': String(port),
    'cert-dir': directory,
    'node-monitor-period': `${String(options.nodeMonitorPeriodSeconds ?? 1)}s`,
    'node-monitor-grace-period': `${String(options.nodeMonitorGracePeriodSeconds ?? 50)}s`,
    ...options.flags,
  };
  const started = await startProcess({
    name: 'kube-controller-manager',
    command: controlPlane.binaries.path('kube-controller-manager'),
    args: toArguments(flags),
    logFile: join(directory, 'kube-controller-manager.log'),
    directory,
  });
  try {
    await untilReady(started, () => isHealthy(port!));
  } catch (error) {
    await started.stop();
    throw error;
  }
  return started;
}

/** True if `/healthz` returns 200. The certificate is not verified: the process has just made it for itself. */
function isHealthy(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const outgoing = request({ host: '127.0.0.1', port, path: '/healthz', rejectUnauthorized: false, agent: false });
    outgoing.once('error', () => resolve(false));
    outgoing.once('response', (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    outgoing.end();
  });
}
