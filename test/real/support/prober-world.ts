import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../../envtest/control-plane.ts';
import type { ServerFlags } from '../../envtest/flags.ts';
import { proberShootGrants } from '../../../src/prober/rights.ts';
import { createDependents, createNodes, createProtectedShoot } from '../../envtest/shoot.ts';
import { auditInto } from './audit.ts';
import { rulesOf } from './rights.ts';

export const shootNamespace = 'shoot--test--one';
export const kcm = 'kube-controller-manager';
export const mcm = 'machine-controller-manager';
export const nodes = ['node-a', 'node-b', 'node-c'];
/** The prober's user in the shoot. */
export const shootUser = 'prober';

type Audit = ReturnType<typeof auditInto>;

/** Two real API servers: one of a seed, one of a shoot with three nodes. A test starts their kubelets. */
export interface ProberWorld {
  /** Directory for the test's files. `stop` removes it. */
  readonly directory: string;
  readonly seed: ControlPlane;
  readonly shoot: ControlPlane;
  readonly seedAudit: Audit;
  readonly shootAudit: Audit;
  /**
   * Creates a namespace of the seed with everything that the prober needs to protect the shoot: its Cluster, a kubeconfig, its Machines, two
   * replicas of kube-controller-manager and three of machine-controller-manager.
   */
  readonly createShoot: (namespace?: string) => Promise<void>;
  stop(): Promise<void>;
}

export const startProberWorld = async (name: string, seedFlags: ServerFlags = {}): Promise<ProberWorld> => {
  const directory = mkdtempSync(join(tmpdir(), `dwd-${name}-`));
  const auditIn = (which: string): Audit => auditInto(mkdtempSync(join(directory, `${which}-`)));
  const [seedAudit, shootAudit] = [auditIn('seed'), auditIn('shoot')];
  const [seed, shoot] = await Promise.all([
    startControlPlane({ name: 'seed', apiServerFlags: { ...seedAudit.flags, ...seedFlags } }),
    startControlPlane({ name: 'shoot', kinds: [], apiServerFlags: shootAudit.flags }),
  ]);
  await createNodes(shoot.client, nodes);
  const { text: kubeconfig } = await shoot.kubeconfigFor({ user: shootUser, rules: rulesOf(proberShootGrants) });
  return {
    ...{ directory, seed, shoot, seedAudit, shootAudit },
    createShoot: async (namespace = shootNamespace) => {
      await createProtectedShoot(seed, { namespace, kubeconfig });
      await createDependents(seed.client, { namespace, nodes, counts: { [kcm]: 2, [mcm]: 3 } });
    },
    stop: async () => {
      await Promise.all([seed.stop(), shoot.stop()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
