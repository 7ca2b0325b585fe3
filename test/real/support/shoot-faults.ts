import { type Expected, type WireFault, listFailed, unreachable } from './fault.ts';
import type { ForwardRequest, ProxyResponse, RequestInterceptor, ConnectionFate } from '../../envtest/shoot-proxy.ts';

/** The configuration's `probeTimeout`, in milliseconds. */
export const probeTimeoutMs = 4_000;
/** Leaves enough time for the rest of a run on a busy machine. */
const justUnderMs = 2_500;
/** Later than the timeout even of a slow client. */
const justOverMs = probeTimeoutMs + 300;

const interceptFault = (name: string, expected: Expected, interceptor: RequestInterceptor): WireFault => ({
  name,
  blinds: true,
  ...expected,
  start: async ({ front }) => {
    front.intercept(interceptor);
    return () => front.intercept(undefined);
  },
});

const admitting = (name: string, expected: Expected, passage: ConnectionFate): WireFault => ({
  name,
  blinds: true,
  ...expected,
  start: async ({ front }) => {
    front.admit(passage);
    return () => front.admit('terminated');
  },
});

/** Applies an interceptor only to the list of leases. All other requests pass. */
const inLeases =
  (interceptor: (ask: ForwardRequest) => ReturnType<RequestInterceptor>): RequestInterceptor =>
  (path, ask) =>
    path.includes('/leases') ? interceptor(ask) : ask();

const changed = (change: (whole: ProxyResponse) => Partial<ProxyResponse>, accept?: string): RequestInterceptor =>
  inLeases(async (ask) => {
    const whole = await ask(accept === undefined ? {} : { accept });
    return { ...whole, ...change(whole) };
  });

const json = 'application/json';
const html = '<html><body>Bad gateway</body></html>';

const answer = (status: number, headers: Readonly<Record<string, string>> = {}, body = 'no'): ProxyResponse => ({
  status,
  headers: { 'content-type': 'text/plain', ...headers },
  body: Buffer.from(body),
});

/** Returns the response `ms` after the request, or later if the API server takes longer: the load of the machine does not add to the delay. */
const heldBack = async (ask: ForwardRequest, ms: number): Promise<ProxyResponse> => {
  const [whole] = await Promise.all([ask(), new Promise((resolve) => setTimeout(resolve, ms).unref())]);
  return whole;
};

const half = ({ body }: ProxyResponse): number => Math.floor(body.length / 2);

/** Corrupts the body after the 4-byte prefix of every Kubernetes protobuf message. */
const garbled = ({ body }: ProxyResponse): Buffer => Buffer.from(body.map((byte, at) => (at < 4 ? byte : byte ^ 0x5a)));

const throttled: Expected = { result: 'throttled', says: /429 TooManyRequests/ };
const late = /no response within/;

/** Bad responses of the shoot's API server, or of something that responds in its place. */
export const answerFaults: readonly WireFault[] = [
  interceptFault('429', throttled, async () => answer(429)),
  interceptFault('429-retry-after', throttled, async () => answer(429, { 'retry-after': '12' })),
  interceptFault(
    '429-in-leases',
    throttled,
    inLeases(async () => answer(429, { 'retry-after': '1' })),
  ),
  interceptFault('500', unreachable(/500 ServerError/), async () => answer(500)),
  interceptFault(
    '500-in-leases',
    listFailed(/500 ServerError/),
    inLeases(async () => answer(500)),
  ),
  interceptFault('503', unreachable(/503 ServerError/), async () => answer(503)),
  interceptFault('503-retry-after', unreachable(/503 ServerError/), async () => answer(503, { 'retry-after': '1' })),
  interceptFault('html', listFailed(/not JSON/), async () => answer(200, { 'content-type': 'text/html' }, html)),
  interceptFault(
    'html-in-leases',
    listFailed(/not JSON/),
    inLeases(async () => answer(200, { 'content-type': 'text/html' }, html)),
  ),
  interceptFault(
    'json-broken',
    listFailed(/not JSON/),
    changed((whole) => ({ body: Buffer.concat([whole.body.subarray(0, half(whole)), Buffer.from(']')]) }), json),
  ),
  interceptFault(
    'protobuf-garbage',
    listFailed(/protobuf/),
    changed((whole) => ({ body: garbled(whole) })),
  ),
  interceptFault(
    'kind-wrong',
    listFailed(/kind/),
    inLeases((ask) => ask({ path: '/api/v1/nodes' })),
  ),
  interceptFault(
    'kind-wrong-json',
    listFailed(/kind/),
    inLeases((ask) => ask({ path: '/api/v1/nodes', accept: json })),
  ),
  interceptFault(
    'body-cut-whole',
    listFailed(/protobuf/),
    changed((whole) => ({ body: whole.body.subarray(0, half(whole)) })),
  ),
  interceptFault(
    'body-cut-closed',
    listFailed(/while reading the answer/),
    changed((whole) => ({ endsAfter: { bytes: half(whole), how: 'closed' } })),
  ),
];

/** Slow responses, and connections on which nothing arrives. */
export const silenceFaults: readonly WireFault[] = [
  {
    ...interceptFault(
      'slow-just-under',
      listFailed(/./),
      inLeases((ask) => heldBack(ask, justUnderMs)),
    ),
    result: 'healthy',
    blinds: false,
  },
  interceptFault('slow-just-over', unreachable(late), (_, ask) => heldBack(ask, justOverMs)),
  interceptFault(
    'slow-in-leases',
    listFailed(late),
    inLeases((ask) => heldBack(ask, justOverMs)),
  ),
  admitting('silent-accepted', unreachable(late), 'silent'),
  admitting('silent-in-handshake', unreachable(late), 'stuck'),
  interceptFault(
    'silent-in-run',
    listFailed(late),
    inLeases(async () => 'no answer'),
  ),
  interceptFault(
    'silent-in-body',
    listFailed(late),
    changed((whole) => ({ endsAfter: { bytes: half(whole), how: 'silent' } })),
  ),
  admitting('reset', unreachable(/reset|closed/), 'reset'),
];
