import { readFile, readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import {
  type BindAddress,
  type HttpHandler,
  type HttpResponse,
  type Runnable,
  type ServerDeps,
  serveHttp,
  shareResponses,
  textResponse,
  whenAborted,
} from '../../process/index.ts';
import { findShoot } from '../../status/state/find-shoot.ts';
import type { ProberStatus } from '../../status/state/schema.ts';
import { type FaultsOfShoot, type PageSample, type PageView, sampleOf } from '../feed/index.ts';
import { isExpectedHost, isSameOrigin, securityHeaders } from './guards.ts';

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Responses with the static files of the page, by path. */
type Assets = ReadonlyMap<string, HttpResponse>;

/** Reads the files that tools/build.mjs has built into `directory`: `/` and all files of `/assets`, whose names change with their content. Rejects if the page is not built. */
const readAssets = async (directory: URL): Promise<Assets> => {
  const load = async (file: string, headers: HttpResponse['headers']): Promise<HttpResponse> => ({
    status: 200,
    contentType: types[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    body: await readFile(new URL(file, directory)),
    headers,
  });
  const immutable = { 'Cache-Control': 'public, max-age=31536000, immutable' };
  const hashed = (await readdir(new URL('assets/', directory))).map((name) => `assets/${name}`);
  const named = await Promise.all(hashed.map(async (file) => [`/${file}`, await load(file, immutable)] as const));
  return new Map([['/', await load('index.html', {})], ...named]);
};

export interface PageOptions {
  /** Reads the status of a prober; with a namespace, that of this shoot alone, with its details. */
  readonly status: (shoot: string | undefined, signal: AbortSignal) => Promise<ProberStatus>;
  /** Namespace of its replicas. Absent without leader election. */
  readonly namespace?: string;
  /** Present only in the demo. */
  readonly faults?: () => readonly FaultsOfShoot[];
  readonly address: BindAddress;
  /** Directory with the files that tools/build.mjs has built. */
  readonly directory: URL;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Injects the fault that a button of the demo asks for by a POST; returns false if there is no such shoot or fault. Absent in a seed: nothing accepts a POST
   * there.
   */
  readonly inject?: (query: URLSearchParams) => boolean;
  /** Called with the address when the server listens. */
  readonly onListening?: (address: BindAddress) => void;
}

const sampleEveryMs = 5_000;
/** Number of samples in an hour. */
const mostSamples = 720;

/** Takes a sample of the seed every five seconds until `signal` aborts, and answers the page with the samples and the present view, at most once a second. */
const createViews = ({ status: read, namespace, faults, clock, logger }: PageOptions, signal: AbortSignal) => {
  const samples: PageSample[] = [];
  let lastProblem: string | undefined;
  const sample = async (): Promise<void> => {
    try {
      samples.push(sampleOf(await read(undefined, signal), clock.now()));
      if (samples.length > mostSamples) samples.shift();
      lastProblem = undefined;
    } catch (error) {
      // Once, and not at every read.
      if (!signal.aborted && String(error) !== lastProblem) {
        logger.warn('page: the seed could not be read', { error });
      }
      lastProblem = String(error);
    }
  };
  const view = async (wanted: string | undefined): Promise<PageView> => {
    const status = await read(undefined, signal);
    const found = wanted === undefined ? undefined : findShoot(status.shoots, wanted);
    const shoot = found && (await read(found.namespace, signal)).shoots[0];
    return { status, shoot, samples, namespace, faults: faults?.() };
  };
  /** Answers `/view`, with the details of a shoot, given by any of its names. */
  const answer = shareResponses(clock, async (wanted: string | undefined) => ({
    status: 200,
    contentType: 'application/json',
    // A thousand shoots are a megabyte every two seconds, and a tenth of that packed.
    body: await promisify(gzip)(JSON.stringify(await view(wanted)), { level: 1 }),
    headers: { 'Content-Encoding': 'gzip' },
  }));
  const record = async (): Promise<void> => {
    while (!signal.aborted) {
      await sample();
      await clock.sleep(sampleEveryMs, signal).catch(() => undefined);
    }
  };
  return { answer, record };
};

/** Base for parsing the URL of a request. Only path and query of the result are used. */
const anyBase = 'http://page.invalid';

/** Serves the page: its files, and `/view`, with `?shoot=SHOOT` for the details of one shoot. */
const answerBy =
  (
    { address, inject }: PageOptions,
    assets: Assets,
    answerView: (shoot: string | undefined) => Promise<HttpResponse>,
  ): HttpHandler =>
  async (request) => {
    const url = URL.parse(request.url ?? '/', anyBase);
    if (url === null) return textResponse(400, 'invalid URL');
    const { pathname, searchParams } = url;
    if (!isExpectedHost(address.host, request.headers.host)) {
      return textResponse(421, 'this page is only served under the names of the loopback address');
    }
    if (inject !== undefined && request.method === 'POST' && pathname === '/demo/faults') {
      const { origin, host } = request.headers;
      if (!isSameOrigin(origin, host)) return textResponse(403, 'only the page itself may do this');
      return inject(searchParams) ? textResponse(200, 'done') : textResponse(400, 'no such shoot or fault');
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return textResponse(405, 'only GET and HEAD are allowed', { Allow: 'GET, HEAD' });
    }
    if (pathname === '/view') return answerView(searchParams.get('shoot') ?? undefined);
    return assets.get(pathname) ?? textResponse(404, 'not found');
  };

/** Creates the server of the page. Its `run` rejects if the page is not built or cannot listen. */
export const createPage = (options: PageOptions): Runnable => ({
  name: 'page',
  async run(signal, ready) {
    const { address, clock, logger, onListening } = options;
    const views = createViews(options, signal);
    const answer = answerBy(options, await readAssets(options.directory), views.answer);
    const server = serveHttp({
      name: 'page',
      address,
      flag: '--page-bind-addr',
      handle: async (request) => {
        const response = await answer(request);
        return { ...response, headers: { ...securityHeaders, ...response.headers } };
      },
      ...{ clock, logger, onListening },
    });
    await Promise.all([server.run(signal, ready), views.record()]);
  },
});

/** Logs a failure of the page instead of ending the program. Incident: a page without its assets ended the prober, and so the protection of all shoots. */
const withoutHarm = (page: Runnable, logger: Logger): Runnable => ({
  name: page.name,
  run: async (signal, ready) => {
    try {
      await page.run(signal, ready);
    } catch (error) {
      if (signal.aborted) throw error;
      logger.error('the page is not served; protection goes on', { error });
      ready();
      await whenAborted(signal);
    }
  },
});

/** Creates the page of a prober, with its own view. A failure of the page does not end the prober. */
export const pageServers =
  (options: Pick<PageOptions, 'address' | 'directory'>) =>
  ({ clock, logger, status, lease }: ServerDeps): readonly Runnable[] => {
    // The cast is safe: the prober of this process returns its own status.
    const read: PageOptions['status'] = async (shoot) => status(shoot) as ProberStatus;
    return [withoutHarm(createPage({ ...options, status: read, namespace: lease?.namespace, clock, logger }), logger)];
  };
