import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { createCertificates } from '../../../simulator/network/certificates.ts';
import { temporaryDirectory } from '../../../test/doubles/temporary-directory.ts';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { KubeconfigError } from '../api/errors.ts';
import { formatTime } from '../api/meta-time.ts';
import type { ClusterAccess, OperatorOptions } from './operator-context.ts';
import { loadOperatorKubeconfig } from './operator.ts';

const certificates = await createCertificates({ now: Date.now() });
const client = await certificates.client('operator');
const otherClient = await certificates.client('renewed');

let home: string;
let clock: VirtualClock;
beforeEach(() => {
  home = temporaryDirectory();
  clock = createVirtualClock();
});

const { signal } = new AbortController();
const base64 = (text: string): string => Buffer.from(text).toString('base64');

type Fields = Readonly<Record<string, unknown>>;

const kubeconfig = (
  name: string,
  { cluster = {}, user = {}, current = name }: Readonly<Record<string, unknown>> = {},
): string =>
  stringify({
    ...(current === '' ? {} : { 'current-context': current }),
    contexts: [{ name, context: { cluster: name, user: name, namespace: `ns-${name}` } }],
    clusters: [{ name, cluster: { server: `https://${name}:6443`, ...(cluster as Fields) } }],
    users: [{ name, user: { ...(user as Fields) } }],
  });

const write = (name: string, text: string): string => {
  const path = join(home, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
};

const load = (options: Partial<OperatorOptions> = {}): Promise<ClusterAccess> =>
  loadOperatorKubeconfig({
    ...{ env: {}, homedir: () => home, clock, serviceAccount: join(home, 'account') },
    ...options,
  });

const refusal = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(KubeconfigError);
  return (error as KubeconfigError).message.replaceAll(home, '~');
};

describe('the source of the kubeconfig', () => {
  it('is --kubeconfig, else KUBECONFIG, else the service account, else the home directory', async () => {
    write('.kube/config', kubeconfig('home', { user: { token: 'h' } }));
    const flag = write('flag', kubeconfig('flag'));
    const env = {
      KUBECONFIG: write('env', kubeconfig('env')),
      KUBERNETES_SERVICE_HOST: '10.0.0.1',
      KUBERNETES_SERVICE_PORT: '443',
    };
    const byFlag = await load({ path: flag, env });
    expect(byFlag).toMatchObject({ source: `--kubeconfig ${flag}`, endpoint: { host: 'flag' } });
    expect(await load({ env, path: '' })).toMatchObject({ endpoint: { host: 'env' } });
    expect(await load()).toMatchObject({ source: join(home, '.kube/config'), endpoint: { host: 'home', port: 6443 } });
    expect(await (await load()).credentials.authorization(signal)).toBe('Bearer h');
  });

  const inPod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };

  it('is an error that names all tried sources if there is none', async () => {
    expect(await refusal(load())).toBe(
      'kubeconfig: none found: --kubeconfig and $KUBECONFIG are not set, this is no pod with a service account ' +
        '(KUBERNETES_SERVICE_HOST is not set), and ~/.kube/config does not exist; pass --kubeconfig or set KUBECONFIG',
    );
    expect(await refusal(load({ env: inPod }))).toContain('(~/account/token cannot be read)');
    expect(await refusal(load({ env: { ...inPod, KUBERNETES_SERVICE_PORT: 'http' } }))).toMatch(
      /SERVICE_PORT is not a port/,
    );
    expect(await refusal(load({ path: join(home, 'nowhere') }))).toBe(
      'kubeconfig: ~/nowhere: does not exist; check --kubeconfig',
    );
    expect(await refusal(load({ env: { KUBECONFIG: `${home}/a:${home}/b` } }))).toBe(
      'kubeconfig: ~/a:~/b: does not exist; check $KUBECONFIG',
    );
  });

  it('is not the service account of the pod with --context', async () => {
    expect(await refusal(load({ env: inPod, context: 'a' }))).toContain(
      '--context names a context, which it does not have',
    );
    write('.kube/config', kubeconfig('a', { current: '' }));
    expect(await load({ env: inPod, context: 'a' })).toMatchObject({ context: 'a' });
  });

  it('needs no home directory, because a user of a container may have none', async () => {
    const homedir = (): string => {
      throw new Error('uv_os_homedir returned ENOENT');
    };
    const env = { KUBECONFIG: write('env', kubeconfig('env')) };
    expect(await load({ homedir, env })).toMatchObject({ endpoint: { host: 'env' } });
    expect(await refusal(load({ homedir }))).toMatch(/and there is no home directory; pass --kubeconfig/);
  });

  it.each<[string, () => string, string]>([
    ['malformed', () => write('bad', 'a: ['), '~/bad: document: is not valid YAML (line 1)'],
    ['a directory', () => home, '~: is a directory, not a regular file'],
    ['a device', () => '/dev/zero', '/dev/zero: is a device, not a regular file'],
    ['too large', () => write('bad', `#${'x'.repeat(16 * 1024 * 1024)}`), '~/bad: is larger than 16 MiB'],
    [
      'without a context',
      () => write('bad', kubeconfig('x', { current: '' })),
      '~/bad: current-context: is not set; the contexts are x',
    ],
  ])('is not the next one if one is %s', async (_what, path, problem) => {
    write('.kube/config', kubeconfig('home'));
    expect(await refusal(load({ path: path() }))).toBe(`kubeconfig: ${problem}`);
  });

  it('may be a file that many were merged into', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `cluster-${index}`);
    const data = 'x'.repeat(5_000);
    const text = stringify({
      'current-context': 'cluster-299',
      contexts: names.map((name) => ({ name, context: { cluster: name, user: name } })),
      clusters: names.map((name) => ({ name, cluster: { server: `https://${name}`, extensions: [{ name, data }] } })),
      users: names.map((name) => ({ name, user: { token: name } })),
    });
    expect(await load({ path: write('merged', text) })).toMatchObject({ endpoint: { host: 'cluster-299' } });
  });

  it('is refused without waiting if it is a FIFO, as are the files that it names', async () => {
    execFileSync('mkfifo', [join(home, 'fifo')]);
    const fifo = 'is a FIFO (named pipe), not a regular file';
    expect(await refusal(load({ path: join(home, 'fifo') }))).toBe(`kubeconfig: ~/fifo: ${fifo}`);
    const ca = kubeconfig('a', { cluster: { 'certificate-authority': join(home, 'fifo') } });
    expect(await refusal(load({ path: write('config', ca) }))).toContain(fifo);
  });
});

