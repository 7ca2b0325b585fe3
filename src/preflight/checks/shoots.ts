import { kcmGraceOf, runsKcm, type KcmGrace, type TemplateContainer } from '../../gardener/kube-controller-manager.ts';
import { ignoreScalingAnnotation, ignoresScaling } from '../../annotations/scaling-annotations.ts';
import { formatGoDuration } from '../../kubernetes/api/duration.ts';
import {
  type HostedCluster,
  type ProberSettings,
  type ShootSettings,
  adviceOn,
  scaleDownTimeline,
} from '../../prober/index.ts';
import { plural } from '../../status/state/words.ts';
import { type CheckResult, type PreflightFinding, judgeEach, share } from './check.ts';

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
  /** Unhealthy conditions by worker pool, and the grace period that the Shoot sets for its KCM. */
  readonly settings: ShootSettings;
}

/** Returns the shoots that the prober would probe. The others need no checks. */
export const probedAmong = (shoots: readonly SeedShoot[]): readonly ShootToProbe[] =>
  shoots.flatMap(({ cluster: { name: namespace, lifecycle }, version }) =>
    lifecycle.ok && lifecycle.value.kind === 'run' ? [{ namespace, version, settings: lifecycle.value.settings }] : [],
  );

/** Lists the reasons why shoots are not probed, each with the number of shoots. */
const reasonsOf = (shoots: readonly SeedShoot[]): readonly string[] => {
  const reasons = shoots.flatMap(({ cluster: { lifecycle } }) =>
    lifecycle.ok && lifecycle.value.kind !== 'run' ? [lifecycle.value.reason] : [],
  );
  return [...Map.groupBy(reasons, (reason) => reason)]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([reason, { length }]) => `${String(length)} not: ${reason}`);
};

/** Counts the shoots that the prober probes, and reports Clusters that cannot be read and ambiguous Secrets. */
export const checkShoots = (shoots: readonly SeedShoot[]): CheckResult => {
  const probed = `${String(probedAmong(shoots).length)} of ${plural(shoots.length, 'shoot')} probed`;
  const { findings } = judgeEach('', shoots, ({ cluster: { name: shoot, lifecycle, problem } }) => {
    if (!lifecycle.ok) return [{ code: 'cluster-unreadable', shoot, detail: lifecycle.error.message }];
    return problem === undefined ? [] : [{ code: 'secret-ambiguous', shoot, detail: problem }];
  });
  return { detail: [probed, ...reasonsOf(shoots)].join('; '), findings };
};

/** Secrets with a kubeconfig by namespace. `problem`: reason why the prober cannot use it, without any value of the Secret. */
export type SeenSecrets = ReadonlyMap<string, { readonly problem?: string }>;

/** Checks that each shoot has the Secret with its kubeconfig, and that the prober can use it. Protection does not depend on that of an external probe. */
export const checkSecrets = (
  shoots: readonly ShootToProbe[],
  secrets: SeenSecrets,
  { name, isExternal }: { readonly name: string; readonly isExternal: boolean },
): CheckResult =>
  judgeEach('usable in', shoots, ({ namespace: shoot }) => {
    const { problem: detail } = secrets.get(shoot) ?? { problem: `there is no Secret ${name}` };
    if (detail === undefined) return [];
    const code = isExternal ? 'external-secret' : secrets.has(shoot) ? 'secret-unusable' : 'secret-missing';
    return [{ code, shoot, detail }];
  });

/** A resource of one shoot. */
export interface SeenResource {
  readonly annotations: Readonly<Record<string, string>>;
  /** Containers of its pod template. Empty for kinds without one. */
  readonly containers: readonly TemplateContainer[];
}

/** One resource in all shoots, by namespace. */
export type SeenResources = ReadonlyMap<string, SeenResource>;

