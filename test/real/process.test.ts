import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { demoProberConfig } from '../../simulator/demo/setting.ts';
import { freePorts } from '../envtest/processes.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type ServedDemoWorld, serveDemoWorld } from './support/demo-world.ts';
import { attack } from './support/hostile-clients.ts';
import { type LogLine, type Program, startProgram } from './support/program.ts';

const dwd = fileURLToPath(new URL('../../bin/dwd', import.meta.url));

/** The servers of a program: flags with which it listens, and their responses. */
const createServers = async () => {
  const [metrics = 0, health = 0] = await freePorts(2);
  // On a new connection, as a kubelet (`DisableKeepAlives` in Kubernetes' pkg/probe/http): an idle one may end just now.
  const get = async (port: number, path: string): Promise<Response | undefined> =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } }).catch(() => undefined);
  return {
    ports: { metrics, health },
    flags: [`--metrics-bind-addr=127.0.0.1:${metrics}`, `--health-bind-addr=127.0.0.1:${health}`],
    /** Returns the sum of all series of a metric. Undefined while it is not served. */
    metric: async (name: string): Promise<number | undefined> => {
      const text = await (await get(metrics, '/metrics'))?.text();
      const series = text?.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
      return series?.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    },
    isHealthy: async (): Promise<boolean> => (await get(health, '/healthz'))?.status === 200,
  };
};
type Servers = Awaited<ReturnType<typeof createServers>>;

let directory = '';
let world: ServedDemoWorld;
let seed = '';
let running: Pick<Program, 'signal' | 'ended'>[] = [];

const proberArgs = ({ flags }: Servers, more: readonly string[]): readonly string[] => {
  const files = [`--config-file=${join(directory, 'prober.yaml')}`, `--kubeconfig=${seed}`];
  return ['prober', ...files, ...flags, ...more];
};

/** Starts a prober in the demo's world. */
const startProber = async (...more: readonly string[]): Promise<Program & Servers> => {
  const servers = await createServers();
  const program = startProgram(proberArgs(servers, more));
  running.push(program);
  return { ...program, ...servers };
};

/** Starts one whose log nobody reads. */
const startUnread = async (log: number | 'pipe', ...more: readonly string[]) => {
  const servers = await createServers();
  const child = spawn(process.execPath, [dwd, ...proberArgs(servers, more)], { stdio: ['ignore', 'ignore', log] });
  const program: (typeof running)[number] = {
    signal: (name) => void child.kill(name),
    ended: once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals),
  };
  running.push(program);
  return { ...program, ...servers, child };
};

/** Waits for this many more runs. */
const untilRuns = async ({ metric }: Servers, more: number): Promise<void> => {
  const count = async (): Promise<number> => (await metric('dwd_prober_runs_total')) ?? 0;
  const before = await count();
  await waitFor({ what: `${more} more probes` }, async () => (await count()) >= before + more);
};

const untilDropped = ({ metric }: Servers): Promise<number> =>
  waitFor({ what: 'dropped lines are counted' }, async () => {
    const dropped = await metric('dwd_log_lines_dropped_total');
    return dropped === undefined || dropped === 0 ? undefined : dropped;
  });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'dwd-process-'));
  world = await serveDemoWorld(directory);
  seed = join(directory, 'seed.kubeconfig');
  const config = demoProberConfig().replace(/probeInterval: .*/, 'probeInterval: 100ms');
  writeFileSync(join(directory, 'prober.yaml'), config);
  // One warning for each of these exceeds the capacity of a pipe and the log's backlog.
  const unknown = Array.from({ length: 5_000 }, (_, index) => `unknown${index}: true\n`);
  writeFileSync(join(directory, 'talkative.yaml'), `${config}${unknown.join('')}`);
});

afterEach(async () => {
  for (const { signal, ended } of running) {
    signal('SIGKILL');
    await ended;
  }
  running = [];
});

