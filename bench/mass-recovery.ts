// etcd of all shoots of a seed comes back in the same second: how long until the last crash-looping pod is deleted?
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/runtime/index.ts';
import { type Program, startProgram } from '../test/e2e/support/program.ts';
import { waitFor } from '../test/envtest/waiting.ts';
import { cpuSecondsOf } from './mass-outage/cpu.ts';
import { type Answer, etcdService, podsPerShoot, type Report } from './mass-recovery/protocol.ts';
import { type Served, startServed } from './support/served.ts';
import { inSeconds, markdownTable, quantile } from './support/table.ts';

const shoots = Number(process.argv[2] ?? '250');
const pods = shoots * podsPerShoot;
/** For the slowest pod. */
const aimMs = 2_000;
const idleMs = 10_000;
/** One watch of slices, one of pods, 20 requests of weedings, and the ordinary lane's for Events. */
const connectionBound = 1 + 1 + 20 + 4;

const clock = systemClock();
const never = new AbortController().signal;

const config = `servicesAndDependantSelectors:
  ${etcdService}:
    podSelectors:
      - matchExpressions:
          - {key: gardener.cloud/role, operator: In, values: [controlplane]}
          - {key: role, operator: In, values: [apiserver]}
`;

const startWeeder = async (kubeconfigText: string, directory: string): Promise<Program> => {
  const [configFile, kubeconfig] = [join(directory, 'weeder.yaml'), join(directory, 'seed.kubeconfig')];
  writeFileSync(configFile, config);
  writeFileSync(kubeconfig, kubeconfigText, { mode: 0o600 });
  const addresses = ['--metrics-bind-addr=0', '--health-bind-addr=0'];
  const program = startProgram(['weeder', `--config-file=${configFile}`, `--kubeconfig=${kubeconfig}`, ...addresses]);
  await waitFor({ what: 'the weeder to watch', withinMs: 30_000 }, () =>
    Promise.resolve(program.lines().find(({ msg }) => msg === 'watching over services')),
  );
  return program;
};

interface Result {
  readonly delays: readonly number[];
  readonly idle: Report;
  readonly report: Report;
  readonly cpuSeconds: number;
}

const play = async (world: Served<Answer>, weeder: Program): Promise<Result> => {
  await clock.sleep(idleMs, never);
  const idle = await world.order('report');
  const cpuBefore = cpuSecondsOf(weeder.pid);
  const { at } = await world.order('recover');
  const report = await waitFor({ what: 'all pods to be deleted', withinMs: 120_000, everyMs: 500 }, async () => {
    const seen = await world.order('report');
    return seen.deletedAt.length >= pods ? seen : undefined;
  });
  const cpuSeconds = cpuSecondsOf(weeder.pid) - cpuBefore;
  return { delays: report.deletedAt.map((deleted) => deleted - at), idle, report, cpuSeconds };
};

const tell = ({ delays, idle, report, cpuSeconds }: Result): readonly string[] => {
  const [median, p99, worst] = [0.5, 0.99, 1].map((q) => quantile(delays, q)) as [number, number, number];
  const failures = [
    ...(worst < aimMs ? [] : [`the slowest pod took longer than ${inSeconds(aimMs)} s`]),
    ...(report.connections <= connectionBound ? [] : [`more than ${String(connectionBound)} connections`]),
    ...((idle.requests['list pods'] ?? 0) === 0 ? [] : ['pods were listed while nothing happened']),
  ];
  const told = (requests: Report['requests']): string =>
    Object.entries(requests)
      .map(([key, count]) => `${key} ${String(count)}`)
      .join(', ');
  process.stdout.write(
    `${[
      `## Recovery of ${String(shoots)} services in the same second`,
      '',
      markdownTable(
        ['seconds from ready to delete', 'median', 'p99', 'worst'],
        [[`${String(delays.length)} pods`, inSeconds(median), inSeconds(p99), inSeconds(worst)]],
      ),
      '',
      `Aim: ${inSeconds(aimMs)} s for the worst.`,
      `Connections: ${String(report.connections)} (bound ${String(connectionBound)}). CPU of the weeder: ${cpuSeconds.toFixed(2)} s.`,
      `Requests while idle for ${inSeconds(idleMs)} s: ${told(idle.requests)}.`,
      `Requests in all: ${told(report.requests)}.`,
      '',
      ...(failures.length === 0 ? ['All aims were met.'] : failures.map((failure) => `Missed: ${failure}.`)),
    ].join('\n')}\n`,
  );
  return failures;
};

const main = async (): Promise<number> => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-mass-recovery-'));
  const world: Served<Answer> = startServed(new URL('./mass-recovery/world.ts', import.meta.url), [String(shoots)]);
  let weeder: Program | undefined;
  try {
    const { kubeconfig } = await world.answer('ready');
    weeder = await startWeeder(kubeconfig, directory);
    return tell(await play(world, weeder)).length === 0 ? 0 : 1;
  } finally {
    weeder?.signal('SIGTERM');
    await weeder?.ended;
    await world.end();
    rmSync(directory, { recursive: true, force: true });
  }
};

process.exitCode = await main();
