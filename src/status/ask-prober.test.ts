import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/index.ts';
import { detailed, shootNamed, statusWith } from '../../test/doubles/probed-shoots.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { createKubeClient } from '../kubernetes/client/index.ts';
import { readStatusOfPod } from './ask-prober.ts';

const chunkBytes = 16 * 1024;

function* repeat(text: string, times: number): Generator<string> {
  const many = text.repeat(Math.ceil(chunkBytes / text.length));
  for (let sent = 0; sent < times * text.length; sent += many.length) yield many;
}

/** Reads a status from a prober that answers with these texts. Counts the bytes that were read. */
const ask = async (texts: Iterable<string>, shoot?: string) => {
  let bytes = 0;
  const body = async function* (): AsyncGenerator<Uint8Array> {
    for (const text of texts) {
      bytes += text.length;
      yield Buffer.from(text);
    }
  };
  const kube: Kube = { request: async () => ({ status: 200, headers: {}, body: body() }) };
  const client = createKubeClient({ kube, clock: createVirtualClock() });
  const read = readStatusOfPod(client, 'garden', { pod: 'a', healthPort: 1 });
  const status = await read(shoot, { signal: new AbortController().signal }).catch((error: unknown) => String(error));
  return { status, bytes };
};

const header = `${JSON.stringify({ ...statusWith([]), shoots: undefined }).slice(0, -1)},"shoots":[`;
const whole = JSON.stringify(detailed(shootNamed('one')));

function* joined(...parts: readonly Iterable<string>[]): Generator<string> {
  for (const part of parts) yield* part;
}

describe('the status that a prober reports', () => {
  it('is read shoot by shoot, with its details, and without fields that are not known', async () => {
    const shoots = [detailed(shootNamed('one', 'held')), detailed(shootNamed('two'))];
    const status = statusWith(shoots);
    expect((await ask([JSON.stringify(status)], 'one')).status).toEqual(status);
    // A later version may add fields.
    expect((await ask([JSON.stringify({ ...status, added: 1 })], 'one')).status).toEqual(status);
    const empty = statusWith([]);
    expect((await ask([JSON.stringify(empty)])).status).toEqual(empty);
  });

  it.each<[what: string, problem: string, mostBytes: number, shoot: string | undefined, texts: () => Iterable<string>]>(
    [
      ['shoots of {}', 'status.shoots[0].namespace', 50_000, undefined, () => joined([header], repeat('{},', 1e7))],
      [
        'another list of {}',
        'bytes beside the items',
        300_000,
        undefined,
        () => joined(['{"x":['], repeat('{},', 1e7)),
      ],
      [
        'rights of {} among little else',
        'more than 20000 entries',
        300_000,
        undefined,
        () => [`{"missingRights":[${'{},'.repeat(60_000)}{}],"shoots":[]}`],
      ],
      [
        'many shoots',
        'more than 10000 items',
        12e6,
        undefined,
        () => joined([header], repeat(`${JSON.stringify(shootNamed('one'))},`, 1e5)),
      ],
      [
        'a large shoot',
        'an item of more than 65536 bytes',
        150_000,
        undefined,
        () => joined([header, '{"x":"'], repeat('x', 1e7)),
      ],
      [
        'a shoot of many leases',
        'more than 20000 entries',
        2e6,
        'one',
        () => [header, whole.replace('"leases":[', `"leases":[${'{},'.repeat(600_000)}`)],
      ],
    ],
  )('is not read to its end if it has %s', async (_, problem, mostBytes, shoot, texts) => {
    const { status, bytes } = await ask(texts(), shoot);
    expect(status).toContain(problem);
    expect(bytes).toBeLessThan(mostBytes);
  });
});
