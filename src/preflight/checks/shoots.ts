import type { HostedCluster } from '../../prober/index.ts';
import { type PreflightCheck, type SeedRead, perShoot, plural, whenRead } from './check.ts';

/** A shoot of the seed. */
export interface SeedShoot {
  readonly cluster: HostedCluster;
  /** Kubernetes version, such as `1.33.2`. Empty if unknown. */
  readonly version: string;
}

/** A shoot that the prober would probe now. */
export interface ShootToProbe {
  /** Namespace of its control plane. */
  readonly namespace: string;
  readonly version: string;
  /** The grace period that the Shoot sets for its KCM, in milliseconds. */
  readonly nodeMonitorGraceMs?: number;
}

/** Returns the shoots that the prober would probe. The others need no checks. */
export const probedAmong = (shoots: readonly SeedShoot[]): readonly ShootToProbe[] =>
  shoots.flatMap(({ cluster: { name: namespace, lifecycle }, version }) => {
    if (!lifecycle.ok || lifecycle.value.kind !== 'run') return [];
    const { nodeMonitorGraceMs } = lifecycle.value.settings;
    return [{ namespace, version, ...(nodeMonitorGraceMs === undefined ? {} : { nodeMonitorGraceMs }) }];
  });

/** Lists the reasons why shoots are not probed, each with the number of shoots. */
const reasonsOf = (shoots: readonly SeedShoot[]): string => {
  const counts = new Map<string, number>();
  for (const { cluster } of shoots) {
    if (!cluster.lifecycle.ok) continue;
    const decision = cluster.lifecycle.value;
    if (decision.kind !== 'run') counts.set(decision.reason, (counts.get(decision.reason) ?? 0) + 1);
  }
  const most = [...counts].toSorted(([, a], [, b]) => b - a);
  return most.map(([reason, count]) => `${String(count)} not: ${reason}`).join('; ');
};

/** Counts the shoots that the prober probes, and reports Clusters that cannot be read and ambiguous Secrets. */
export const checkShoots = (read: SeedRead<readonly SeedShoot[]>): PreflightCheck =>
  whenRead(read, { subject: 'shoots', name: 'Clusters' }, (shoots) => {
    const findings = perShoot(shoots, ({ cluster: { name, lifecycle, problem } }) => {
      if (!lifecycle.ok) return { code: 'cluster-unreadable', shoot: name, detail: lifecycle.error.message };
      return problem === undefined ? undefined : { code: 'secret-ambiguous', shoot: name, detail: problem };
    });
    const reasons = reasonsOf(shoots);
    const probed = `${String(probedAmong(shoots).length)} of ${plural(shoots.length, 'shoot')} probed`;
    return { detail: reasons === '' ? probed : `${probed}; ${reasons}`, findings };
  });
