import { execFileSync } from 'node:child_process';
import { constants, existsSync, openSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createCertificates } from '../../../simulator/network/certificates.ts';
import { temporaryDirectory } from '../../../test/doubles/temporary-directory.ts';
import { checkMany, mutate, mutations } from '../../../test/doubles/mutations.ts';
import { KubeconfigError } from '../api/errors.ts';
import { parseUntrustedKubeconfig } from './untrusted.ts';

type Fields = Readonly<Record<string, unknown>>;

const certificates = await createCertificates({ now: Date.now() });
const other = await createCertificates({ now: Date.now() });
const client = await certificates.client('shoot-admin');
const otherKey = (await certificates.client('someone')).key;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const kubeconfig = (cluster: Fields = {}, user: Fields = {}, more: Fields = {}): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    contexts: [{ name: 'main', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://kube-apiserver:443', ...cluster } }],
    users: [{ name: 'u', user }],
    ...more,
  });

const refusal = (text: string): KubeconfigError => {
  try {
    parseUntrustedKubeconfig(text);
  } catch (error) {
    expect(error).toBeInstanceOf(KubeconfigError);
    return error as KubeconfigError;
  }
  throw new Error('was taken');
};

describe('rule 30: used fields', () => {
  it('rule 30: server, CA, client certificate and TLS name', () => {
    const text = kubeconfig(
      { 'certificate-authority-data': base64(certificates.ca), 'tls-server-name': 'kube-apiserver' },
      { 'client-certificate-data': base64(client.certificate), 'client-key-data': base64(client.key) },
    );
    const { endpoint, security, authorization } = parseUntrustedKubeconfig(text);
    expect(endpoint).toEqual({
      ...{ protocol: 'https:', host: 'kube-apiserver', port: 443, basePath: '', servername: 'kube-apiserver' },
      untrusted: true,
    });
    expect([security.rejectUnauthorized, authorization]).toEqual([true, undefined]);
  });

  it('rule 30: only the current context counts, and unknown fields are ignored', () => {
    const text = stringify({
      'current-context': 'two',
      contexts: [
        { name: 'one', context: { cluster: 'a', user: 'x' } },
        { name: 'two', context: { cluster: 'b', user: 'y', namespace: 'n' } },
      ],
      clusters: [
        { name: 'a', cluster: { server: 'ftp://never.looked.at' } },
        { name: 'b', cluster: { server: 'https://b', extensions: [{ name: 'x', extension: {} }], 'new-field': 1 } },
      ],
      users: [
        { name: 'x', user: { token: 'tx' } },
        { name: 'y', user: { token: 'ty', 'new-field': { a: 1 } } },
      ],
      preferences: { colors: true },
    });
    expect(parseUntrustedKubeconfig(text)).toMatchObject({ endpoint: { host: 'b' }, authorization: 'Bearer ty' });
  });
});

describe('rule 30: refused fields', () => {
  it('rule 30: outside the current context, and behind an alias', () => {
    const elsewhere = [
      { name: 'u', user: {} },
      { name: 'other', user: { exec: { command: 'sh' } } },
    ];
    expect(refusal(kubeconfig({}, {}, { users: elsewhere })).field).toBe('users[1].user.exec');
    const behindAlias = `x: &x {command: sh}\n${kubeconfig().replace('user: {}', 'user: {exec: *x}')}`;
    expect(refusal(behindAlias).field).toBe('users[0].user.exec');
    const merged = `%YAML 1.1\n---\nx: &x {exec: {command: sh}}\n${kubeconfig().replace('user: {}', 'user: {<<: *x}')}`;
    expect(refusal(merged).field).toBe('users[0].user.exec');
  });

  it('rule 30: no program runs and no file is opened', () => {
    const directory = temporaryDirectory();
    const canary = join(directory, 'canary');
    const fifo = join(directory, 'fifo');
    execFileSync('sh', ['-c', 'mkfifo "$0"', fifo]);
    const attack = {
      command: 'touch',
      args: [canary],
      apiVersion: 'client.authentication.k8s.io/v1',
      interactiveMode: 'Never',
    };
    expect(refusal(kubeconfig({}, { exec: attack })).field).toBe('users[0].user.exec');
    for (const field of ['tokenFile', 'client-certificate', 'client-key']) refusal(kubeconfig({}, { [field]: fifo }));
    refusal(kubeconfig({ 'certificate-authority': fifo }));
    expect(existsSync(canary)).toBe(false);
    // A non-blocking writer gets ENXIO as long as the pipe is not open for reading.
    const write = (): number => openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    expect(write).toThrow('ENXIO');
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    closeSync(write());
    closeSync(reader);
  });
});

const secret = 'GEHEIM';

