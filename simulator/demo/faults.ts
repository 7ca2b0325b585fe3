import type { FaultKind } from '../../src/page/feed/index.ts';
import type { WorldShoot } from '../world/index.ts';

/** A fault that the demo injects into a shoot, or its repair. A user can do the same with kubectl, by annotations on the Cluster or Namespace. */
export const demoFaults: Readonly<Record<FaultKind, (shoot: WorldShoot) => void>> = {
  'cut kubelets': (shoot) => shoot.cutKubelets(),
  'connect kubelets': (shoot) => shoot.restoreKubelets(),
  'break etcd': (shoot) => shoot.breakEtcd(),
  'mend etcd': (shoot) => shoot.mendEtcd(),
};
