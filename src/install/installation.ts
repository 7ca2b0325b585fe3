import { homedir } from 'node:os';
import { ApiError, KubeconfigError, type Result } from '../kubernetes/api/errors.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { isHeld } from '../kubernetes/api/scalable.ts';
import { createKubeClient, retryThrottled } from '../kubernetes/client/index.ts';
import { connectCluster } from '../kubernetes/connection/index.ts';
import { loadOperatorKubeconfig } from '../kubernetes/kubeconfig/index.ts';
import type { Logger } from '../ports/logger.ts';
import { foreseeRelease, heldName, listHeld, releaseHeld } from '../prober/index.ts';
import { systemClock, systemRandom, userAgentOf } from '../process/index.ts';
import { createMeter } from '../telemetry/index.ts';
import { type InstallCheck, type InstalledSettings, checkInstalledRights, checkKinds, leaseNames } from './checks.ts';
import { type InstallContext, InstallError } from './context.ts';
import { type InstallOptions, type Installed, install } from './install.ts';
import { installedSettings, refuseDropping } from './installed-settings.ts';
import type { KubeObject } from './object.ts';
import { refuseSecondProber } from './other-prober.ts';
import { installedPolicies } from './installed-policies.ts';
import { type Released, type Uninstalled as UninstallReport, uninstall } from './uninstall.ts';

/** What a command that works on a cluster once is given. */
export interface ClusterCommand {
  readonly kubeconfig?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly version: string;
  /** For everything that is waited for together. */
  readonly timeoutMs: number;
  readonly progress: (line: string) => void;
  readonly stop: AbortSignal;
}

export interface InstallRun extends ClusterCommand, Omit<InstallOptions, 'leaseNames' | 'alsoUpgraded'> {
  /** Of the components; for where policies are installed already. */
  readonly policies: readonly KubeObject[];
  readonly settings: InstalledSettings;
  /** Installs a prober although one is active in another namespace. */
  readonly besideOtherProber: boolean;
}

export interface InstallReport extends Installed {
  readonly checks: readonly InstallCheck[];
}

export interface UninstallRun extends ClusterCommand {
  readonly namespace: string;
  readonly components: readonly string[];
  readonly force: boolean;
  readonly dryRun: boolean;
}

export type { UninstallReport };

/** Why a command could not do its work, in words for people. */
export interface CommandFailure {
  readonly message: string;
  /** More of it, a line each. */
  readonly details: readonly string[];
}

interface Connected {
  readonly context: InstallContext;
  readonly kube: Kube;
  readonly userAgent: string;
}

const failureOf = (error: unknown, { signal }: Pick<InstallContext, 'signal'>): CommandFailure => {
  if (error instanceof InstallError) return error;
  if (signal.aborted) return { message: 'stopped before it was finished', details: ['run it again to go on'] };
  if (error instanceof ApiError) {
    const line = advice[error.code];
    return { message: error.message, details: line === undefined ? [] : [line] };
  }
  if (error instanceof KubeconfigError) return { message: error.message, details: [] };
  throw error;
};

const advice: Readonly<Partial<Record<ApiError['code'], string>>> = {
  ConnectionError: 'check that this is the right cluster (--kubeconfig, $KUBECONFIG) and can be reached from here',
  Unauthorized: 'the credentials of the kubeconfig are not valid, or no longer: get new ones',
  Forbidden: 'it takes the rights of cluster-admin: use the kubeconfig of somebody who has them',
};

/** Runs `work` on the cluster of the kubeconfig. What keeps it from its end is the answer, unless it is a bug. */
const onCluster = async <T>(
  command: ClusterCommand,
  work: (connected: Connected) => Promise<T>,
): Promise<Result<T, CommandFailure>> => {
  const { kubeconfig, env, logger, timeoutMs, progress, stop: signal } = command;
  const clock = systemClock();
  const userAgent = userAgentOf(command);
  try {
    const path = kubeconfig === undefined ? {} : { path: kubeconfig };
    const access = await loadOperatorKubeconfig({ ...path, env, homedir, clock });
    const transport = connectCluster({ access, clock, logger, userAgent });
    try {
      const kube = retryThrottled(transport, clock);
      const client = createKubeClient({ kube, clock });
      const context = { client, clock, signal, progress, deadline: clock.monotonic() + timeoutMs };
      return { ok: true, value: await work({ context, kube, userAgent }) };
    } finally {
      transport.close();
    }
  } catch (error) {
    return { ok: false, error: failureOf(error, { signal }) };
  }
};

const accountOf = (
  objects: readonly KubeObject[],
): { readonly namespace: string; readonly name: string } | undefined => {
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

/** `dwd install`. */
export const runInstall = (run: InstallRun): Promise<Result<InstallReport, CommandFailure>> =>
  onCluster(run, async ({ context }) => {
    const kinds = await checkKinds(run.settings, context);
    if (run.settings.prober !== undefined) {
      const leaseName = leaseNames.get('prober') ?? '';
      if (!run.besideOtherProber) await refuseSecondProber({ namespace: run.namespace, leaseName }, context);
      await refuseDropping(run.settings.prober, run.namespace, context);
    }
    try {
      const alsoUpgraded = await installedPolicies(run, context);
      const installed = await install({ ...run, alsoUpgraded, leaseNames }, context);
      const rights = run.dryRun ? [] : await checkInstalledRights(run.settings, accountsOf(run), context);
      return { ...installed, checks: [...kinds, ...rights] };
    } catch (error) {
      if (!(error instanceof InstallError)) throw error;
      // They may be the reason.
      const warnings = kinds.filter(({ status }) => status !== 'ok').map(({ detail }) => detail);
      throw new InstallError(error.message, [...error.details, ...warnings]);
    }
  });

const heldIn =
  ({ kube: seed }: Connected) =>
  async (owned: readonly KubeObject[], context: InstallContext): Promise<readonly string[]> =>
    (await listHeld({ ...context, seed, settings: installedSettings(owned) }))
      .filter(({ state }) => isHeld(state))
      .map(heldName);

const releaseFor =
  (run: UninstallRun, { kube: seed, userAgent }: Connected) =>
  async (owned: readonly KubeObject[], context: InstallContext): Promise<Released> => {
    const options = { ...context, seed, userAgent, logger: run.logger, settings: installedSettings(owned) };
    if (run.dryRun) return foreseeRelease(await listHeld(options));
    const reason = 'the dependency-watchdog is uninstalled';
    return releaseHeld({ ...options, random: systemRandom(), meter: createMeter(), reason });
  };

/** `dwd uninstall`. */
export const runUninstall = (run: UninstallRun): Promise<Result<UninstallReport, CommandFailure>> =>
  onCluster(run, (connected) =>
    uninstall(
      { ...run, leaseNames, scaling: 'prober', listHeld: heldIn(connected), release: releaseFor(run, connected) },
      connected.context,
    ),
  );
