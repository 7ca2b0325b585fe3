import type { Fault } from './plan.ts';

/** Shoots that a fault makes hard to protect, beyond the silence of their kubelets, which is what protection is for. */
export const touches = (fault: Fault, shoot: string): boolean => {
  switch (fault.kind) {
    case 'load-balancer':
    case 'nat-gateway':
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

/** Whether a fault makes timestamps of a shoot's leases differ from the watchdog's time. */
export const skewsTime = (fault: Fault, shoot: string): boolean =>
  fault.kind === 'watchdog-clock' ||
  (fault.kind === 'node-clock' && fault.shoot === shoot) ||
  (fault.kind === 'api-server-clock' && fault.server === shoot);
