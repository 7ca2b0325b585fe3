import { describe, expect, it } from 'vitest';
import { createVirtualClock, type VirtualClock } from '../clock.ts';
import { simKinds } from '../kinds.ts';
import type { JsonMap } from '../object.ts';
import { createSimApiServer, type SimApiServer } from '../server.ts';

// What cells say is in the contract suite; here is what they say as time goes by.

const path = '/api/v1/namespaces/default/configmaps';
const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';

interface Setup {
  readonly clock: VirtualClock;
  readonly server: SimApiServer;
}

const setup = (): Setup => {
  const clock = createVirtualClock();
  const server = createSimApiServer({ clock });
  server.store.put(simKinds.ConfigMap, { metadata: { namespace: 'default', name: 'a' } });
  return { clock, server };
};

interface Table {
  readonly columnDefinitions: unknown;
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: unknown }[];
}

const ask = async (server: SimApiServer, query: Readonly<Record<string, string>> = {}): Promise<readonly string[]> => {
  const signal = new AbortController().signal;
  const response = await server.request({ method: 'GET', path, query, headers: { accept }, signal });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString().trim().split('\n');
};

const cellsNow = async (server: SimApiServer): Promise<unknown> => {
  const [text = ''] = await ask(server);
  return (JSON.parse(text) as Table).rows.map(({ cells }) => cells);
};

describe('a table', () => {
  it("tells ages by the server's clock", async () => {
    const { clock, server } = setup();
    expect(await cellsNow(server)).toEqual([['a', 0, '0s']]);
    await clock.advance(5 * 60_000 + 7_000);
    expect(await cellsNow(server)).toEqual([['a', 0, '5m7s']]);
    server.setClockSkew(3 * 3_600_000);
    expect(await cellsNow(server)).toEqual([['a', 0, '3h5m']]);
  });

  it('of a watch: each event at its own time, bookmarks between them, the columns once', async () => {
    const { clock, server } = setup();
    const query = { watch: 'true', timeoutSeconds: '150', allowWatchBookmarks: 'true', includeObject: 'None' };
    const lines = ask(server, query);
    const change = (data: JsonMap): void => {
      server.store.patch(simKinds.ConfigMap, { namespace: 'default', name: 'a' }, (old) => ({ ...old, data }));
    };
    await clock.advance(70_000);
    change({ x: '1' });
    await clock.advance(60_000);
    change({ x: '1', y: '2' });
    const events = (await clock.run(lines)).map((line) => JSON.parse(line) as { type: string; object: Table });
    expect(events.map(({ type, object: { rows } }) => [type, ...(rows[0]?.cells ?? [])])).toEqual([
      ['ADDED', 'a', 0, '0s'],
      ['BOOKMARK', '', 0, '<unknown>'],
      ['BOOKMARK', '', 0, '<unknown>'],
      ['MODIFIED', 'a', 1, '70s'],
      ['BOOKMARK', '', 0, '<unknown>'],
      ['MODIFIED', 'a', 2, '2m10s'],
      ['BOOKMARK', '', 0, '<unknown>'],
    ]);
    expect(events.map(({ object }) => object.columnDefinitions !== null)).toEqual(
      events.map((_, index) => index === 0),
    );
    // Only the bookmark that ends the present objects has to say so.
    const told = events.map(({ object: { rows } }) => rows[0]?.object !== null);
    expect(told).toEqual([false, true, false, false, false, false, false]);
  });

  it('is shown to some watchers of an object while others get it whole', async () => {
    const { clock, server } = setup();
    const query = { watch: 'true', timeoutSeconds: '10', resourceVersion: String(server.store.revision) };
    const signal = new AbortController().signal;
    const whole = server.request({ method: 'GET', path, query, signal });
    const table = ask(server, query);
    await clock.settle();
    server.store.put(simKinds.ConfigMap, { metadata: { namespace: 'default', name: 'b' } });
    const [line = ''] = await clock.run(table);
    expect(line).toMatch(/^\{"type":"ADDED","object":\{"kind":"Table",/);
    const chunks: string[] = [];
    for await (const chunk of (await whole).body) chunks.push(Buffer.from(chunk).toString());
    expect(chunks.join('')).toMatch(/^\{"type":"ADDED","object":\{"kind":"ConfigMap",/);
  });
});
