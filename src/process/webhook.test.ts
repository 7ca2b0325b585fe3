import { type IncomingMessage, type RequestListener, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createWebhook } from './webhook.ts';

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
  server = undefined;
});

const listen = async (onRequest: RequestListener): Promise<string> => {
  server = createServer(onRequest);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/T00/s3cr3t?a=b`;
};

const post = createWebhook('dependency-watchdog/test');
const never = new AbortController().signal;

describe('createWebhook', () => {
  it('posts JSON', async () => {
    const seen: IncomingMessage[] = [];
    let body = '';
    const url = await listen((request, response) => {
      seen.push(request);
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => response.writeHead(204).end());
    });
    expect(await post({ url, body: '{"a":"ü"}', signal: never })).toEqual({ kind: 'answered', status: 204 });
    expect(body).toBe('{"a":"ü"}');
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/T00/s3cr3t?a=b' });
    expect(seen[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '10',
      'user-agent': 'dependency-watchdog/test',
    });
  });

  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, undefined],
  ])('returns how long to wait: %j', async (headers, retryAfterMs) => {
    const url = await listen((_, response) => response.writeHead(429, headers).end());
    expect(await post({ url, body: '{}', signal: never })).toEqual({ kind: 'answered', status: 429, retryAfterMs });
  });

  it('follows no redirect', async () => {
    const paths: (string | undefined)[] = [];
    const url = await listen((request, response) => {
      paths.push(request.url);
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    expect(await post({ url, body: '{}', signal: never })).toMatchObject({ kind: 'answered', status: 307 });
    expect(paths).toHaveLength(1);
  });

  it('does not wait for a body that does not end', async () => {
    const url = await listen((_, response) => void response.writeHead(200).write('x'));
    expect(await post({ url, body: '{}', signal: never })).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('ends when its signal aborts before a response', async () => {
    const stop = new AbortController();
    const url = await listen(() => stop.abort());
    expect(await post({ url, body: '{}', signal: stop.signal })).toEqual({ kind: 'failed', code: 'no answer in time' });
  });

  it.each([
    ['http://127.0.0.1:1/s3cr3t', 'ECONNREFUSED'],
    ['ftp://example.com/s3cr3t', 'URL not valid'],
    ['s3cr3t', 'URL not valid'],
  ])('reports the failure of %s as a code without the URL', async (url, code) => {
    expect(await post({ url, body: '{}', signal: never })).toEqual({ kind: 'failed', code });
  });
});