/** Checks that each shoot has the dependent resource, unless it is optional, and that no annotation keeps the prober from scaling it. */
export const checkDependent = (
  shoots: readonly ShootToProbe[],
  resources: SeenResources,
  { key, optional }: { readonly key: string; readonly optional: boolean },
): CheckResult => {
  const there = shoots.filter(({ namespace }) => resources.has(namespace)).length;
  const { findings } = judgeEach('', shoots, ({ namespace: shoot }) => {
    const resource = resources.get(shoot);
    if (resource === undefined) {
      return optional ? [] : [{ code: 'dependent-missing', shoot, detail: `there is no ${key}` }];
    }
    if (!ignoresScaling(resource)) return [];
    return [{ code: 'dependent-ignored', shoot, detail: `${key} has the annotation ${ignoreScalingAnnotation}` }];
  });
  return { detail: `${share('in', there, shoots.length)}${optional ? '; it is optional' : ''}`, findings };
};

/** Returns the resources whose containers run KCM, by namespace. */
export const kcmAmong = (resources: readonly SeenResources[]): SeenResources =>
  new Map(resources.flatMap((seen) => [...seen].filter(([, { containers }]) => runsKcm(containers))));

const inWords = (grace: Exclude<KcmGrace, { readonly kind: 'unknown' }>): string =>
  grace.kind === 'set'
    ? `KCM waits for ${formatGoDuration(grace.ms)}`
    : `KCM waits for ${formatGoDuration(grace.ms)}, the default of Kubernetes ${grace.version}`;

/**
 * Checks that each KCM waits for a silent node as long as the prober assumes. If it waits less, protection comes too late. `configuredMs` applies to shoots that
 * set no grace period of their own.
 */
export const checkGrace = (
  shoots: readonly ShootToProbe[],
  deployments: SeenResources,
  configuredMs: number,
): CheckResult =>
  judgeEach('as configured in', shoots, ({ namespace: shoot, version, settings: { nodeMonitorGraceMs } }) => {
    const deployment = deployments.get(shoot);
    const unknown = (detail: string): readonly PreflightFinding[] => [{ code: 'grace-unknown', shoot, detail }];
    if (deployment === undefined) return unknown('there is no Deployment kube-controller-manager to read it from');
    const grace = kcmGraceOf(deployment.containers, version);
    if (grace.kind === 'unknown') return unknown(grace.problem);
    const expectedMs = nodeMonitorGraceMs ?? configuredMs;
    if (grace.ms === expectedMs) return [];
    const from = nodeMonitorGraceMs === undefined ? 'the configuration' : 'the Shoot';
    const detail = `${inWords(grace)}, but ${from} has ${formatGoDuration(expectedMs)}`;
    return [{ code: grace.ms < expectedMs ? 'grace-shorter' : 'grace-longer', shoot, detail }];
  });

/** Tells what the slowest scale-down of KCM leaves of the grace period in each shoot. Undefined if the configuration does not scale it down. */
export const checkMargin = (shoots: readonly ShootToProbe[], configured: ProberSettings): CheckResult | undefined => {
  if (scaleDownTimeline(configured) === undefined) return undefined;
  const races = shoots.map(({ namespace: shoot, settings: { nodeMonitorGraceMs = configured.nodeMonitorGraceMs } }) => {
    const settings = { ...configured, nodeMonitorGraceMs };
    return { shoot, settings, leftMs: nodeMonitorGraceMs - (scaleDownTimeline(settings)?.at(-1)?.at ?? 0) };
  });
  const leastMs = Math.min(...races.map(({ leftMs }) => leftMs).filter((ms) => ms > 0));
  const what = Number.isFinite(leastMs) ? `${formatGoDuration(leastMs)} or more in` : 'some in';
  return judgeEach(what, races, ({ shoot, settings }) =>
    adviceOn(settings)
      .filter(({ field }) => field === 'dependentResourceInfos')
      .map(({ text: detail }) => ({ code: 'no-grace-left', shoot, detail })),
  );
};
