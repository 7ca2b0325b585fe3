import type { ControlPlane } from '../../envtest/control-plane.ts';
import type { IsolatedShoot } from './isolated-shoot.ts';
import type { Dependent } from './prober-world.ts';
import type { ProxiedWrite, WriteFault } from './write-proxy.ts';

/** The writes of an undisturbed flow: name and subresource. */
export const flows = {
  down: ['machine-controller-manager', 'kube-controller-manager', 'mill', 'mill/scale'],
  up: ['kube-controller-manager', 'machine-controller-manager', 'mill/scale', 'mill'],
} as const;
export type FlowDirection = keyof typeof flows;

export const targetOf = ({ path }: ProxiedWrite): string => path.replace(/^.*\/(deployments|watermills)\//, '');
const dependentOf = (write: ProxiedWrite): Dependent => targetOf(write).replace('/scale', '') as Dependent;
const objectOf = ({ path }: ProxiedWrite): string => path.replace(/\/scale$/, '');

interface WriteFaultCase {
  readonly seed: ControlPlane;
  readonly isolated: IsolatedShoot;
}

/** The fault of one write of a flow, by the name of the shoot that has it. */
export const writeFaults: Readonly<Record<string, (trouble: WriteFaultCase) => WriteFault>> = {
  'killed-before': ({ isolated }) => ({
    before: async () => {
      await isolated.kill();
      return 'drop';
    },
  }),
  'killed-after': ({ isolated }) => ({
    after: async () => {
      await isolated.kill();
      return 'cut';
    },
  }),
  terminated: ({ isolated }) => ({
    before: () => {
      isolated.program().signal('SIGTERM');
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
  autoscaler: ({ seed, isolated }) => ({
    before: async (write) => {
      const dependent = dependentOf(write);
      isolated.expected[dependent] += 3;
      await seed.client.patch(`${objectOf(write)}/scale`, { spec: { replicas: isolated.expected[dependent] } });
      return 'forward';
    },
  }),
};
const endsProgram = (trouble: string): boolean => ['killed-before', 'killed-after', 'terminated'].includes(trouble);
export const changesObject = (trouble: string): boolean => ['conflict', 'autoscaler'].includes(trouble);

/** Arms a shoot's proxy: the next write to `target` has the shoot's fault, once. If the fault ends the program, the program is started again. */
export const injectOnce = (seed: ControlPlane, isolated: IsolatedShoot, target: string | undefined) => {
  const trouble = writeFaults[isolated.name]?.({ seed, isolated }) ?? {};
  let struck: ProxiedWrite | undefined;
  let recovery: Promise<unknown> = Promise.resolve();
  const restart = async (): Promise<void> => {
    const exit = await isolated.program().ended;
    await isolated.start();
    if (isolated.name === 'terminated' && exit !== 0) {
      throw new Error(`${isolated.name}: exit code ${String(exit)} after SIGTERM`);
    }
  };
  const meets = (write: ProxiedWrite): boolean => struck === undefined && targetOf(write) === target;
  isolated.proxy.setFault({
    before: async (write) => {
      if (trouble.before === undefined || !meets(write)) return 'forward';
      struck = write;
      const fate = await trouble.before(write);
      if (fate === 'drop') recovery = restart();
      return fate;
    },
    after: async (write) => {
      // A fault after a write needs a write that succeeded.
      if (trouble.after !== undefined && meets(write) && write.status === 200) struck = write;
      if (struck !== write) return 'answer';
      const fate = await trouble.after?.(write);
      if (endsProgram(isolated.name)) recovery = restart();
      return fate ?? 'answer';
    },
  });
  return {
    hasStruck: () => target === undefined || struck !== undefined,
    struck: () => struck,
    recovered: () => recovery,
  };
};

/** Kills a shoot's program right after the next write to `target` has succeeded. */
export const killAfter = (isolated: IsolatedShoot, target: string) => {
  let isDead = false;
  isolated.proxy.setFault({
    after: async (write) => {
      if (targetOf(write) !== target || write.status !== 200) return 'answer';
      isolated.proxy.setFault(undefined);
      await isolated.kill();
      isDead = true;
      return 'cut';
    },
  });
  return { isDead: () => isDead };
};

/** Returns the writes that must succeed, in order. A count that the autoscaler has raised from 0 needs no restoration. */
export const neededWrites = (
  isolated: IsolatedShoot,
  flow: FlowDirection,
  target: string | undefined,
): readonly string[] =>
  flows[flow].filter(
    (write) => !(isolated.name === 'autoscaler' && flow === 'up' && write === 'mill/scale' && write === target),
  );
