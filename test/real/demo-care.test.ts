import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CareOutput } from '../../simulator/demo/care.ts';
import { demoCareConfig, demoProberConfig } from '../../simulator/demo/configs.ts';
import { faultCall } from '../../simulator/demo/faults.ts';
import { createShootConnector } from '../../src/kubernetes/connection/shoot-connector.ts';
import { systemClock } from '../../src/process/clock.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type Show, endDemos, startDemo, startInColour, until } from './support/demo.ts';
import { type Program, startProgram } from './support/program.ts';

const namespaceOf = (shoot: string): string => `shoot--sim--${shoot}`;
const escape = '\u001b';

/** Runs the commands of a person beside the demo, with a running prober and no other writer. */
describe('dwd care in the world of the demo', { timeout: 180_000 }, () => {
  let show: Show;
  let prober: Program;
  /** Directories of the world and of the configurations. */
  let [world, directory] = ['', ''];

  beforeAll(async () => {
    world = mkdtempSync(join(tmpdir(), 'dwd-demo-world-'));
    directory = mkdtempSync(join(tmpdir(), 'dwd-demo-care-'));
    show = startDemo(`--serve-world=${world}`);
    await until(() => show.output().includes('\n'), 'the world is served');
    writeFileSync(join(directory, 'care.yaml'), demoCareConfig);
    writeFileSync(join(directory, 'prober.yaml'), demoProberConfig('live'));
    const files = [`--config-file=${join(directory, 'prober.yaml')}`, `--kubeconfig=${seed()}`];
    prober = startProgram(['prober', ...files, '--metrics-bind-addr=0', '--health-bind-addr=0']);
  }, 60_000);

  afterAll(async () => {
    prober.signal('SIGTERM');
    await prober.ended;
    show.process.stdin?.end();
    await show.exit;
    await endDemos();
    for (const temporary of [world, directory]) rmSync(temporary, { recursive: true });
  }, 60_000);

  const seed = (): string => join(world, 'seed.kubeconfig');
  const command = (): readonly string[] => [
    ...['care', '--once', `--config-file=${join(directory, 'care.yaml')}`, `--kubeconfig=${seed()}`],
  ];

  const care = async (...flags: readonly string[]) => {
    const program = startProgram([...command(), ...flags]);
    const code = await program.ended;
    return { code, text: program.output() };
  };

  /** Runs care. Returns `status reason` by shoot and condition type. */
  const observe = async (): Promise<{
    readonly code: unknown;
    readonly found: Record<string, Record<string, string>>;
  }> => {
    const { code, text } = await care('--output=json');
    const { shoots } = JSON.parse(text) as CareOutput;
    const found = shoots.map(({ namespace, conditions }) => [
      namespace.replace(namespaceOf(''), ''),
      Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`])),
    ]);
    return { code, found: Object.fromEntries(found) as Record<string, Record<string, string>> };
  };

  const cut = async (shoot: string, isCut: boolean): Promise<void> => {
    const connector = createShootConnector({ clock: systemClock(), userAgent: 'test' });
    const connection = connector.clientFor(readFileSync(seed(), 'utf8'));
    await connection.client.call(faultCall(isCut ? 'cut kubelets' : 'connect kubelets', namespaceOf(shoot)), {
      signal: new AbortController().signal,
      timeoutMs: 10_000,
    });
    connection.close();
  };

  const well = {
    APIServerAvailable: 'True HealthzRequestSucceeded',
    ControlPlaneHealthy: 'True ControlPlaneRunning',
    ObservabilityComponentsHealthy: 'True ObservabilityComponentsRunning',
    EveryNodeReady: 'True EveryNodeReady',
    SystemComponentsHealthy: 'True SystemComponentsRunning',
  };

  it('finds all five conditions of every shoot True, and exits with 0', async () => {
    const { code, text } = await care();
    expect(text).toMatch(/^shoot--sim--alpha \(garden-sim\/alpha\): healthy\n {2}APIServerAvailable +True +Healthz/);
    expect(text.match(/^ {2}\w+ +True +\w+$/gm)).toHaveLength(20);
    expect(text).toMatch(/\n4 shoots: 4 healthy\n$/);
    expect(code).toBe(0);
    expect(await observe()).toEqual({ code: 0, found: { alpha: well, bravo: well, charlie: well, twin: well } });
  });

  it('reports, while two shoots are cut off, the held resources of one and the state of the unprotected one', async () => {
    await Promise.all([cut('alpha', true), cut('twin', true)]);
    const expected = {
      alpha: {
        ...well,
        ControlPlaneHealthy: 'False ControllersScaledDown',
        EveryNodeReady: 'False TooManyExpiredNodeLeases',
        SystemComponentsHealthy: 'False TunnelConnectionBroken',
      },
      // No prober protects it.
      twin: {
        ...well,
        EveryNodeReady: 'False NodeUnhealthy',
        SystemComponentsHealthy: 'False TunnelConnectionBroken',
      },
      bravo: well,
      charlie: well,
    };
    let last: unknown;
    await waitFor({ what: 'the outage', withinMs: 120_000, detail: () => JSON.stringify(last) }, async () => {
      last = await observe();
      return JSON.stringify(last).includes('TooManyExpired') && JSON.stringify(last).includes('NodeUnhealthy');
    });
    expect(last).toEqual({ code: 1, found: expected });
    const { code, text } = await care();
    expect(code).toBe(1);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'scaled down to 0 replicas by dependency-watchdog-prober: kube-controller-manager, machine-controller-manager, cluster-autoscaler',
    );
    expect(text).toMatch(/\n4 shoots: 2 unhealthy, 2 healthy\n$/);
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(text).not.toContain(escape);
    expect(await care(`--shoot=${namespaceOf('charlie')}`)).toMatchObject({ code: 0 });
  });

  it('colours its output in a terminal', async () => {
    const terminal = startInColour(...command(), `--shoot=${namespaceOf('bravo')}`);
    expect(await terminal.exit).toBe(0);
    const text = terminal.output();
    expect(text).toContain(`${escape}[32mhealthy${escape}[39m`);
    expect(text).toContain(`${escape}[32mTrue`);
  });

  it('finds all conditions True again when the network is repaired', async () => {
    await Promise.all([cut('alpha', false), cut('twin', false)]);
    await waitFor({ what: 'recovery', withinMs: 120_000 }, async () => (await observe()).code === 0);
  });
});