describe('rule 30: malformed files', () => {
  const cases: readonly (readonly [string, () => string, string])[] = [
    ['broken YAML', () => `a: "${secret}\n b: [`, 'document'],
    ['a repeated nested key', () => kubeconfig().replace('user: {}', `user: {token: a, token: ${secret}}`), 'document'],
    ['an unknown context', () => kubeconfig({}, {}, { 'current-context': secret }), 'current-context'],
    [
      'a repeated name',
      () => kubeconfig({}, {}, { users: [1, 2].map(() => ({ name: secret, user: {} })) }),
      'users[1].name',
    ],
  ];

  it.each(cases)('rule 30: %s', (_name, text, field) => {
    const error = refusal(text());
    expect(error.field).toBe(field);
    expect(error.message).not.toContain(secret);
    expect(error.cause).toBeUndefined();
  });

  const garbledCa = (): string => certificates.ca.replace(/[A-Za-z]{20}/, 'A'.repeat(20));
  const values: readonly (readonly [field: string, value: () => unknown, others?: () => Fields])[] = [
    ...['', `${secret} .`, 5, `ftp://${secret}`, `${secret}:443`, `https://u:${secret}@h`, `https://h?${secret}`].map(
      (server) => ['cluster.server', () => server] as const,
    ),
    ...[`https://h\n${secret}`, 'https://h:0'].map((server) => ['cluster.server', () => server] as const),
    ...[`socks5://${secret}`, `gopher://${secret}`, `http://%zz${secret}@h`].map(
      (proxy) => ['cluster.proxy-url', () => proxy] as const,
    ),
    ['cluster.tls-server-name', () => `a b${secret}`],
    ['cluster.insecure-skip-tls-verify', () => secret],
    ['cluster.insecure-skip-tls-verify', () => true, () => ({ 'certificate-authority-data': base64(certificates.ca) })],
    ['cluster.certificate-authority-data', () => `${secret}!`],
    ['cluster.certificate-authority-data', () => base64(secret)],
    ['cluster.certificate-authority-data', () => base64(garbledCa())],
    ['cluster.certificate-authority-data', () => base64(other.ca + garbledCa())],
    ['user.client-key-data', () => undefined, () => ({ 'client-certificate-data': base64(client.certificate) })],
    ['user.client-key-data', () => base64(otherKey), () => ({ 'client-certificate-data': base64(client.certificate) })],
    ['user.client-key-data', () => base64(secret), () => ({ 'client-certificate-data': base64(client.certificate) })],
    ['user.client-certificate-data', () => undefined, () => ({ 'client-key-data': base64(client.key) })],
    ['user.token', () => 12345],
    ['user.token', () => `${secret}\nx-evil: 1`],
    ['user.token', () => secret, () => ({ password: secret })],
  ];

  it.each(values.map(([path, value, others = () => ({})]) => ({ path, value, others })))(
    'rule 30: $path of another form',
    ({ path, value, others }) => {
      const [part = '', field = ''] = path.split('.');
      const fields = { ...others(), [field]: value() };
      const error = refusal(part === 'cluster' ? kubeconfig(fields) : kubeconfig({}, fields));
      expect(error.field).toBe(`${part}s[0].${path}`);
      expect(error.message).not.toContain(secret);
      expect(error.cause).toBeUndefined();
    },
  );

  it('rule 30: a file larger than the maximum of a Secret', () => {
    expect(refusal(`${kubeconfig()}\n# ${'x'.repeat(1024 * 1024)}`).message).toMatch(/larger than 1048576 bytes/);
  });

  const alias = (name: string, index: number): string =>
    `${name}: &${name} [${Array(9)
      .fill(`*${'abcdefghij'.charAt(index)}`)
      .join(',')}]`;
  const tooLong = /has more than 20000 YAML tokens/;
  const tooMuch = /has aliases or nesting beyond all measure/;
  // Without the count of tokens, parsing some of these takes a minute.
  const bombs: readonly (readonly [string, string, RegExp])[] = [
    ['nested lists', '['.repeat(200_000), tooLong],
    ['nested maps', '{a: '.repeat(100_000), tooLong],
    ['30,000 anchors', Array.from({ length: 30_000 }, (_, index) => `a${index}: &x${index} b\n`).join(''), tooLong],
    ['60,000 documents', '---\n'.repeat(60_000), tooLong],
    ['few tokens, many aliases', `a: &a [x,x]\nb: [${'*a,'.repeat(2_000)}]`, tooMuch],
    ['a billion laughs', ['a: &a [x,x,x,x,x,x,x,x,x]', ...Array.from('bcdefghij').map(alias)].join('\n'), tooMuch],
    ['few tokens, deep nesting', '['.repeat(9_000), /is not valid YAML|beyond all measure/],
    ['an alias of itself', 'a: &a [*a]\n', /.*/],
  ];

  it.each(bombs)('rule 30: %s are refused', (_name, text, message) => {
    expect(text.length).toBeLessThan(1024 * 1024);
    expect(refusal(text).message).toMatch(message);
  });
});

