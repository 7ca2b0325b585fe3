// Clients without credentials do their worst to every server of the leader, which has the memory limit of the manifests and a tenth of a core.
import { get } from 'node:http';
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import { freePorts } from '../../test/envtest/processes.ts';
import { startServed } from '../../test/envtest/served.ts';
import { waitFor } from '../../test/envtest/waiting.ts';
import { memoryOf } from '../harness/cpu.ts';
import { gardenConfig, probeIntervalMs } from '../harness/garden-config.ts';
import { type HealthyWorld, startHealthyWorld } from '../harness/healthy-world.ts';
import {
  type BenchOptions,
  type PartResult,
  type Size,
  measureEachTarget,
  never,
  partResult,
} from '../harness/part.ts';
import { type Column, inMegabytes, inSeconds, quantile, tableOf } from '../harness/table.ts';
import { type RunningTarget, type Target, startTarget, waitForTarget } from '../harness/target.ts';
import { throttle } from '../harness/throttle.ts';
import { probeKind } from '../harness/traffic.ts';
import type { Attack, AttackerInit, AttackerProcess } from '../worlds/attacker.ts';

interface AttackedResult extends Size {
  readonly target: string;
  readonly by: 'cgroup' | 'SIGSTOP' | 'nothing';
  readonly seconds: number;
  /** Of each server: metrics, health, page. */
  readonly attacks: readonly Attack[];
  /** Times of `GET /healthz` during the attack; Infinity for one without a 200 within 5 s. */
  readonly healthMs: readonly number[];
  /** Probes a second before and during the attack. */
  readonly probesBefore: number;
  readonly probesDuring: number;
  /** Resident memory before the attack, and the most during it. */
  readonly bytesBefore: number;
  readonly bytesDuring: number;
}

const cpuShare = 0.1;
const memoryBytes = 512 * 1024 * 1024;
/** Options of Node in the manifests with this limit. */
const nodeOptions = 'env NODE_OPTIONS="--max-semi-space-size=8 --max-old-space-size=320"';
const usual = { size: { shoots: 300, nodes: 5 }, windowMs: 120_000, atOnce: 100, connections: 10_000, bytes: 1e9 };
const quickly = { size: { shoots: 3, nodes: 2 }, windowMs: 3_000, atOnce: 100, connections: 100, bytes: 1e6 };
type Plan = typeof usual;
const limitMs = 900_000;
const healthEveryMs = 500;
const healthLimitMs = 5_000;
/** The aims: of every `/healthz`, of the probes a second before by those during the attack, and of the memory above that before. */
const aims = { healthMs: 2_000, slowdown: 1.2, memoryBytes: 64e6 };

const askHealth = (port: number, { clock }: BenchOptions): Promise<number> =>
  new Promise((resolve) => {
    const from = clock.monotonic();
    const request = get({ port, path: '/healthz', agent: false, timeout: healthLimitMs }, (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? clock.monotonic() - from : Number.POSITIVE_INFINITY);
    });
    request.on('error', () => resolve(Number.POSITIVE_INFINITY));
    request.on('timeout', () => request.destroy(new Error('no answer in time')));
  });

const probesOf = async (world: HealthyWorld): Promise<number> =>
  (await world.counts()).shoots.kinds[probeKind]?.requests ?? 0;

interface Attacked {
  readonly program: RunningTarget;
  readonly ports: readonly [metrics: number, health: number, page: number];
  readonly world: HealthyWorld;
  readonly plan: Plan;
}

const hasEnough = ({ connections, bytes }: Plan, attacks: readonly Attack[]): boolean =>
  attacks.every((attack) => attack.connections >= connections && attack.pipelinedBytes >= bytes);

const attack = async ({ program, ports, world, plan }: Attacked, options: BenchOptions) => {
  const { clock } = options;
  const [metrics, health, page] = ports;
  const bytesBefore = memoryOf(program.pid).resident;
  const paths = [
    { port: metrics, path: '/metrics' },
    { port: health, path: '/status' },
    { port: page, path: '/status' },
  ];
  const init: AttackerInit = { servers: paths, atOnce: plan.atOnce };
  const attacker = startServed<AttackerProcess>(new URL('../worlds/attacker.ts', import.meta.url), init);
  await attacker.ready();
  const startedAt = clock.monotonic();
  const probes = await probesOf(world);
  const asked: Promise<number>[] = [];
  let bytesDuring = 0;
  try {
    await attacker.order('attack');
    await waitFor({ what: 'the attack to end', withinMs: limitMs, everyMs: healthEveryMs }, async () => {
      program.check();
      asked.push(askHealth(health, options));
      bytesDuring = Math.max(bytesDuring, memoryOf(program.pid).resident);
      return clock.monotonic() - startedAt >= plan.windowMs && hasEnough(plan, await attacker.order('counts'));
    });
    const healthMs = await Promise.all(asked);
    const seconds = (clock.monotonic() - startedAt) / 1_000;
    const probesDuring = ((await probesOf(world)) - probes) / seconds;
    return { seconds, attacks: await attacker.order('counts'), healthMs, probesDuring, bytesBefore, bytesDuring };
  } finally {
    await attacker.end();
  }
};

