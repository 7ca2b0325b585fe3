import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import { decodeObject, optionalList, optionalObject } from '../kubernetes/api/decode.ts';
import { type ElectionLease, podOfHolder } from '../kubernetes/api/lease.ts';
import { leaseNameOf } from '../process/index.ts';
import { listObjects } from './calls.ts';
import { type InstallContext, InstallError, callOptions, poll } from './context.ts';
import { podsOf } from './inventory.ts';
import { leasesAt, readLease } from './leader.ts';
import { type KubeObject, identityOf, nameOf } from './object.ts';
import { decodeRollout, deploymentsAt } from './rollout.ts';

/** Name of the prober's Lease, which the Go program uses, too. */
const leaseName = leaseNameOf('prober');

/** client-go's default lease duration, for a Lease without one. */
const usualDurationSeconds = 15;

const isOf = (lease: ElectionLease | undefined, ours: ReadonlySet<string>): lease is ElectionLease =>
  lease !== undefined && lease.holder !== '' && !ours.has(podOfHolder(lease.holder));

/** Reads the current names of our pods. */
type OurPods = () => Promise<ReadonlySet<string>>;

/** Returns the holder that renews a Lease, unless it is one of our pods. If it has crashed, this takes the lease duration: clocks need not agree. */
const otherHolder = async (
  at: NamespacedName,
  ourPods: OurPods,
  context: InstallContext,
): Promise<string | undefined> => {
  const first = await readLease(at, context);
  if (!isOf(first, await ourPods())) return undefined;
  const { durationSeconds = usualDurationSeconds } = first;
  context.progress(`checking if ${first.holder} still renews Lease ${at.namespace}/${at.name}`);
  const expiry = context.clock.monotonic() + durationSeconds * 1_000;
  const deadline = Math.min(expiry, context.deadline);
  const holder = await poll({ ...context, deadline }, async () => {
    const now = await readLease(at, context);
    return now?.renewTime !== first.renewTime && isOf(now, await ourPods()) ? now.holder : undefined;
  });
  if (holder !== undefined || deadline === expiry) return holder;
  throw new InstallError(`unknown if ${first.holder} is alive; nothing was changed`, [
    `Lease ${at.namespace}/${at.name} is valid for ${String(durationSeconds)} s after a renewal`,
    'allow more time with --timeout, or delete the Lease if no pod of this name exists',
  ]);
};

const namespacesOfLeases = async (context: InstallContext): Promise<readonly string[]> => {
  const call = listObjects(leasesAt, { labelSelector: '', fieldSelector: `metadata.name=${leaseName}` });
  const { value } = await context.client.call(call, callOptions(context));
  return value.map(({ metadata }) => metadata.namespace ?? '');
};

const renewedBy = async (leases: readonly NamespacedName[], ourPods: OurPods, context: InstallContext) => {
  const holders = await Promise.all(leases.map((at) => otherHolder(at, ourPods, context)));
  return leases.flatMap(({ namespace, name }, index) => {
    const holder = holders[index];
    return holder === undefined ? [] : [`Lease ${namespace}/${name} is renewed by ${holder}`];
  });
};

/** Throws an InstallError if a prober is active in another namespace. Two in one namespace share the Lease, so that only one of them is active. */
export const refuseSecondProber = async (namespace: string, context: InstallContext): Promise<void> => {
  const elsewhere = (await namespacesOfLeases(context)).filter((one) => one !== namespace);
  const others = await renewedBy(
    elsewhere.map((one) => ({ namespace: one, name: leaseName })),
    () => Promise.resolve(new Set()),
    context,
  );
  if (others.length === 0) return;
  throw new InstallError(
    'another prober is active in this cluster: one of the two may restore resources that the other holds',
    [
      ...others,
      'install into its namespace, where both share a Lease; or remove it first; or install anyway with --beside-other-prober',
    ],
  );
};

/** Returns true for `--dry-run` with any value that the flag accepts as true. Such a prober restores nothing. */
const isDryRun = (word: string): boolean => {
  const [name, value = 'true'] = word.split('=');
  return name === '--dry-run' && ['1', 't', 'true'].includes(value.toLowerCase());
};

/** True for a Deployment that runs a prober (`... prober ... --config-file=...`). A dry run does not count. */
export const runsProber = ({ spec }: KubeObject): boolean => {
  const template = optionalObject(optionalObject(spec, 'spec')?.template, 'template');
  const containers = optionalList(optionalObject(template?.spec, 'pod')?.containers, 'containers') ?? [];
  return containers.some((container) => {
    const { command, args } = decodeObject(container, 'container');
    const words = [...(optionalList(command, 'command') ?? []), ...(optionalList(args, 'args') ?? [])].map(String);
    return words.includes('prober') && words.some((word) => word.startsWith('--config-file')) && !words.some(isDryRun);
  });
};

/** Lists other probers in this namespace. They wait for our Lease, and acquire it as soon as we are gone. */
const otherProbersIn = async (
  namespace: string,
  deployments: readonly KubeObject[],
  context: InstallContext,
): Promise<readonly string[]> => {
  const ours = new Set(deployments.map(identityOf));
  const call = listObjects(deploymentsAt, { labelSelector: '', namespace });
  const { value } = await context.client.call(call, callOptions(context));
  return value
    .filter((one) => !ours.has(identityOf(one)) && runsProber(one) && decodeRollout(one).available > 0)
    .map((one) => `${nameOf(one)} runs a prober`);
};

/** Finds probers that act, or would act, besides these Deployments of ours, a line each: they renew a Lease of that name, or share our Lease. */
export const findOtherProbers = async (
  namespace: string,
  deployments: readonly KubeObject[],
  context: InstallContext,
): Promise<readonly string[]> => {
  const ourPods = async (): Promise<ReadonlySet<string>> => {
    const pods = await Promise.all(deployments.map((deployment) => podsOf(deployment, context)));
    return new Set(pods.flat().map(({ metadata }) => metadata.name));
  };
  const leases = (await namespacesOfLeases(context)).map((one) => ({ namespace: one, name: leaseName }));
  return [...(await renewedBy(leases, ourPods, context)), ...(await otherProbersIn(namespace, deployments, context))];
};
