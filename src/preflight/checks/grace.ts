import { type KcmGrace, kcmGraceOf, runsKcm } from '../../gardener/kube-controller-manager.ts';
import { formatGoDuration } from '../../kubernetes/api/duration.ts';
import {
  type PreflightCheck,
  type PreflightFinding,
  type SeedRead,
  countWell,
  perShoot,
  share,
  whenRead,
} from './check.ts';
import type { SeenResources } from './dependents.ts';
import type { ShootToProbe } from './shoots.ts';

export interface GraceInput {
  /** `kcmNodeMonitorGraceDuration` in milliseconds. It applies to shoots that set none of their own. */
  readonly configuredMs: number;
  readonly shoots: readonly ShootToProbe[];
  /** Deployments of KCM, by namespace. */
  readonly seen: SeedRead<SeenResources>;
}

const inWords = (grace: Exclude<KcmGrace, { readonly kind: 'unknown' }>): string =>
  grace.kind === 'set'
    ? `KCM waits for ${formatGoDuration(grace.ms)}`
    : `KCM waits for ${formatGoDuration(grace.ms)}, the default of Kubernetes ${grace.version}`;

const judgeGrace = (
  shoot: ShootToProbe,
  { configuredMs, seen }: { readonly configuredMs: number; readonly seen: SeenResources },
): PreflightFinding | undefined => {
  const deployment = seen.get(shoot.namespace);
  const unknown = (detail: string): PreflightFinding => ({ code: 'grace-unknown', shoot: shoot.namespace, detail });
  if (deployment === undefined) return unknown('there is no Deployment kube-controller-manager to read it from');
  const grace = kcmGraceOf(deployment.containers, shoot.version);
  if (grace.kind === 'unknown') return unknown(grace.problem);
  const { nodeMonitorGraceMs: expectedMs = configuredMs } = shoot;
  if (grace.ms === expectedMs) return undefined;
  const from = shoot.nodeMonitorGraceMs === undefined ? 'the configuration' : 'the Shoot';
  return {
    code: grace.ms < expectedMs ? 'grace-shorter' : 'grace-longer',
    shoot: shoot.namespace,
    detail: `${inWords(grace)}, but ${from} has ${formatGoDuration(expectedMs)}`,
  };
};

/** Returns the KCM of each shoot: another dependent resource whose containers run it, else the one with KCM's name. */
export const kcmAmong = (
  named: SeedRead<SeenResources> | undefined,
  others: readonly (SeedRead<SeenResources> | undefined)[],
): SeedRead<SeenResources> | undefined => {
  const all = others.flatMap((seen) => (seen?.ok === true ? [...seen.value] : []));
  const found = all.filter(([, { containers }]) => runsKcm(containers));
  if (found.length === 0) return named;
  return { ok: true, value: new Map([...(named?.ok === true ? named.value : []), ...found]) };
};

/** Checks that each KCM waits for a silent node as long as the prober assumes. If it waits less, protection comes too late. */
export const checkGrace = ({ configuredMs, shoots, seen }: GraceInput): PreflightCheck =>
  whenRead(seen, { subject: 'grace period', name: '--node-monitor-grace-period of KCM' }, (deployments) => {
    const findings = perShoot(shoots, (shoot) => judgeGrace(shoot, { configuredMs, seen: deployments }));
    return { detail: share('as configured in', countWell(shoots.length, findings), shoots.length), findings };
  });
