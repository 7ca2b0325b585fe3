import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildCluster,
  buildLease,
  buildMachine,
  buildNode,
  buildShoot,
  microTime,
} from '../../../test/doubles/builders.ts';
import { checkMany, mutate, mutations } from '../../../test/doubles/mutations.ts';
import { decodeCluster } from '../../gardener/cluster.ts';
import { listMachines } from '../../gardener/machine.ts';
import { listNodes } from '../../gardener/node.ts';
import type { Call } from '../../kubernetes/api/call.ts';
import { DecodeError } from '../../kubernetes/api/decode.ts';
import { ApiError, type Result } from '../../kubernetes/api/errors.ts';
import { listNodeLeases } from '../../kubernetes/api/lease.ts';
import { disturbed, held, origin, runProbe, undisturbed } from '../testing/probe-run.ts';
import { decideShootLifecycle } from '../clusters/lifecycle.ts';
import { type Decision, type DependentsView, type ProbeMemory, emptyProbeMemory } from './judgement.ts';

/** The lists of a shoot as the API servers return them. */
interface Answers {
  readonly leases: unknown;
  readonly nodes: unknown;
  readonly machines: unknown;
}

type Name = keyof Answers;
const names = ['leases', 'nodes', 'machines'] as const satisfies readonly Name[];

const failures = { leases: 'lease_list_failed', nodes: 'node_list_failed', machines: 'machine_list_failed' } as const;

const nodeNames = Array.from({ length: 10 }, (_, index) => `node-${String(index + 1)}`);

const list = (kind: string, items: readonly unknown[]) => ({
  kind: `${kind}List`,
  apiVersion: 'v1',
  metadata: { resourceVersion: '7' },
  items,
});

/** Lists with healthy nodes, whose leases were renewed at `renewedAt` (monotonic milliseconds). */
const answersAt = (renewedAt: number): Answers => ({
  leases: list(
    'Lease',
    nodeNames.map((name) => buildLease({ name, renewTime: microTime(origin + renewedAt) })),
  ),
  nodes: list(
    'Node',
    nodeNames.map((name) => buildNode({ name, conditions: [{ type: 'DiskPressure', status: 'False' }] })),
  ),
  machines: list(
    'Machine',
    nodeNames.map((name) => buildMachine({ name })),
  ),
});

/** Reads a response like the client: a DecodeError makes the call fail, any other error is a bug. */
const read = <T>({ decode }: Call<T>, json: unknown): Result<T, ApiError> => {
  try {
    return { ok: true, value: decode(json) };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { ok: false, error: new ApiError({ code: 'MalformedResponse', message: error.message, cause: error }) };
  }
};

interface Run {
  readonly at: number;
  readonly answers: Answers;
  readonly dependents?: DependentsView;
}

/** Runs a probe with the real decoders. `malformed` is true if any list that the run requested was malformed. */
const probe = (memory: ProbeMemory, run: Run): { readonly verdict: Decision; readonly malformed: boolean } => {
  const { at, answers, dependents = disturbed } = run;
  const lists = {
    leases: read(listNodeLeases, answers.leases),
    nodes: read(listNodes, answers.nodes),
    machines: read(listMachines('shoot--dev--one'), answers.machines),
  };
  const { leases, nodes, machines } = lists;
  const failed = names.filter((name) => !lists[name].ok);
  const { decision, isEager } = runProbe(memory, {
    at,
    dependents,
    random: 0.5,
    leases: leases.ok ? leases.value : [],
    nodes: nodes.ok ? nodes.value : undefined,
    machines: machines.ok ? machines.value : undefined,
    failures: Object.fromEntries(names.flatMap((name) => (lists[name].ok ? [] : [[name, lists[name].error]]))),
  });
  return { verdict: decision, malformed: failed.some((name) => name === 'leases' || isEager) };
};

const isSound = ({ nextRunAt, reason, counts }: Decision, now: number): void => {
  expect(Number.isFinite(nextRunAt)).toBe(true);
  expect(nextRunAt).toBeGreaterThan(now);
  expect(reason).not.toBe('');
  if (counts !== undefined) expect(counts.expired).toBeLessThanOrEqual(counts.candidates);
};

const seenAt = (at: number): ProbeMemory =>
  probe(emptyProbeMemory, { at, answers: answersAt(at), dependents: disturbed }).verdict.memory;

const someName = fc.constantFrom(...names);
const someDependents = fc.constantFrom(disturbed, undisturbed, held);

