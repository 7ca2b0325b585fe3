import { errorText } from '../kubernetes/api/errors.ts';
import { optionalInteger, optionalObject } from '../kubernetes/api/decode.ts';
import { getObject, scaleDeployment } from './calls.ts';
import { type InstallContext, InstallError, callOptions, poll } from './context.ts';
import { podsOf, untilStopped } from './inventory.ts';
import { type KubeObject, nameOf } from './object.ts';
import { deploymentsAt } from './rollout.ts';

const countOf = ({ spec }: KubeObject): number =>
  optionalInteger(optionalObject(spec, 'deployment.spec')?.replicas, 'deployment.spec.replicas') ?? 1;

/** Returns the replicas to start again, at least 1: a count of 0 is left from an uninstallation that was killed, and one pod protects. */
export const replicasOf = (deployment: KubeObject): number => Math.max(1, countOf(deployment));

const scale = async (deployment: KubeObject, replicas: number, context: InstallContext): Promise<void> => {
  context.progress(`scaling ${nameOf(deployment)} to ${String(replicas)}`);
  await context.client.call(scaleDeployment(deployment, replicas), callOptions(context));
};

const isStopped = async (deployment: KubeObject, context: InstallContext): Promise<boolean> => {
  try {
    const { value } = await context.client.call(getObject(deploymentsAt, deployment), callOptions(context));
    return countOf(value) === 0;
  } catch {
    return true;
  }
};

/** Time to start the Deployments again, enough for a rolling update of the API server. */
const startAgainMs = 60_000;

/** Scales a Deployment up again. Returns why it does not run, or undefined if it does or was never stopped. */
const startOne = async (deployment: KubeObject, context: InstallContext): Promise<string | undefined> => {
  let problem = '';
  const runs = await poll(context, async () => {
    try {
      await scale(deployment, replicasOf(deployment), context);
      return true;
    } catch (error) {
      problem = errorText(error);
      return (await isStopped(deployment, context)) ? undefined : true;
    }
  });
  return runs === undefined ? `${nameOf(deployment)}: ${problem}` : undefined;
};

/** Starts the Deployments again, even if the signal of the command has aborted: protection must return in any case. */
const startAgain = async (deployments: readonly KubeObject[], context: InstallContext): Promise<void> => {
  const { signal } = new AbortController();
  const again = { ...context, signal, deadline: context.clock.monotonic() + startAgainMs };
  const problems = (await Promise.all(deployments.map((deployment) => startOne(deployment, again)))).filter(
    (problem) => problem !== undefined,
  );
  if (problems.length === 0) return;
  throw new InstallError('the prober is at 0 replicas, and no shoot is protected: run dwd install', problems);
};

/**
 * Stops these Deployments while `work` runs, and starts them again unless it succeeds. Throws an InstallError if somebody else has started one meanwhile: then
 * the result of `work` may be outdated.
 */
export const whileStopped = async <T>(
  deployments: readonly KubeObject[],
  context: InstallContext,
  work: () => Promise<T>,
): Promise<T> => {
  const tried: KubeObject[] = [];
  try {
    for (const deployment of deployments) {
      tried.push(deployment);
      await scale(deployment, 0, context);
    }
    const left = await untilStopped(deployments, context);
    if (left.length > 0) throw new InstallError('pods have not ended in time', left);
    const done = await work();
    const started = (await Promise.all(deployments.map((deployment) => podsOf(deployment, context)))).flat();
    if (started.length > 0) {
      throw new InstallError('the prober was started again meanwhile; nothing was removed', started.map(nameOf));
    }
    return done;
  } catch (error) {
    await startAgain(tried, context);
    throw error;
  }
};
