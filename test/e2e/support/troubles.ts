import type { ControlPlane } from '../../envtest/control-plane.ts';
import type { Dependent, Lane } from './lane.ts';
import type { ProxiedWrite, WriteFault } from './write-proxy.ts';

/** What a flow writes when nothing comes in between: name, and subresource. */
export const flows = {
  down: ['machine-controller-manager', 'kube-controller-manager', 'mill', 'mill/scale'],
  up: ['kube-controller-manager', 'machine-controller-manager', 'mill/scale', 'mill'],
} as const;
export type FlowDirection = keyof typeof flows;

export const targetOf = ({ path }: ProxiedWrite): string => path.replace(/^.*\/(deployments|watermills)\//, '');
const dependentOf = (write: ProxiedWrite): Dependent => targetOf(write).replace('/scale', '') as Dependent;
const objectOf = ({ path }: ProxiedWrite): string => path.replace(/\/scale$/, '');

interface Trouble {
  readonly seed: ControlPlane;
  readonly lane: Lane;
}

/** What befalls the one write of a flow that a lane is there for, by the name of the lane. */
export const troubles: Readonly<Record<string, (trouble: Trouble) => WriteFault>> = {
  'killed-before': ({ lane }) => ({
    before: async () => {
      await lane.kill();
      return 'drop';
    },
  }),
  'killed-after': ({ lane }) => ({
    after: async () => {
      await lane.kill();
      return 'cut';
    },
  }),
  terminated: ({ lane }) => ({
    before: () => {
      lane.program().signal('SIGTERM');
      return Promise.resolve('forward');
    },
  }),
  'answer-lost': () => ({ after: () => Promise.resolve('cut') }),
  conflict: ({ seed }) => ({
    before: async (write) => {
      const annotations = { touched: String(Date.now()) };
      await seed.client.patch(objectOf(write), { metadata: { annotations } });
      return 'forward';
    },
  }),
  autoscaler: ({ seed, lane }) => ({
    before: async (write) => {
      const dependent = dependentOf(write);
      lane.expected[dependent] += 3;
      await seed.client.patch(`${objectOf(write)}/scale`, { spec: { replicas: lane.expected[dependent] } });
      return 'forward';
    },
  }),
};
const endsProgram = (trouble: string): boolean => ['killed-before', 'killed-after', 'terminated'].includes(trouble);
export const changesObject = (trouble: string): boolean => ['conflict', 'autoscaler'].includes(trouble);

/** Arms a lane's proxy: the next write to `target` meets the lane's trouble, once; a program that it ends is started again. */
export const arm = (seed: ControlPlane, lane: Lane, target: string | undefined) => {
  const trouble = troubles[lane.name]?.({ seed, lane }) ?? {};
  let struck: ProxiedWrite | undefined;
  let recovery: Promise<unknown> = Promise.resolve();
  const restart = async (): Promise<void> => {
    const exit = await lane.program().ended;
    await lane.start();
    if (lane.name === 'terminated' && exit !== 0) {
      throw new Error(`${lane.name}: exit code ${String(exit)} after SIGTERM`);
    }
  };
  const meets = (write: ProxiedWrite): boolean => struck === undefined && targetOf(write) === target;
  lane.proxy.setFault({
    before: async (write) => {
      if (trouble.before === undefined || !meets(write)) return 'forward';
      struck = write;
      const fate = await trouble.before(write);
      if (fate === 'drop') recovery = restart();
      return fate;
    },
    after: async (write) => {
      // What comes after a write is about one that has landed.
      if (trouble.after !== undefined && meets(write) && write.status === 200) struck = write;
      if (struck !== write) return 'answer';
      const fate = await trouble.after?.(write);
      if (endsProgram(lane.name)) recovery = restart();
      return fate ?? 'answer';
    },
  });
  return {
    hasStruck: () => target === undefined || struck !== undefined,
    struck: () => struck,
    recovered: () => recovery,
  };
};

/** Kills a lane's program right after the next write to `target` has landed. */
export const killAfter = (lane: Lane, target: string) => {
  let isDead = false;
  lane.proxy.setFault({
    after: async (write) => {
      if (targetOf(write) !== target || write.status !== 200) return 'answer';
      lane.proxy.setFault(undefined);
      await lane.kill();
      isDead = true;
      return 'cut';
    },
  });
  return { isDead: () => isDead };
};

/** The writes that have to land, in this order: a count that the autoscaler has raised from 0 needs no restoring. */
export const neededWrites = (lane: Lane, flow: FlowDirection, target: string | undefined): readonly string[] =>
  flows[flow].filter(
    (write) => !(lane.name === 'autoscaler' && flow === 'up' && write === 'mill/scale' && write === target),
  );