describe('in a pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };

  const loadInPod = (): Promise<ClusterAccess> => load({ env, serviceAccount: home });

  it('rule 8: uses the service account, and a changed token in the next call', async () => {
    write('token', 'one\n');
    write('ca.crt', certificates.ca);
    const access = await loadInPod();
    expect(access).toMatchObject({
      source: 'service account of the pod',
      endpoint: { protocol: 'https:', host: 'fd00::1', port: 443, basePath: '' },
    });
    const token = (): Promise<string | undefined> => access.credentials.authorization(signal);
    expect(await token()).toBe('Bearer one');
    write('token', 'second');
    expect(await token()).toBe('Bearer second');
    for (const broken of ['', ' \n', 'two\nlines']) {
      write('token', broken);
      expect(await token()).toBe('Bearer second');
    }
    unlinkSync(join(home, 'token'));
    expect(await token()).toBe('Bearer second');
    write('token', 'three');
    expect(access.credentials.reload()).toBe(true);
    expect(await token()).toBe('Bearer three');
  });

  it('rule 9: a changed CA results in new settings; an unchanged or malformed one keeps the old', async () => {
    write('token', 'one');
    write('ca.crt', certificates.ca);
    const access = await loadInPod();
    const first = await access.security(signal);
    expect(await access.security(signal)).toBe(first);
    write('ca.crt', 'half wri');
    expect(await access.security(signal)).toBe(first);
    write('ca.crt', (await createCertificates({ now: Date.now() })).ca);
    expect(await access.security(signal)).not.toBe(first);
  });
});

