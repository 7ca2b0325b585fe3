import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoProberConfig } from '../../simulator/demo/configs.ts';
import type { PageView } from '../../src/page/feed/index.ts';
import { freePorts } from '../envtest/processes.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type ServedDemoWorld, serveDemoWorld } from './support/demo-world.ts';

// The page of the built program, in a leader and a standby.

const dwd = fileURLToPath(new URL('../../bin/dwd', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'dwd-replicas-'));
const replicas: ChildProcess[] = [];
let world: ServedDemoWorld;

/** Starts a replica. Returns the address of its page. */
const startReplica = async (): Promise<string> => {
  const [page, health] = await freePorts(2);
  const flags = [
    `--config-file=${join(directory, 'prober.yaml')}`,
    `--kubeconfig=${join(directory, 'seed.kubeconfig')}`,
    '--enable-leader-election',
    '--leader-election-namespace=default',
    '--metrics-bind-addr=0',
    `--health-bind-addr=127.0.0.1:${String(health)}`,
    `--page-bind-addr=127.0.0.1:${String(page)}`,
  ];
  replicas.push(spawn(process.execPath, [dwd, 'prober', ...flags], { stdio: 'ignore' }));
  return `http://127.0.0.1:${String(page)}/`;
};

/** Waits until the view at `url` has all four shoots and fits. */
const viewWhere = (url: string, fits: (view: PageView) => boolean): Promise<PageView> =>
  waitFor({ what: 'the page to show what is expected' }, async () => {
    const answer = await fetch(`${url}view`).catch(() => undefined);
    const view = (await answer?.json()) as PageView | undefined;
    return view?.status.shoots.length === 4 && fits(view) ? view : undefined;
  });

beforeAll(async () => {
  world = await serveDemoWorld(directory);
  writeFileSync(join(directory, 'prober.yaml'), demoProberConfig());
});
afterAll(async () => {
  for (const child of replicas) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  }
  await world.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('--page-bind-addr', () => {
  it('serves the page in the leader, and in another replica with its own view', async () => {
    const { status } = await viewWhere(await startReplica(), ({ status: { leads } }) => leads);
    const standby = await startReplica();
    const view = await viewWhere(standby, ({ status: { leads } }) => !leads);
    expect([view.namespace, view.status.identity === status.identity]).toEqual(['default', false]);
    const html = await (await fetch(standby)).text();
    const [, script = ''] = /src="\.\/(assets\/[^"]+\.js)"/.exec(html) ?? [];
    const answer = await fetch(`${standby}${script}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
    // undici 7 fails an assertion if a connection ends while a body is left unread.
    await answer.text();
  });
});
