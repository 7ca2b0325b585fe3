import type { Fault } from './plan.ts';

/** Shoots that a fault makes hard to protect, beyond the silence of their kubelets, which is what protection is for. */
export const touches = (fault: Fault, shoot: string): boolean => {
  switch (fault.kind) {
    case 'load-balancer':
    case 'nat-gateway':
    case 'public-way':
    case 'etcd':
    case 'crash':
    case 'second-slice':
    case 'no-slices':
    case 'stray-pod':
      return false;
    case 'api-server':
    case 'api-server-clock':
    case 'partition':
    case 'dns':
      return fault.server === 'seed' || fault.server === shoot;
    case 'lost-answers':
    case 'compaction':
    case 'watchdog-clock':
    case 'kill':
    case 'stop':
    case 'pause':
    case 'reload':
      return true;
    case 'node-clock':
    case 'credentials':
    case 'autoscaler':
    case 'ignore-scaling':
    case 'hibernation':
    case 'deletion':
    case 'no-workers':
    case 'cluster-gone':
    case 'not-candidates':
      return fault.shoot === shoot;
  }
};

/** Whether a fault does nothing but make a shoot one that is not to be watched for a while. */
export const changesPhase = ({ kind }: Fault): boolean =>
  kind === 'hibernation' || kind === 'deletion' || kind === 'no-workers' || kind === 'cluster-gone';

/** Whether a fault makes timestamps of a shoot's leases differ from the watchdog's time. */
export const skewsTime = (fault: Fault, shoot: string): boolean =>
  fault.kind === 'watchdog-clock' ||
  (fault.kind === 'node-clock' && fault.shoot === shoot) ||
  (fault.kind === 'api-server-clock' && fault.server === shoot);

/** Whether a fault keeps a weeder that runs from seeing the seed or from writing to it. */
export const hampersWeeder = (fault: Fault): boolean => {
  const { kind } = fault;
  if (kind === 'api-server' || kind === 'partition' || kind === 'dns') return fault.server === 'seed';
  return kind === 'lost-answers' || kind === 'compaction' || kind === 'pause' || kind === 'reload';
};

/** What it leaves behind: lists that begin anew, or time-outs of requests and the longest back-off after them. In milliseconds. */
export const aftermathMs = ({ kind }: Fault): number =>
  kind === 'compaction' || kind === 'pause' || kind === 'reload' ? 6_000 : 45_000;

/** The replica that a fault is about; undefined: all of them. */
export const replicaOf = (fault: Fault): number | undefined => ('replica' in fault ? fault.replica : undefined);
