import { decodeObject, type ElectionLease, optionalList, optionalObject } from '../domain/index.ts';
import { listObjects } from './calls.ts';
import { callOptions, InstallError, type InstallContext, poll } from './context.ts';
import { podsOf } from './inventory.ts';
import { type LeaseAt, leasesAt, podOfIdentity, readLease } from './leader.ts';
import { identityOf, type KubeObject, nameOf } from './object.ts';
import { decodeRollout, deploymentsAt } from './rollout.ts';

/** What is looked for besides an installation. */
export interface OthersQuery {
  /** Of the installation. */
  readonly namespace: string;
  /** As the Go program's, too. */
  readonly leaseName: string;
}

/** client-go's default, for a Lease that names none. */
const usualDurationMs = 15_000;

const isOf = (lease: ElectionLease | undefined, ours: ReadonlySet<string>): lease is ElectionLease =>
  lease !== undefined && lease.holder !== '' && !ours.has(podOfIdentity(lease.holder));

/** Who renews a Lease, unless it is one of our pods. Takes as long as the Lease is good for where its holder has crashed: clocks need not agree. */
const otherHolder = async (
  at: LeaseAt,
  ours: ReadonlySet<string>,
  context: InstallContext,
): Promise<string | undefined> => {
  const first = await readLease(at, context);
  if (!isOf(first, ours)) return undefined;
  context.progress(`waiting whether ${first.holder} renews Lease ${at.namespace}/${at.name}`);
  const deadline = context.clock.monotonic() + (first.durationMs ?? usualDurationMs);
  return poll({ ...context, deadline }, async () => {
    const now = await readLease(at, context);
    return isOf(now, ours) && now.renewTime !== first.renewTime ? now.holder : undefined;
  });
};

const namespacesOf = async (leaseName: string, context: InstallContext): Promise<readonly string[]> => {
  const call = listObjects(leasesAt, { labelSelector: '', fieldSelector: `metadata.name=${leaseName}` });
  const { value } = await context.client.call(call, callOptions(context));
  return value.map(({ metadata }) => metadata.namespace ?? '');
};

const renewedBy = async (leases: readonly LeaseAt[], ours: ReadonlySet<string>, context: InstallContext) => {
  const holders = await Promise.all(leases.map((at) => otherHolder(at, ours, context)));
  return leases.flatMap(({ namespace, name }, index) => {
    const holder = holders[index];
    return holder === undefined ? [] : [`Lease ${namespace}/${name} is renewed by ${holder}`];
  });
};

/** Throws an InstallError where a prober is active in another namespace. One in the same namespace shares the Lease: only one of them is active. */
export const refuseSecondProber = async (
  { namespace, leaseName }: OthersQuery,
  context: InstallContext,
): Promise<void> => {
  const elsewhere = (await namespacesOf(leaseName, context)).filter((one) => one !== namespace);
  const others = await renewedBy(
    elsewhere.map((one) => ({ namespace: one, name: leaseName })),
    new Set(),
    context,
  );
  if (others.length === 0) return;
  throw new InstallError('another prober is active in this cluster: of two, one may restore what the other holds', [
    ...others,
    'install into its namespace, where they share a Lease; remove it first; or install all the same with --beside-other-prober',
  ]);
};

/** A prober's command line: `... prober ... --config-file=...`, whoever has written it. */
export const runsProber = ({ spec }: KubeObject): boolean => {
  const template = optionalObject(optionalObject(spec, 'spec')?.template, 'template');
  const containers = optionalList(optionalObject(template?.spec, 'pod')?.containers, 'containers') ?? [];
  return containers.some((container) => {
    const { command, args } = decodeObject(container, 'container');
    const words = [...(optionalList(command, 'command') ?? []), ...(optionalList(args, 'args') ?? [])].map(String);
    return words.includes('prober') && words.some((word) => word.startsWith('--config-file'));
  });
};

/** Those who wait for our Lease take it as soon as we have gone. */
const besides = async (
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

/** Probers that act, or would act, beside these Deployments of ours: whoever renews a Lease of that name, or shares our Lease; a line each. */
export const findOtherProbers = async (
  { namespace, leaseName }: OthersQuery,
  deployments: readonly KubeObject[],
  context: InstallContext,
): Promise<readonly string[]> => {
  const pods = await Promise.all(deployments.map((deployment) => podsOf(deployment, context)));
  const ours = new Set(pods.flat().map(({ metadata }) => metadata.name));
  const leases = (await namespacesOf(leaseName, context)).map((one) => ({ namespace: one, name: leaseName }));
  return [...(await renewedBy(leases, ours, context)), ...(await besides(namespace, deployments, context))];
};
