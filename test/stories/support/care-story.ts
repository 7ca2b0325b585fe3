import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { SimDraft } from '../../../simulator/apiserver/store.ts';
import { CareFixture, gardenNamespace } from '../../../simulator/harness/care-fixture.ts';
import { careKinds } from '../../../simulator/harness/care-kinds.ts';
import type { StoredCondition } from './healthcheck-fixture.ts';
import type { LogRecord } from '../../../simulator/harness/recorded-log.ts';
import type { WorldShoot } from '../../../simulator/world/shoot.ts';

/** All types of a Shoot with workers, in the order in which they are written. */
export const types = [
  'APIServerAvailable',
  'ControlPlaneHealthy',
  'ObservabilityComponentsHealthy',
  'EveryNodeReady',
  'SystemComponentsHealthy',
];

/** A condition of another writer. */
export const theirs = { type: 'Theirs', status: 'True', extra: { deep: [1] } };

type Edit = (shoot: SimDraft) => SimDraft;

export const inStatus =
  (changes: object): Edit =>
  (object) => ({ ...object, status: { ...(object.status as object), ...changes } });
export const inSpec =
  (changes: object): Edit =>
  (object) => ({ ...object, spec: { ...(object.spec as object), ...changes } });

/** The fixture of care with what its stories read and change. */
export class CareStory extends CareFixture {
  stored({ name }: Pick<WorldShoot, 'name'>): SimDraft {
    const shoot = this.garden.store.get(careKinds.Shoot, { namespace: gardenNamespace, name });
    if (shoot === undefined) throw new Error(`there is no Shoot ${name}`);
    return shoot;
  }

  conditions(shoot: WorldShoot): readonly StoredCondition[] {
    return (this.stored(shoot).status as { conditions?: readonly StoredCondition[] } | undefined)?.conditions ?? [];
  }

  condition(shoot: WorldShoot, type: string): StoredCondition | undefined {
    return this.conditions(shoot).find((condition) => condition.type === type);
  }

  /** Conditions that are not True. */
  problems(shoot: WorldShoot): readonly StoredCondition[] {
    return this.conditions(shoot).filter(({ status }) => status !== 'True');
  }

  isWell(shoot: WorldShoot): boolean {
    return this.conditions(shoot).length === types.length && this.problems(shoot).length === 0;
  }

  labels(shoot: WorldShoot): Readonly<Record<string, string>> | undefined {
    return this.stored(shoot).metadata.labels as Readonly<Record<string, string>> | undefined;
  }

  label(shoot: WorldShoot): string | undefined {
    return this.labels(shoot)?.['shoot.gardener.cloud/status'];
  }

  editShoot({ name }: WorldShoot, edit: Edit): void {
    this.garden.store.patch(careKinds.Shoot, { namespace: gardenNamespace, name }, edit);
  }

  /** Changes the Shoot in the Cluster. */
  editCluster({ namespace }: WorldShoot, edit: Edit): void {
    this.seed.store.patch(simKinds.Cluster, { name: namespace }, (cluster) => {
      const { shoot } = cluster.spec as { readonly shoot: SimDraft };
      return { ...cluster, spec: { ...(cluster.spec as object), shoot: edit(shoot) } };
    });
  }

  /** Makes a Deployment of the control plane available or not. */
  available({ namespace }: WorldShoot, isAvailable: boolean, name = 'kube-scheduler'): void {
    const status = isAvailable ? 'True' : 'False';
    const conditions = [{ type: 'Available', status, reason: 'Simulated', message: 'as told' }];
    this.seed.store.patch(simKinds.Deployment, { namespace, name }, inStatus({ conditions }));
  }

  minutes(count: number): Promise<void> {
    return this.clock.advance(count * 60_000);
  }

  logged(msg: RegExp): readonly LogRecord[] {
    return this.log.filter((line) => msg.test(line.msg));
  }

  /** Logged statuses of a condition. */
  changes(type = 'ControlPlaneHealthy'): readonly unknown[] {
    return this.logged(/^condition changed$/).flatMap(({ condition, status }) => (condition === type ? [status] : []));
  }

  metrics(): Promise<string> {
    return this.care.meter.metricsText();
  }

  gardenWrites(): number {
    return this.requests.garden.total({ verb: 'patch' });
  }

  /** Number of checks of a shoot so far. */
  runs({ name }: WorldShoot): number {
    return this.requests.shoot(name).total({ resource: '/healthz' });
  }

  /** Lets no tunnel connect until its time is over. */
  hangTunnels(): void {
    this.tunnel = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
  }

  /** Interrupts all watches of the seed; requests with this path then fail. */
  async loseWatch(path: string): Promise<void> {
    this.setFaults('seed', (request) => (request.path === path ? { status: 500, message: 'no webhook' } : undefined));
    this.seed.api.setReachability('refused');
    await this.clock.advance(1_000);
    this.seed.api.setReachability('open');
  }
}