describe('lists with something wrong in them', () => {
  const good = answersAt(100_000);
  const cases = fc.tuple(someName, mutations(3), someDependents);

  const memory = seenAt(100_000);

  it.each([
    { what: 'a healthy shoot is never scaled down', before: seenAt(90_000), at: 100_500, some: 'healthy' },
    { what: 'in an outage well-formed lists are judged', before: memory, at: 140_000, some: 'unhealthy' },
  ])('$what, and a malformed list ends the run', ({ before, at, some }) => {
    const seen = checkMany(cases, ([name, changes, dependents]) => {
      const answers = { ...good, [name]: mutate(good[name], changes) };
      const { verdict, malformed } = probe(before, { at, answers, dependents });
      isSound(verdict, at);
      expect(verdict.verdict.kind === 'failed').toBe(malformed);
      if (malformed) expect(verdict.verdict).toMatchObject({ failure: failures[name] });
      return verdict.verdict.kind;
    });
    expect([...seen.keys()]).toEqual(expect.arrayContaining(['failed', some]));
    if (some === 'healthy') for (const kind of ['unhealthy', 'confirming'] as const) expect(seen.has(kind)).toBe(false);
  });

  it.each(names.flatMap((name) => [[], null].map((items) => [name, items] as const)))(
    'in an outage %s that are %j are well-formed: there is no candidate node',
    (name, items) => {
      const answers = { ...good, [name]: { ...(good[name] as object), items } };
      const { verdict } = probe(memory, { at: 140_000, answers });
      expect(verdict).toMatchObject({ verdict: { kind: 'healthy' }, reason: 'no candidate nodes' });
    },
  );

  /** Values of a wrong type, by list and path. */
  const wrong: Readonly<Record<Name, readonly (readonly [path: string, values: readonly unknown[]])[]>> = {
    leases: [
      ['', [null, 1, 'x', []]],
      ['metadata', [null, 1, 'x', [], undefined]],
      ['metadata.name', [null, 1, {}, [], undefined]],
      ['metadata.annotations', [1, 'x', [], { a: 1 }, { a: null }]],
      ['spec', [1, 'x', []]],
      ['spec.renewTime', [1, {}, [], 'yesterday', '9999-99-99T99:99:99Z', true]],
    ],
    nodes: [
      ['', [null, 1, 'x', []]],
      ['metadata', [null, 1, 'x', [], undefined]],
      ['metadata.name', [null, 1, {}, [], undefined]],
      ['metadata.labels', [1, 'x', [], { 'worker.gardener.cloud/pool': 1 }]],
      ['status', [1, 'x', []]],
      ['status.conditions', [1, 'x', {}, [null], [{}], [{ type: 1 }], [{ type: 'Ready', status: true }]]],
    ],
    machines: [
      ['', [null, 1, 'x', []]],
      ['metadata.labels', [1, 'x', [], { node: 1 }]],
      ['metadata.labels.node', [1, null, {}, []]],
      ['status.currentStatus', [1, 'x', []]],
      ['status.currentStatus.phase', [1, {}, [], true]],
    ],
  };

  const replaceAt = (item: unknown, path: readonly string[], value: unknown): unknown => {
    const [key, ...rest] = path;
    if (key === undefined || key === '') return value;
    const object = item as Readonly<Record<string, unknown>>;
    return { ...object, [key]: replaceAt(object[key] ?? {}, rest, value) };
  };

  it.each(names)('one item of the wrong shape among many %s ends the run without scaling', (name) => {
    const { items, ...rest } = good[name] as { readonly items: readonly unknown[] };
    for (const [path, values] of wrong[name]) {
      for (const value of values) {
        for (const index of [0, 9]) {
          const broken = items.map((item, at) => (at === index ? replaceAt(item, path.split('.'), value) : item));
          const answers = { ...good, [name]: { ...rest, items: broken } };
          const { verdict } = probe(memory, { at: 140_000, answers });
          const what = `${path} = ${JSON.stringify(value)}`;
          expect(verdict.verdict, what).toMatchObject({ kind: 'failed', failure: failures[name] });
          expect(verdict.reason, what).toContain(`items[${String(index)}]`);
        }
      }
    }
  });
});

/** Returns the workers of a Cluster; undefined if any field on the path is absent. */
const workersIn = (cluster: unknown): unknown =>
  ['spec', 'shoot', 'spec', 'provider', 'workers'].reduce<unknown>(
    (found, key) => (isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined),
    cluster,
  ) ?? undefined;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

describe('a Cluster with something wrong in it', () => {
  const shoot = buildShoot({
    hibernationEnabled: false,
    hibernated: false,
    workers: ['a', { name: 'b', nodeConditions: ['KernelDeadlock'] }],
    nodeMonitorGracePeriod: '40s',
  });

  it('is decoded or rejected, and never treated as one without workers if it has some', () => {
    const seen = checkMany(mutations(3), (changes) => {
      const json = mutate(buildCluster({ shoot }), changes);
      let cluster: ReturnType<typeof decodeCluster>;
      try {
        cluster = decodeCluster(json, 'cluster');
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        return 'unreadable';
      }
      if (!cluster.shoot.ok) {
        expect(cluster.shoot.error).toBeInstanceOf(DecodeError);
        return 'shoot undecodable';
      }
      const decision = decideShootLifecycle(cluster.shoot.value);
      const workers = workersIn(json);
      const restores = decision.kind === 'stop' && decision.releasePolicy === 'restore';
      if (restores) expect(workers === undefined || (Array.isArray(workers) && workers.length === 0)).toBe(true);
      if (decision.kind !== 'run') return decision.kind;
      const { nodeMonitorGraceMs } = decision.settings;
      if (nodeMonitorGraceMs !== undefined) expect(nodeMonitorGraceMs).toBeGreaterThan(0);
      for (const [pool, types] of decision.settings.poolConditions) {
        expect([pool, ...types].every((text) => typeof text === 'string')).toBe(true);
      }
      return decision.kind;
    });
    expect([...seen.keys()].toSorted()).toEqual(['leave', 'run', 'shoot undecodable', 'stop', 'unreadable']);
  });
});
