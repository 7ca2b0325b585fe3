import { describe, expect, it } from 'vitest';
import { kubeconfigOf } from '../doubles/kubeconfig.ts';
import { parseUntrustedKubeconfig } from '../../src/kubernetes/kubeconfig/untrusted.ts';
import { type FixtureObject, readReference } from './fixture.ts';

// A shoot's kubeconfig is read by an allow-list. A key of client-go that we neither use nor refuse must be listed here as harmless.

type Entry = 'cluster' | 'user';

const valueAt = (kind: Entry): FixtureObject => {
  const list = readReference('Config').object[`${kind}s`] as readonly FixtureObject[];
  return list[0]?.[kind] as FixtureObject;
};

const used: Readonly<Record<Entry, readonly string[]>> = {
  cluster: ['certificate-authority-data', 'insecure-skip-tls-verify', 'proxy-url', 'server', 'tls-server-name'],
  user: ['client-certificate-data', 'client-key-data', 'password', 'token', 'username'],
};

/** Keys that we ignore: extensions of other programs, and the compression of responses. */
const harmless: readonly string[] = ['disable-compression', 'extensions'];

const kubeconfigWith = (kind: Entry, extra: FixtureObject): string => {
  const bodies = { cluster: { server: 'https://shoot.example' }, user: { token: 'x' } };
  const body = { ...bodies, [kind]: { ...bodies[kind], ...extra } };
  return kubeconfigOf(body.cluster, body.user);
};

describe.each(['cluster', 'user'] as const)('a %s of a kubeconfig', (kind) => {
  const unused = Object.keys(valueAt(kind)).filter((key) => !used[kind].includes(key));

  it('has all keys that we use', () => {
    expect(Object.keys(valueAt(kind))).toEqual(expect.arrayContaining([...used[kind]]));
  });

  it.each(unused)('%s: is refused or harmless', (key) => {
    const parse = () => parseUntrustedKubeconfig(kubeconfigWith(kind, { [key]: valueAt(kind)[key] }));
    if (harmless.includes(key)) expect(parse()).toEqual(parseUntrustedKubeconfig(kubeconfigWith(kind, {})));
    else expect(parse).toThrow(`${kind}s[0].${kind}.${key}: is refused`);
  });
});
