import { extensionFinding } from './extensions.ts';
import { failed, type Finding, healthy, ifRead } from './finding.ts';
import { type Circumstances, hasWorkers, type TunnelView } from './observation.ts';
import { unreachableFinding } from './unreachable.ts';
import { managedResourceFinding } from './workloads.ts';

const type = 'SystemComponentsHealthy';

const judgeTunnel = (tunnel: TunnelView): Finding | undefined => {
  switch (tunnel.kind) {
    case 'connected':
      return undefined;
    case 'not-deployed':
      return failed('NoTunnelDeployed', 'no tunnels are currently deployed to perform health-check on');
    case 'broken':
      return failed('TunnelConnectionBroken', `Tunnel connection has not been established (${tunnel.error})`);
  }
};

const tunnelFinding = ({ view, shoot }: Circumstances): Finding | undefined =>
  view.kind === 'looked' && hasWorkers(shoot) ? ifRead(view.tunnel, judgeTunnel) : undefined;

/** SystemComponentsHealthy. */
export const checkSystemComponents = (circumstances: Circumstances): Finding =>
  unreachableFinding(circumstances) ??
  extensionFinding(circumstances, type) ??
  managedResourceFinding(circumstances, type) ??
  tunnelFinding(circumstances) ??
  healthy('SystemComponentsRunning', 'All system components are healthy.');
