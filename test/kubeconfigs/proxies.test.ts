import { describe, expect, it } from 'vitest';
import { environmentProxy } from '../../src/kubernetes/kubeconfig/index.ts';
import { type ProxyEndpoint, authority } from '../../src/kubernetes/transport/index.ts';
import { clientGo } from './client-go.ts';
import { proxyCases } from './proxy-cases.ts';

const urlOf = (proxy: ProxyEndpoint): string => {
  const url = new URL(`${proxy.protocol}//${authority(proxy)}`);
  const { username = '', password = '' } = proxy.credentials ?? {};
  return Object.assign(url, { username, password }).href;
};

describe('the proxy of the environment', () => {
  it('is judged by Go for the same cases', () => {
    expect(proxyCases.map(({ name }) => name).sort()).toEqual(Object.keys(clientGo.proxies).sort());
  });

  it.each(proxyCases)('rule 29b: is that of Go: $name', ({ name, env, url }) => {
    const { protocol, hostname, port } = new URL(url);
    const target = {
      protocol: protocol as 'http:' | 'https:',
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
    };
    const { proxy, error } = clientGo.proxies[name] ?? {};
    if (error !== undefined) expect(() => environmentProxy(env, target)).toThrow('REQUEST_METHOD');
    else {
      const ours = environmentProxy(env, target);
      // Go keeps socks5h, and does the same for both.
      const expected = proxy && new URL(proxy.toLowerCase().replace('socks5h:', 'socks5:'));
      expect(ours && urlOf(ours)).toBe(expected && Object.assign(expected, { pathname: '' }).href);
    }
  });

  it('is refused if its scheme is not known, without its password', () => {
    const env = { HTTPS_PROXY: 'ftp://ops:s3cret@proxy.example.com' };
    const target = { protocol: 'https:', host: 'seed.example.com', port: 443 } as const;
    expect(() => environmentProxy(env, target)).toThrow(
      /^kubeconfig: HTTPS_PROXY: must be an http, https or socks5 URL$/,
    );
  });
});
