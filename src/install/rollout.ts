import { optionalInteger, optionalObject } from '../kubernetes/api/decode.ts';
import { type ServedKindPath, getObject } from './calls.ts';
import { type InstallContext, InstallError, callOptions, poll } from './context.ts';
import { type KubeObject, nameOf } from './object.ts';
import { whyNotReady } from './not-ready-reasons.ts';

export const deploymentsAt: ServedKindPath = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  resource: 'deployments',
  namespaced: true,
};

const countIn = (from: unknown, name: string): number =>
  optionalInteger(optionalObject(from, 'deployment')?.[name], name) ?? 0;

interface Rollout {
  readonly generation: number;
  readonly observed: number;
  readonly wanted: number;
  readonly pods: number;
  readonly updated: number;
  readonly available: number;
}

export const decodeRollout = ({ metadata, spec, status }: KubeObject): Rollout => ({
  generation: countIn(metadata, 'generation'),
  observed: countIn(status, 'observedGeneration'),
  wanted: countIn(spec, 'replicas'),
  pods: countIn(status, 'replicas'),
  updated: countIn(status, 'updatedReplicas'),
  available: countIn(status, 'availableReplicas'),
});

/** Returns what a Deployment still waits for. Undefined if it is rolled out (kubectl's `pkg/polymorphichelpers/rollout_status.go`). */
const rolloutProblem = (deployment: KubeObject): string | undefined => {
  const { generation, observed, wanted, pods, updated, available } = decodeRollout(deployment);
  if (observed < generation) return 'the Deployment controller has not observed it yet';
  if (updated < wanted) return `${String(updated)} of ${String(wanted)} new pods exist`;
  const old = pods - updated;
  if (old > 0) return `${String(old)} old pods still exist`;
  return available < updated ? `${String(available)} of ${String(updated)} new pods are available` : undefined;
};

const read = async (deployment: KubeObject, context: InstallContext): Promise<KubeObject> =>
  (await context.client.call(getObject(deploymentsAt, deployment), callOptions(context))).value;

/** Waits until all Deployments are rolled out. Throws an InstallError that lists those that are not, and why. */
export const untilRolledOut = async (deployments: readonly KubeObject[], context: InstallContext): Promise<void> => {
  let waiting: readonly { readonly deployment: KubeObject; readonly problem: string }[] = [];
  await poll(context, async () => {
    const live = await Promise.all(deployments.map((deployment) => read(deployment, context)));
    waiting = live.flatMap((deployment) => {
      const problem = rolloutProblem(deployment);
      return problem === undefined ? [] : [{ deployment, problem }];
    });
    context.progress(waiting.map(({ deployment, problem }) => `${deployment.metadata.name}: ${problem}`).join('; '));
    return waiting.length === 0 || undefined;
  });
  if (waiting.length === 0) return;
  const reasons = await Promise.all(
    waiting.map(async ({ deployment, problem }) => [
      `${nameOf(deployment)}: ${problem}`,
      ...(await whyNotReady(deployment, context)).map((line) => `  ${line}`),
    ]),
  );
  throw new InstallError('not ready in time', reasons.flat());
};