const play = async (attacked: Attacked, options: BenchOptions) => {
  const { program, world, plan } = attacked;
  const what = 'every shoot to be probed twice';
  await waitForTarget(program, { what, withinMs: limitMs }, async () => (await world.counts()).fewestProbes >= 2);
  const probes = await probesOf(world);
  await options.clock.sleep(plan.windowMs, never);
  const probesBefore = ((await probesOf(world)) - probes) / (plan.windowMs / 1_000);
  return { probesBefore, ...(await attack(attacked, options)) };
};

const measure = async (target: Target, directory: string, options: BenchOptions): Promise<AttackedResult> => {
  const plan = options.quick ? quickly : usual;
  const size = { shoots: options.shoots ?? plan.size.shoots, nodes: options.nodes ?? plan.size.nodes };
  const [metrics, health, page] = (await freePorts(3)) as [number, number, number];
  const asInPod = { ...target, command: `${nodeOptions} ${target.command}` };
  const throttled = options.quick
    ? { target: asInPod, by: 'nothing' as const, end: () => undefined }
    : throttle(asInPod, { share: cpuShare, memoryBytes });
  const world = await startHealthyWorld(size, directory);
  try {
    const intervalMs = options.quick ? 1_000 : probeIntervalMs;
    const program = startTarget(throttled.target, {
      component: 'prober',
      config: gardenConfig(kubeconfigSecretName, { probeIntervalMs: intervalMs, initialDelayMs: 1_000 }),
      kubeconfig: world.kubeconfig,
      directory,
      flags: [
        `--metrics-bind-addr=127.0.0.1:${String(metrics)}`,
        `--health-bind-addr=127.0.0.1:${String(health)}`,
        `--page-bind-addr=127.0.0.1:${String(page)}`,
      ],
    });
    try {
      const figures = await play({ program, ports: [metrics, health, page], world, plan }, options);
      return { target: target.name, by: throttled.by, ...size, ...figures };
    } finally {
      await program.stop();
    }
  } finally {
    await world.end();
    throttled.end();
  }
};

const failuresOf = (result: AttackedResult): readonly string[] => {
  const { healthMs, probesBefore, probesDuring, bytesBefore, bytesDuring } = result;
  const slowest = quantile(healthMs, 1);
  const slowdown = probesBefore / probesDuring;
  const checks: readonly (readonly [boolean, string])[] = [
    [slowest <= aims.healthMs, `/healthz took ${inSeconds(slowest)} s`],
    [slowdown <= aims.slowdown, `probes were ${slowdown.toFixed(2)} times rarer`],
    [bytesDuring - bytesBefore <= aims.memoryBytes, `${inMegabytes(bytesDuring - bytesBefore)} MB more memory`],
  ];
  return checks.filter(([holds]) => !holds).map(([, failure]) => failure);
};

const eachServer = (tell: (attack: Attack) => string) => (row: AttackedResult) => row.attacks.map(tell).join(', ');

const columns: readonly Column<AttackedResult>[] = [
  ['program', (row) => row.target],
  ['limited by', (row) => row.by],
  ['seconds', (row) => row.seconds.toFixed(0)],
  ['connections', eachServer(({ connections }) => String(connections))],
  ['MB pipelined', eachServer(({ pipelinedBytes }) => inMegabytes(pipelinedBytes))],
  ['/healthz: median', (row) => inSeconds(quantile(row.healthMs, 0.5))],
  ['worst', (row) => inSeconds(quantile(row.healthMs, 1))],
  ['probes a second before', (row) => row.probesBefore.toFixed(2)],
  ['during', (row) => row.probesDuring.toFixed(2)],
  ['MB before', (row) => inMegabytes(row.bytesBefore)],
  ['most during', (row) => inMegabytes(row.bytesDuring)],
];

const markdownOf = (results: readonly AttackedResult[]): string =>
  [
    `## Hostile clients of a prober of ${String(results[0]?.shoots ?? 0)} shoots with a tenth of a core and 512 MiB`,
    '',
    tableOf(columns, results),
    '',
    'Of the servers for metrics, health and the page. Times in seconds; MB: resident memory.',
  ].join('\n');

export const runAttacked = async (options: BenchOptions): Promise<PartResult> => {
  const run = (target: Target, directory: string) => measure(target, directory, options);
  return partResult(await measureEachTarget('attacked', options, run), markdownOf, failuresOf);
};
