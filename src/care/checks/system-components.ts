import { extensionFinding } from './extensions.ts';
import { type Finding, failed, healthy, ifRead } from './finding.ts';
import { type CheckInput, type TunnelObservation, hasWorkers } from './observation.ts';
import { unreachableFinding } from './unreachable.ts';
import { managedResourceFinding } from './workloads.ts';

const type = 'SystemComponentsHealthy';

const judgeTunnel = (tunnel: TunnelObservation): Finding | undefined => {
  switch (tunnel.kind) {
    case 'connected':
      return undefined;
    case 'not-deployed':
      return failed('NoTunnelDeployed', 'no tunnels are currently deployed to perform health-check on');
    case 'broken':
      return failed('TunnelConnectionBroken', `Tunnel connection has not been established (${tunnel.error})`);
  }
};

const tunnelFinding = ({ view, shoot }: CheckInput): Finding | undefined =>
  view.kind === 'observed' && hasWorkers(shoot) ? ifRead(view.tunnel, judgeTunnel) : undefined;

/** Checks SystemComponentsHealthy. */
export const checkSystemComponents = (input: CheckInput): Finding =>
  unreachableFinding(input) ??
  extensionFinding(input, type) ??
  managedResourceFinding(input, type) ??
  tunnelFinding(input) ??
  healthy('SystemComponentsRunning', 'All system components are healthy.');