describe('files named in the kubeconfig', () => {
  it('rule 29a: may be bundles of any number of certificates, such as those of a distribution', async () => {
    write('ca.crt', certificates.ca.repeat(1_200));
    await load({ path: write('kubeconfig', kubeconfig('x', { cluster: { 'certificate-authority': 'ca.crt' } })) });
  });

  it('rule 9: a renewed client certificate is used only together with its key', async () => {
    write('client.crt', client.certificate);
    write('client.key', client.key);
    const path = write(
      'kubeconfig',
      kubeconfig('x', { user: { 'client-certificate': 'client.crt', 'client-key': 'client.key' } }),
    );
    const access = await load({ path });
    const first = await access.security(signal);
    write('client.crt', otherClient.certificate);
    expect(await access.security(signal)).toBe(first);
    write('client.key', otherClient.key);
    const second = await access.security(signal);
    expect(second).not.toBe(first);
    expect(await access.security(signal)).toBe(second);
  });

  it('rule 8: an update of a mounted Secret is noticed: a link to another directory, with the same size and name', async () => {
    write('..v1/token', 'aaaa');
    write('..v2/token', 'bbbb');
    symlinkSync('..v1', join(home, '..data'));
    symlinkSync('..data/token', join(home, 'token'));
    const path = write('kubeconfig', kubeconfig('x', { user: { tokenFile: 'token' } }));
    const access = await load({ path });
    expect(await access.credentials.authorization(signal)).toBe('Bearer aaaa');
    symlinkSync('..v2', join(home, '..new'));
    renameSync(join(home, '..new'), join(home, '..data'));
    expect(await access.credentials.authorization(signal)).toBe('Bearer bbbb');
    unlinkSync(join(home, 'token'));
    expect(await access.credentials.authorization(signal)).toBe('Bearer bbbb');
  });

  const exec = (fields: Fields) => ({ user: { exec: { command: 'x', ...fields } } });
  it.each<[string, () => Fields, string]>([
    ['missing', () => ({ cluster: { 'certificate-authority': 'no' } }), 'certificate-authority: ~/no does not exist'],
    [
      'an old exec',
      () => exec({ apiVersion: 'client.authentication.k8s.io/v1alpha1' }),
      'exec.apiVersion: must be one',
    ],
  ])('are refused with a reason: %s', async (_name, parts, message) => {
    const path = write('kubeconfig', kubeconfig('x', parts()));
    expect(await refusal(load({ path }))).toContain(message);
  });

  it('reports the problem of an unreadable token file when the token is needed', async () => {
    const path = write('kubeconfig', kubeconfig('x', { user: { tokenFile: 'token' } }));
    const { credentials } = await load({ path });
    await expect(credentials.authorization(signal)).rejects.toMatchObject({
      code: 'ConnectionError',
      message: `token file ${join(home, 'token')}: does not exist`,
    });
    write('token', 'late');
    expect(await credentials.authorization(signal)).toBe('Bearer late');
  });
});

