import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import { hasMark } from '../gardener/scaling-annotations.ts';
import { foreseeRelease, heldName, listHeld, releaseHeld } from '../prober/held/index.ts';
import { systemRandom } from '../process/index.ts';
import { createMeter } from '../telemetry/index.ts';
import { type InstallCheck, type InstalledSettings, checkInstalledRights, checkKinds } from './checks.ts';
import { type InstallContext, InstallError } from './context.ts';
import { type InstallOptions, type Installed, install } from './install.ts';
import { installedSettings, refuseDropping } from './installed-settings.ts';
import type { KubeObject } from './object.ts';
import { type ClusterCommand, type CommandFailure, type Connected, onCluster } from './on-cluster.ts';
import { refuseSecondProber } from './other-prober.ts';
import { installedPolicies } from './installed-policies.ts';
import { type Released, type Uninstalled as UninstallReport, type UninstallOptions, uninstall } from './uninstall.ts';

export interface InstallRun extends ClusterCommand, Omit<InstallOptions, 'alsoUpgraded'> {
  /** Admission policies of the components, which are upgraded if they are installed already. */
  readonly policies: readonly KubeObject[];
  readonly settings: InstalledSettings;
  /** True if a prober is installed even if one is active in another namespace. */
  readonly besideOtherProber: boolean;
}

export interface InstallReport extends Installed {
  readonly checks: readonly InstallCheck[];
}

export interface UninstallRun extends ClusterCommand, Omit<UninstallOptions, 'listHeld' | 'release'> {}

export type { UninstallReport };

const accountOf = (objects: readonly KubeObject[]): NamespacedName | undefined => {
  const account = objects.find(({ kind }) => kind === 'ServiceAccount');
  return account === undefined
    ? undefined
    : { namespace: account.metadata.namespace ?? '', name: account.metadata.name };
};

const accountsOf = ({ components }: Pick<InstallRun, 'components'>) =>
  new Map(
    components.flatMap(({ component, objects }) => {
      const account = accountOf(objects);
      return account === undefined ? [] : [[component, account] as const];
    }),
  );

/** Runs `dwd install`. */
export const runInstall = (run: InstallRun): Promise<Result<InstallReport, CommandFailure>> =>
  onCluster(run, async ({ context }) => {
    const kinds = await checkKinds(run.settings, context);
    if (run.settings.prober !== undefined) {
      if (!run.besideOtherProber) await refuseSecondProber(run.namespace, context);
      await refuseDropping(run.settings.prober, run.namespace, context);
    }
    try {
      const alsoUpgraded = await installedPolicies(run, context);
      const installed = await install({ ...run, alsoUpgraded }, context);
      const rights = run.dryRun ? [] : await checkInstalledRights(run.settings, accountsOf(run), context);
      return { ...installed, checks: [...kinds, ...rights] };
    } catch (error) {
      if (!(error instanceof InstallError)) throw error;
      // Kinds that are not served may be the cause.
      const warnings = kinds.filter(({ status }) => status !== 'ok').map(({ detail }) => detail);
      throw new InstallError(error.message, [...error.details, ...warnings]);
    }
  });

const heldIn =
  ({ kube: seed }: Connected) =>
  async (owned: readonly KubeObject[], context: InstallContext): Promise<readonly string[]> =>
    (await listHeld({ ...context, seed, settings: installedSettings(owned) }))
      .filter(({ state }) => hasMark(state))
      .map(heldName);

const releaseFor =
  (run: UninstallRun, { kube: seed, userAgent }: Connected) =>
  async (owned: readonly KubeObject[], context: InstallContext): Promise<Released> => {
    const { logger, env } = run;
    const options = { ...context, seed, userAgent, logger, env, settings: installedSettings(owned) };
    if (run.dryRun) return foreseeRelease(await listHeld(options));
    const reason = 'the dependency-watchdog is uninstalled';
    return releaseHeld({ ...options, random: systemRandom(), meter: createMeter(), reason });
  };

/** Runs `dwd uninstall`. */
export const runUninstall = (run: UninstallRun): Promise<Result<UninstallReport, CommandFailure>> =>
  onCluster(run, (connected) =>
    uninstall({ ...run, listHeld: heldIn(connected), release: releaseFor(run, connected) }, connected.context),
  );