const hosts = [
  ...['169.254.169.254.', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518'],
  ...['%31%36%39.254.169.254', '\uff11\uff16\uff19.254.169.254', '[FEBF::1]', '[0:0:0:0:0:FFFF:A9FE:A9FE]'],
];

it.each(hosts)('rule 30: the link-local address %s is refused', (host) => {
  for (const name of ['server', 'proxy-url']) {
    const { field, problem } = refusal(kubeconfig({ [name]: `http://${host}:80/latest` }));
    expect(field).toBe(`clusters[0].cluster.${name}`);
    expect(problem).toMatch(/^must not be a link-local address .*; give the address of the API server$/);
  }
});

it.each(['localhost:8443', 'LOCALHOST.', 'api.localhost'])(
  'the server %s is refused, but not through a proxy',
  (host) => {
    const server = `https://${host}`;
    expect(refusal(kubeconfig({ server }))).toMatchObject({
      field: 'clusters[0].cluster.server',
      problem: 'is localhost, which is the pod or machine of this program itself; give the address of the API server',
    });
    const { endpoint } = parseUntrustedKubeconfig(kubeconfig({ server, 'proxy-url': 'http://proxy.example.com' }));
    expect(endpoint.host).toContain('localhost');
  },
);

/** Quadratic code takes minutes to hours with these values, far longer than the timeout of a test. */
describe('rule 30: values of a megabyte', () => {
  const times = (text: string, count = 700_000): string => text.repeat(count / text.length);
  const urls = ['/', '/x', '../', 'a.', '1.', '%41', '@', ':', '[', '\\'].map((text) => `https://h${times(text)}`);

  it.each(['server', 'proxy-url'])('rule 30: as %s are refused before they are parsed', (name) => {
    for (const url of urls) expect(refusal(kubeconfig({ [name]: url })).problem).toBe('is longer than 2048 characters');
  });

  it('rule 30: a server with the maximum number of slashes has no path', () => {
    const { endpoint } = parseUntrustedKubeconfig(kubeconfig({ server: `https://h${'/'.repeat(2_000)}` }));
    expect(endpoint.basePath).toBe('');
  });

  it.each(['a', 'a.', 'a-', ':', '1.'])('rule 30: as tls-server-name: %s, again and again', (text) => {
    const { problem } = refusal(kubeconfig({ 'tls-server-name': `${times(text)}!` }));
    expect(problem).toBe('is not a host name');
  });

  it('rule 30: as base64 and PEM', () => {
    const begin = '-----BEGIN CERTIFICATE-----';
    const bodies = ['=', 'A', 'A\n', base64(times(begin, 300_000)), base64(times(`${begin}-`, 300_000))];
    for (const body of bodies) {
      const data = body.length < 9 ? times(body, 500_000) : body;
      refusal(kubeconfig({ 'certificate-authority-data': data }));
      refusal(kubeconfig({}, { 'client-certificate-data': data, 'client-key-data': data }));
    }
  });

  it('rule 30: as a bundle of too many certificates', () => {
    const bundle = (count: number) =>
      kubeconfig({ 'certificate-authority-data': base64(certificates.ca.repeat(count)) });
    expect(refusal(bundle(1_001)).problem).toBe('holds more than 1000 certificates');
    parseUntrustedKubeconfig(bundle(1_000));
  });
});

describe('rule 30: arbitrary input', () => {
  const isRefusedOrTaken = (text: string): void => {
    try {
      parseUntrustedKubeconfig(text);
    } catch (error) {
      if (!(error instanceof KubeconfigError)) throw error;
      expect(error.message).not.toContain(secret);
    }
  };
  it('rule 30: never throws anything else for a valid file with a changed byte', () => {
    const good = kubeconfig(
      { 'certificate-authority-data': base64(certificates.ca), 'proxy-url': 'http://u:p@h:1' },
      { 'client-certificate-data': base64(client.certificate), 'client-key-data': base64(client.key) },
    );
    const yaml = [...Array.from('{}[]:,-?&*!|>%@"\'# \n\t'), '\u0000', '\u2028', '\ud800'];
    fc.assert(
      fc.property(fc.nat(good.length), fc.constantFrom(...yaml), fc.nat(3), (at, put, cut) => {
        isRefusedOrTaken(good.slice(0, at) + put + good.slice(at + cut));
      }),
      { numRuns: 200 },
    );
  });

  it('rule 30: never throws anything else for a valid file with any value in any place, and quotes none', () => {
    const names = { cluster: secret, user: secret };
    const proxied = { 'certificate-authority-data': base64('ca'), 'proxy-url': `http://u:${secret}@h:1` };
    const good = {
      'current-context': secret,
      contexts: [{ name: secret, context: names }],
      clusters: [{ name: secret, cluster: { ...proxied, server: `https://${secret}`, 'tls-server-name': secret } }],
      users: [{ name: secret, user: { token: secret } }],
    };
    checkMany(
      mutations(3),
      (changes) => {
        // Undefined if the whole document was removed.
        const text = JSON.stringify(mutate(good, changes)) as string | undefined;
        isRefusedOrTaken(text ?? '');
      },
      500,
    );
  });

  it('rule 30: names that every object inherits are not read as fields', () => {
    const text = kubeconfig({}, {}, { 'current-context': 'constructor' });
    expect(refusal(text).field).toBe('current-context');
    const inherited = kubeconfig().replace('user: {}', 'user: {__proto__: {token: x}}');
    expect(inherited).toContain('__proto__');
    expect(parseUntrustedKubeconfig(inherited).authorization).toBeUndefined();
  });
});