describe('credential plugins', () => {
  const version = 'client.authentication.k8s.io/v1';

  const plugin = (script: string): string => {
    const path = write('bin/plugin', `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  };

  const access = (exec: Fields, env: Readonly<Record<string, string>> = {}): Promise<ClusterAccess> => {
    const user = { exec: { apiVersion: version, command: './bin/plugin', interactiveMode: 'Never', ...exec } };
    const cluster = {
      'certificate-authority-data': base64(certificates.ca),
      extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } }],
    };
    return load({
      path: write('kubeconfig', kubeconfig('x', { cluster, user })),
      env: { PATH: '/usr/bin:/bin', ...env },
    });
  };

  const credential = (status: Fields): string =>
    JSON.stringify({ apiVersion: version, kind: 'ExecCredential', status });

  it('runs with its arguments, its environment and, if configured, the cluster', async () => {
    plugin(
      `printf '%s' "$*|$OURS|$THEIRS|$KUBERNETES_EXEC_INFO" >> "${home}/log"; echo '${credential({ token: 'tok' })}'`,
    );
    const { credentials } = await access(
      { args: ['get', 'a b'], env: [{ name: 'THEIRS', value: 'from file' }], provideClusterInfo: true },
      { OURS: 'from process', THEIRS: 'overridden' },
    );
    expect(await credentials.authorization(signal)).toBe('Bearer tok');
    expect(await credentials.authorization(signal)).toBe('Bearer tok');
    const [args, ours, theirs, info] = readFileSync(join(home, 'log'), 'utf8').split('|');
    expect([args, ours, theirs]).toEqual(['get a b', 'from process', 'from file']);
    expect(JSON.parse(info ?? '')).toEqual({
      apiVersion: version,
      kind: 'ExecCredential',
      spec: {
        interactive: false,
        cluster: {
          server: 'https://x:6443',
          'certificate-authority-data': base64(certificates.ca),
          config: { audience: 'x' },
        },
      },
    });
  });

  it('runs again if the credential has expired or the server refused it, and once for all concurrent callers', async () => {
    const expirationTimestamp = formatTime(clock.now() + 600_000);
    plugin(
      `echo run >> "${home}/log"; n=$(wc -l < "${home}/log"); echo '${credential({
        token: 'NUMBER',
        expirationTimestamp,
      })}' | sed "s/NUMBER/token-$((n))/"`,
    );
    const { credentials, security } = await access({});
    const all = await Promise.all([1, 2, 3].map(() => credentials.authorization(signal)));
    expect(all).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-1']);
    await clock.advance(599_000);
    await security(signal);
    expect(await credentials.authorization(signal)).toBe('Bearer token-1');
    expect(credentials.reload()).toBe(true);
    expect(await credentials.authorization(signal)).toBe('Bearer token-2');
    await clock.advance(1_000);
    expect(await credentials.authorization(signal)).toBe('Bearer token-3');
  });

  it('rule 9: accepts client certificates, and new ones result in new settings', async () => {
    const answer = (pair: typeof client): string =>
      credential({ clientCertificateData: pair.certificate, clientKeyData: pair.key });
    write('answer', answer(client));
    plugin(`cat "${home}/answer"`);
    const { credentials, security } = await access({});
    expect(await credentials.authorization(signal)).toBeUndefined();
    const first = await security(signal);
    expect(await security(signal)).toBe(first);
    write('answer', answer(otherClient));
    credentials.reload();
    expect(await security(signal)).not.toBe(first);
  });

  const failures: readonly (readonly [string, string, string])[] = [
    ['exits with an error', 'exit 3', 'ended with 3'],
    ['writes no JSON', 'echo GEHEIM', 'its output is not JSON'],
    [
      'writes another version',
      `echo '${credential({ token: 'GEHEIM' }).replace('/v1', '/v1beta1')}'`,
      `its answer is of another version than ${version}`,
    ],
    ['returns no credentials', `echo '${credential({})}'`, 'it gave neither a token nor a certificate'],
    [
      'returns a key without its certificate',
      `echo '${credential({ clientKeyData: 'GEHEIM' })}'`,
      'it gave a certificate without its key, or the reverse',
    ],
    [
      'returns a number as token',
      `echo '${credential({ token: 5 })}'`,
      'status.token: expected a string, found a number',
    ],
    ['never stops writing', 'yes 2> /dev/null', 'wrote more than 1 MiB'],
  ];

  it.each(failures)('fails if it %s, does not quote it, and runs again next time', async (_name, script, problem) => {
    const path = plugin(script);
    const { credentials } = await access({});
    await expect(credentials.authorization(signal)).rejects.toMatchObject({
      code: 'ConnectionError',
      message: `${join(home, 'kubeconfig')}: users[0].user.exec: the credential plugin ${path} failed: ${problem}`,
    });
    plugin(`echo '${credential({ token: 'good' })}'`);
    expect(await credentials.authorization(signal)).toBe('Bearer good');
  });

  it('closes the pipe of processes that a plugin has started after it wrote too much', async () => {
    // It says its own number before it writes: after a mebibyte the shell that started it may be gone.
    plugin(`sh -c 'echo $$ > "${home}/pid"; exec yes 2> /dev/null' & wait`);
    const { credentials } = await access({});
    await expect(credentials.authorization(signal)).rejects.toThrow('wrote more than 1 MiB');
    const started = Number(readFileSync(join(home, 'pid'), 'utf8'));
    // SIGPIPE ends it, because nobody reads its output.
    await vi.waitFor(() => expect(() => process.kill(started, 0)).toThrow('ESRCH'), 10_000);
  });

  it('searches names in PATH, and reports how to install a missing program', async () => {
    plugin(`echo '${credential({ token: 'found' })}'`);
    const found = await access({ command: 'plugin' }, { PATH: `${home}/bin:/usr/bin:/bin` });
    expect(await found.credentials.authorization(signal)).toBe('Bearer found');
    const missing = await access({ command: 'no-such-plugin', installHint: 'Install it:\n  brew install x' });
    await expect(missing.credentials.authorization(signal)).rejects.toThrow(
      'the credential plugin no-such-plugin failed: there is no such program; Install it: brew install x',
    );
  });

  it('rule 4: a caller stops waiting on abort; a plugin that hangs is killed after a minute', async () => {
    plugin(`echo $$ > "${home}/pid"; exec sleep 1000`);
    const { credentials } = await access({});
    const abort = new AbortController();
    const impatient = credentials.authorization(abort.signal);
    abort.abort('enough');
    await expect(impatient).rejects.toBe('enough');
    const patient = expect(credentials.authorization(signal)).rejects.toThrow('it took longer than 60000 ms');
    await clock.advance(60_000);
    await patient;
    expect(clock.pending).toBe(0);
  });
});
