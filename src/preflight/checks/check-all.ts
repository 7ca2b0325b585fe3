import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import type { ProberSettings } from '../../prober/index.ts';
import { type ShootAnswer, checkApiServers } from './api-servers.ts';
import { type PreflightCheck, type SeedRead, plural, provided } from './check.ts';
import { type SeenResources, checkDependent } from './dependents.ts';
import { checkGrace, kcmAmong } from './grace.ts';
import { type KindInput, checkKinds } from './kinds.ts';
import { type RightsInput, checkRights } from './rights.ts';
import { type SeenSecret, checkSecrets } from './secrets.ts';
import { type ProberLease, type SeedAnswer, checkProbers, checkSeed } from './seed.ts';
import { type ShootToProbe, type SeedShoot, checkShoots, probedAmong } from './shoots.ts';

/** Deployment of KCM, with the name that Gardener gives it. */
export const kcmRef: ResourceRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kube-controller-manager' };

/** Secrets by namespace. */
export type SeenSecrets = ReadonlyMap<string, SeenSecret>;

/** All reads of a seed that responds. */
export interface PreflightObservation {
  readonly settings: ProberSettings;
  readonly seed: SeedAnswer;
  /** Leases of probers, by namespace. */
  readonly probers: SeedRead<ReadonlyMap<string, ProberLease>>;
  readonly kinds: readonly KindInput[];
  /** Rights of the prober. Undefined if the check is left out. */
  readonly rights: RightsInput | undefined;
  readonly shoots: SeedRead<readonly SeedShoot[]>;
  readonly secrets: SeedRead<SeenSecrets>;
  /** Secrets of the external probe. Undefined if none is configured. */
  readonly externalSecrets: SeedRead<SeenSecrets> | undefined;
  /** Resources by `refKey`, without those whose kind is not served. */
  readonly resources: ReadonlyMap<string, SeedRead<SeenResources>>;
  /** Responses of the shoots' API servers. Undefined if the check is left out. */
  readonly answers: SeedRead<ReadonlyMap<string, ShootAnswer>> | undefined;
}

const secretChecks = (
  { settings, shoots: read, secrets, externalSecrets }: PreflightObservation,
  shoots: readonly ShootToProbe[],
): readonly PreflightCheck[] => {
  const { kubeConfigSecretName: secretName, externalProbe } = settings;
  const check = checkSecrets({ secretName, isExternal: false, shoots, secrets: provided(read, secrets) });
  if (externalProbe === undefined || externalSecrets === undefined) return [check];
  const externalName = externalProbe.kubeConfigSecretName;
  const external = { secretName: externalName, isExternal: true, shoots, secrets: provided(read, externalSecrets) };
  return [check, checkSecrets(external)];
};

const resourceChecks = (
  { settings, shoots: read, resources }: PreflightObservation,
  shoots: readonly ShootToProbe[],
): readonly PreflightCheck[] => {
  const seenOf = (ref: ResourceRef) => {
    const seen = resources.get(refKey(ref));
    return seen && provided(read, seen);
  };
  const dependents = settings.dependentResources.flatMap(({ ref, optional }) => {
    const seen = seenOf(ref);
    return seen === undefined ? [] : [checkDependent({ ref, optional, shoots, seen })];
  });
  const { nodeMonitorGraceMs: configuredMs } = settings;
  const others = settings.dependentResources.filter(({ ref }) => refKey(ref) !== refKey(kcmRef));
  const kcm = kcmAmong(
    seenOf(kcmRef),
    others.map(({ ref }) => seenOf(ref)),
  );
  return [...dependents, ...(kcm === undefined ? [] : [checkGrace({ configuredMs, shoots, seen: kcm })])];
};

/** Reports the warnings about the configuration file, a line each. */
export const checkConfig = (file: string, warnings: readonly string[]): PreflightCheck => ({
  subject: 'configuration',
  name: file,
  detail: warnings.length === 0 ? 'valid' : `valid, with ${plural(warnings.length, 'warning')}`,
  findings: warnings.map((detail) => ({ code: 'config-warning', detail })),
});

/** Makes all checks, in the order of the headings. */
export const checkAll = (observation: PreflightObservation): readonly PreflightCheck[] => {
  const { seed, probers, kinds, rights, shoots: read, answers } = observation;
  const shoots = read.ok ? probedAmong(read.value) : [];
  return [
    ...checkSeed({ ok: true, value: seed }),
    ...checkProbers(probers),
    ...checkKinds(kinds),
    checkRights(rights),
    checkShoots(read),
    ...secretChecks(observation, shoots),
    ...resourceChecks(observation, shoots),
    ...checkApiServers(answers && provided(read, answers)),
  ];
};
