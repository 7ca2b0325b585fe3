import { type CareSettings, careGrants } from '../care/index.ts';
import { type ComponentName, componentNames } from '../config/index.ts';
import { formatRight, reviewAccessOf } from '../kubernetes/api/access.ts';
import { type NamespacedName, refKey } from '../kubernetes/api/resource-ref.ts';
import { resolveKind } from '../kubernetes/client/index.ts';
import { type ProberSettings, neededByProber } from '../prober/index.ts';
import { type DiscoveryAccess, type NeededRight, rightsOf } from '../process/rights/index.ts';
import { type WeederSettings, weederGrants } from '../weeder/index.ts';
import type { InstallContext } from './context.ts';

/** Settings of the installed components. */
export interface InstalledSettings {
  readonly prober?: ProberSettings;
  readonly weeder?: WeederSettings;
  readonly care?: CareSettings;
}

export interface InstallCheck {
  /** Name of the check, such as `prober: rights`. */
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly detail: string;
}

const timeoutMs = 10_000;
/** Time in which new roles take effect: the authorizer observes them through watches. */
const rightsInForceMs = 10_000;
const pollMs = 500;

const inquiryOf = ({ client, signal }: InstallContext): DiscoveryAccess => ({ client, options: { signal, timeoutMs } });

const cluster = { apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Cluster' };

/** Checks that the API server serves the kinds that the prober works on. Rejects with an ApiError. */
export const checkKinds = async (
  { prober }: InstalledSettings,
  context: InstallContext,
): Promise<readonly InstallCheck[]> => {
  if (prober === undefined) return [];
  const { client, options } = inquiryOf(context);
  const name = 'prober: kinds';
  const problems: InstallCheck[] = [];
  const found = prober.clusterSource === undefined ? await resolveKind(client, cluster, options) : undefined;
  if (found?.kind === 'not-served') {
    const detail = `${found.problem}: this is not a seed of Gardener, and the prober will not become ready`;
    problems.push({ name, status: 'warning', detail });
  }
  for (const { ref, optional } of prober.dependentResources) {
    const dependent = await resolveKind(client, ref, options);
    if (dependent.kind === 'served' || optional) continue;
    problems.push({
      name,
      status: 'warning',
      detail: `${refKey(ref)} cannot be scaled: ${dependent.problem}`,
    });
  }
  if (problems.length > 0) return problems;
  const count = String(prober.dependentResources.length);
  return [
    {
      name,
      status: 'ok',
      detail: `${found === undefined ? 'the' : 'Cluster and the'} kinds of ${count} dependent resources are served`,
    },
  ];
};

const rightsNeeded: {
  readonly [Name in ComponentName]: (
    settings: NonNullable<InstalledSettings[Name]>,
    inquiry: DiscoveryAccess,
  ) => Promise<readonly NeededRight[]>;
} = {
  prober: neededByProber,
  weeder: async () => rightsOf(weederGrants),
  care: async (settings) => rightsOf(careGrants(settings)),
};

const rightsNeededBy = async <Name extends ComponentName>(
  name: Name,
  { [name]: settings }: Pick<InstalledSettings, Name>,
  inquiry: DiscoveryAccess,
): Promise<readonly NeededRight[] | undefined> =>
  settings === undefined ? undefined : rightsNeeded[name](settings, inquiry);

const missingAmong = async (
  needed: readonly NeededRight[],
  account: NamespacedName,
  { client, signal }: InstallContext,
): Promise<readonly NeededRight[]> => {
  const missing: NeededRight[] = [];
  for (const need of needed) {
    const { value } = await client.call(reviewAccessOf(account, need.right), { signal, timeoutMs });
    if (!value) missing.push(need);
  }
  return missing;
};

/** Checks that each component's ServiceAccount has the rights that its settings need. Rejects with an ApiError. */
export const checkInstalledRights = async (
  settings: InstalledSettings,
  accounts: ReadonlyMap<string, NamespacedName>,
  context: InstallContext,
): Promise<readonly InstallCheck[]> => {
  const { clock, signal } = context;
  const checks: InstallCheck[] = [];
  for (const component of componentNames) {
    const account = accounts.get(component);
    const needed = await rightsNeededBy(component, settings, inquiryOf(context));
    if (account === undefined || needed === undefined) continue;
    const name = `${component}: rights`;
    const until = clock.monotonic() + rightsInForceMs;
    let missing = await missingAmong(needed, account, context);
    while (missing.length > 0 && clock.monotonic() < until) {
      await clock.sleep(pollMs, signal);
      missing = await missingAmong(missing, account, context);
    }
    if (missing.length === 0) checks.push({ name, status: 'ok', detail: `all ${String(needed.length)} are granted` });
    checks.push(
      ...missing.map(({ right, purpose }) => ({
        name,
        status: 'failed' as const,
        detail: `missing: ${formatRight(right)}, needed ${purpose}`,
      })),
    );
  }
  return checks;
};
