import { type Pause, describePause, inForce } from '../annotations/pause.ts';
import { ApiError, isApiError, unlessNotFound } from '../kubernetes/api/errors.ts';
import { getElectionLease } from '../kubernetes/leaderelection/index.ts';
import { type ClusterCommand, type CommandContext, CommandError, leaseNameOf, onCluster } from '../process/index.ts';
import { findNamedShoot, fullTitleOf, installedConfiguration, readNamespaces } from '../status/index.ts';
import { currentUser, seedTime, writePause } from './namespaces.ts';

export interface ResumeRun extends ClusterCommand {
  /** Any name of a shoot. Absent: all shoots of the seed. */
  readonly shoot?: string;
  /** Namespace of the prober. A pause of all shoots is written to this Namespace. */
  readonly namespace: string;
}

export interface PauseRun extends ResumeRun {
  /** Duration of the pause, in milliseconds. Absent: until it is resumed. */
  readonly forMs?: number;
  readonly reason: string;
}

/** Changes that were made, and other pauses in force, a line each. */
export type SteerReport = readonly string[];

/** Name of the whole seed in a report. */
export const allShoots = 'all shoots';

export const homeNotes = async (home: string, { client, options }: CommandContext): Promise<SteerReport> => {
  const name = leaseNameOf('prober');
  const get = client.call(getElectionLease({ namespace: home, name }), options);
  try {
    if ((await unlessNotFound(get)) !== undefined) return [];
  } catch (error) {
    if (isApiError(error, 'Forbidden')) return [];
    throw error;
  }
  return [
    `note: no prober has its Lease ${name} in namespace ${home}; if it runs in another namespace, give --namespace`,
  ];
};

/** Runs `dwd pause`. */
export const runPause = (run: PauseRun): Promise<SteerReport> =>
  onCluster(run, async (context) => {
    const { forMs, reason, shoot, namespace: home } = run;
    const by = await currentUser(context, run);
    const until = forMs && Math.ceil(((await seedTime(context)) + forMs) / 1_000) * 1_000;
    const pause: Pause = { until, reason, by };
    const words = `paused ${describePause(pause)}`;
    if (shoot === undefined) {
      await writePause(home, pause, context);
      return [`${allShoots}: ${words}`, ...(await homeNotes(home, context))];
    }
    const found = await findNamedShoot(shoot, context);
    await writePause(found.namespace, pause, context);
    return [`${fullTitleOf(found)}: ${words}`];
  });

/** Returns the command that ends the pause on a Namespace: of a shoot, or on that of the prober, `home`, of all. */
export const endedBy = (namespace: string, home: string): string =>
  namespace === home ? 'dwd resume --all' : `dwd resume --shoot ${namespace}`;

/** Returns a line about the pause in the installed configuration at `now`; none if there is no pause. */
const configuredPause = async (home: string, now: number, context: CommandContext): Promise<SteerReport> => {
  try {
    const { settings } = await installedConfiguration(home, context);
    const pause = inForce(settings.paused, now);
    if (pause === undefined) return [];
    return [
      `${allShoots}: still paused by the configuration ${describePause(pause)}; to end that, remove \`paused\` from it`,
    ];
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof CommandError)) throw error;
    return [`${allShoots}: whether the configuration pauses them is not known: ${error.message}`];
  }
};

/** Runs `dwd resume`. */
export const runResume = (run: ResumeRun): Promise<SteerReport> =>
  onCluster(run, async (context) => {
    const { shoot, namespace: home } = run;
    const found = shoot === undefined ? undefined : await findNamedShoot(shoot, context);
    const namespace = found?.namespace ?? home;
    const { paused: before, now } = await readNamespaces(context);
    await writePause(namespace, undefined, context);
    const title = found === undefined ? allShoots : fullTitleOf(found);
    const was = before.has(namespace) ? 'the pause has ended' : 'there was no pause to end';
    const others = [...before].filter(([name]) => name !== namespace && (found === undefined || name === home));
    return [
      `${title}: ${was}`,
      ...(await configuredPause(home, now, context)),
      ...others.map(
        ([name, pause]) =>
          `${name === home ? allShoots : name}: still paused ${describePause(pause)}; ${endedBy(name, home)} ends that`,
      ),
    ];
  });
