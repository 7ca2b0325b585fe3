import { listObjects } from './calls.ts';
import { type InstallContext, InstallError, callOptions } from './context.ts';
import { isGardeners, isUnlabelled, nameOf } from './object.ts';
import { runsProber } from './other-prober.ts';
import { deploymentsAt } from './rollout.ts';

/**
 * Throws an InstallError if a prober runs without the labels of this installation: if it were taken for not installed, resources that it holds would
 * stay at 0. gardenlet removes its own.
 */
export const refuseUnlabelled = async (namespace: string, context: InstallContext): Promise<void> => {
  const call = listObjects(deploymentsAt, { labelSelector: '', namespace });
  const { value } = await context.client.call(call, callOptions(context));
  const unknown = value.filter((one) => isUnlabelled(one, namespace) && !isGardeners(one) && runsProber(one));
  if (unknown.length === 0) return;
  throw new InstallError('a prober runs without the labels of this installation; nothing was changed', [
    ...unknown.map(nameOf),
    'take it over with dwd install, the same --name-prefix and --config-file, and --force-conflicts; then run this command again',
  ]);
};