afterAll(async () => {
  await world.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('a log that cannot be written', () => {
  const stopped = async ({ signal, ended }: (typeof running)[number]): Promise<void> => {
    signal('SIGTERM');
    expect(await ended).toBe(0);
  };

  it('is dropped and counted on a full disk, and probing continues', async () => {
    const prober = await startUnread(openSync('/dev/full', 'w'));
    await untilDropped(prober);
    await untilRuns(prober, 10);
    await stopped(prober);
  });

  it('is dropped and counted in a closed pipe, and probing continues', async () => {
    const prober = await startUnread('pipe', '--zap-log-level=debug');
    prober.child.stderr?.destroy();
    await untilDropped(prober);
    await untilRuns(prober, 10);
    await stopped(prober);
  });

  const talkative = (): string => `--config-file=${join(directory, 'talkative.yaml')}`;

  it('is dropped and counted in a pipe that is not read, probing continues, and a later reader sees the number', async () => {
    const prober = await startUnread('pipe', talkative());
    const dropped = await untilDropped(prober);
    await untilRuns(prober, 10);
    expect(await prober.isHealthy()).toBe(true);
    let text = '';
    prober.child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const loss = await waitFor({ what: 'the loss is logged' }, () => {
      const line = text.split('\n').find((one) => one.includes('"lines of this log could not be written"'));
      return line !== undefined && (JSON.parse(line) as LogLine);
    });
    expect(Number(loss.lines)).toBeGreaterThanOrEqual(dropped);
    await stopped(prober);
  });

  it('does not prevent the end of the program in a pipe that is not read', async () => {
    const prober = await startUnread('pipe', talkative());
    await untilDropped(prober);
    await stopped(prober);
  });
});

it('bears hostile clients of all its servers: it stays healthy, probes, and takes half of its memory limit at most', async () => {
  const [pagePort = 0] = await freePorts(1);
  const prober = await startProber(`--page-bind-addr=127.0.0.1:${String(pagePort)}`);
  const residentMb = (): number => {
    const status = readFileSync(`/proc/${String(prober.pid)}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
  };
  await untilRuns(prober, 1);
  const runs = (await prober.metric('dwd_prober_runs_total')) ?? 0;
  const { metrics, health } = prober.ports;
  const servers = [
    { port: metrics, path: '/metrics' },
    { port: health, path: '/status' },
    { port: pagePort, path: '/status' },
  ];
  const clients = attack(servers, 100);
  try {
    await waitFor({ what: '300 connections to each server' }, async () => {
      expect(await prober.isHealthy()).toBe(true);
      return clients.connections().every((count) => count >= 300);
    });
    expect(residentMb()).toBeLessThan(256);
  } finally {
    clients.stop();
  }
  const during = await waitFor({ what: 'metrics' }, () => prober.metric('dwd_prober_runs_total'));
  expect(during - runs).toBeGreaterThan(30);
});

it('keeps probing with the old configuration when its file becomes a FIFO', async () => {
  const [own, next] = [join(directory, 'reloaded.yaml'), join(directory, 'reloaded.yaml.new')];
  writeFileSync(own, readFileSync(join(directory, 'prober.yaml')));
  const prober = await startProber(`--config-file=${own}`);
  await untilRuns(prober, 1);
  execFileSync('mkfifo', [next]);
  renameSync(next, own);
  await waitFor({ what: 'the reload is refused' }, async () => (await prober.metric('dwd_config_reload_failed')) === 1);
  await untilRuns(prober, 20);
  const about = prober.lines().filter(({ level, problem }) => level === 'error' && problem !== undefined);
  expect(about).toMatchObject([{ problem: expect.stringMatching(/not a regular file/) as string }]);
  prober.signal('SIGTERM');
  expect(await prober.ended).toBe(0);
});

describe('signals', () => {
  const lease = { namespace: 'default', name: 'dwd-prober-leader-election' };
  const holder = (): unknown => {
    const stored = world.world.store.get(simKinds.Lease, lease);
    return (stored?.spec as { readonly holderIdentity?: string } | undefined)?.holderIdentity;
  };

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s releases the Lease and ends with 0', async (signal) => {
    const prober = await startProber('--enable-leader-election', '--leader-election-namespace=default');
    await untilRuns(prober, 1);
    await waitFor({ what: 'it leads' }, () => Boolean(holder()));
    prober.signal(signal);
    expect(await prober.ended).toBe(0);
    expect(prober.lines()).toContainEqual(expect.objectContaining({ msg: 'stopping', reason: `received ${signal}` }));
    expect(holder() ?? '').toBe('');
  });

  it('SIGUSR1 opens no debugger', async () => {
    const prober = await startProber();
    await untilRuns(prober, 1);
    const before = listeners(prober.pid);
    prober.signal('SIGUSR1');
    await untilRuns(prober, 10);
    expect(before).toHaveLength(2);
    expect(listeners(prober.pid)).toEqual(before);
    prober.signal('SIGTERM');
    expect(await prober.ended).toBe(0);
  });
});

/** Returns the inodes of the sockets on which a process listens. Works only on Linux. */
const listeners = (pid: number): readonly string[] => {
  const listening = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      // State 0A is LISTEN; see proc(5).
      .filter(([, , , state]) => state === '0A')
      .map((columns) => `socket:[${columns[9] ?? ''}]`),
  );
  const open = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  return listening.filter((socket) => open.includes(socket)).toSorted();
};

describe('a component that cannot start reports in the format of its log', () => {
  const config = (): string => `--config-file=${join(directory, 'prober.yaml')}`;
  const off = ['--metrics-bind-addr=0', '--health-bind-addr=0'];
  const bad = (): string => {
    const file = join(directory, 'bad.yaml');
    writeFileSync(file, 'probeInterval: [\n');
    return `--config-file=${file}`;
  };
  it.each<[what: string, flags: () => readonly string[], said: RegExp]>([
    ['no configuration', () => ['--config-file=/nowhere'], /cannot read --config-file \/nowhere: no such file/],
    ['a wrong configuration', () => [bad()], /^the configuration is not valid$/],
    ['no kubeconfig', () => [config(), '--kubeconfig=/nowhere'], /kubeconfig/],
  ])('%s', async (_, flags, said) => {
    for (const component of ['prober', 'weeder', 'care']) {
      if (component !== 'prober' && said.source.startsWith('kube')) continue;
      const program = startProgram([component, ...off, ...flags()]);
      expect(await program.ended).toBe(1);
      for (const line of program.lines()) expect(line).toHaveProperty('ts');
      expect(program.lines().at(-1)).toMatchObject({ level: 'error', msg: expect.stringMatching(said) as string });
    }
  });

  it('an address that is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const address = `--metrics-bind-addr=127.0.0.1:${port}`;
    const program = startProgram(['prober', config(), `--kubeconfig=${seed}`, '--health-bind-addr=0', address]);
    expect(await program.ended).toBe(1);
    server.close();
    expect(program.lines().filter(({ level }) => level === 'error')).toMatchObject([
      { msg: 'metrics server failed', error: { message: expect.stringContaining('--metrics-bind-addr') as string } },
    ]);
  });
});

describe('output of a command that prints a result', () => {
  const shell = async (script: string) => {
    const child = spawn('bash', ['-c', script, dwd], { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    return { code, text };
  };

  it('ends silently when its reader ends', async () => {
    const { text } = await shell(
      '"$0" simulate --shoots 1 --config-file examples/prober-config.yaml | true; echo $PIPESTATUS',
    );
    expect(text).toBe('141\n');
  });

  it('reports an error if it cannot be written', async () => {
    const { code, text } = await shell('"$0" schema --component=prober >/dev/full');
    expect(code).toBe(1);
    expect(text).toMatch(/^dwd: output failed: ENOSPC/);
  });
});
