import { domainToASCII } from 'node:url';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { KubeconfigError } from '../api/errors.ts';
import type { Endpoint, ProxyEndpoint } from '../transport/index.ts';
import * as fields from './fields.ts';

/** Environment variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

type Target = Pick<Endpoint, 'protocol' | 'host' | 'port'>;

/** Returns the first of these variables that is set, and its value. */
const firstSet = (env: Environment, names: readonly string[]): fields.Field => {
  const name = names.find((each) => fields.isSet(env[each])) ?? '';
  return { path: name, value: env[name] ?? '' };
};

/** Returns a value as a URL; a value without scheme is an HTTP proxy. Undefined if it is none: Go ignores it, too. */
const proxyUrl = (value: string): string | undefined =>
  [value, `http://${value}`].find((url) => /^[a-z][a-z\d+.-]*:\/\/[^/?#]/i.test(url) && URL.canParse(url));

const isWithin = (host: string, [address = '', bits = '']: readonly string[]): boolean => {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  // An IPv4 address is in no IPv6 network, although BlockList maps it there; it may be the same address.
  if (family === 'ipv6' && bits !== '128' && !isIPv6(host)) return false;
  const network = new BlockList();
  network.addSubnet(address, Number(bits), family);
  return network.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
};

/** Matches `address`, `address/bits`, each perhaps with a port. */
const cidr = /^(?<address>[\d.]+|[\da-f:.]+)\/(?<bits>\d{1,3})$/;
/** `host:port` as Go splits it: one colon, or an IPv6 address in brackets. */
const withPort = /^(?:\[(?<bracketed>[^\]]*)\]|(?<plain>[^:[\]]*)):(?<port>[^:[\]]*)$/;

const isNetwork = (address: string, bits: string): boolean =>
  isIP(address) !== 0 && Number(bits) <= (isIPv6(address) ? 128 : 32);

/** Returns true if an entry of NO_PROXY exempts the target. */
const exempts = (entry: string, { host, port }: Target): boolean => {
  if (entry === '*') return true;
  const { address = '', bits = '' } = cidr.exec(entry)?.groups ?? {};
  if (isNetwork(address, bits)) return isIP(host) !== 0 && isWithin(host, [address, bits]);
  const parts = withPort.exec(entry)?.groups;
  const name = parts === undefined ? entry : (parts.bracketed ?? parts.plain ?? '');
  const wantedPort = parts?.port ?? '';
  if (name === '' || (wantedPort !== '' && wantedPort !== String(port))) return false;
  if (isIP(name) !== 0) return isIP(host) !== 0 && isWithin(host, [name, isIPv6(name) ? '128' : '32']);
  if (isIP(host) !== 0) return false;
  const domain = name.startsWith('*.') ? name.slice(1) : name;
  const ascii = domainToASCII(domain) || domain;
  return ascii.startsWith('.') ? host.endsWith(ascii) : host === ascii || host.endsWith(`.${ascii}`);
};

const isLoopback = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && (isWithin(host, ['127.0.0.0', '8']) || isWithin(host, ['::1', '128'])));

/** Returns an endpoint with the proxy of the environment, unless its kubeconfig names one. Throws as `environmentProxy`. */
export const throughEnvironment = (endpoint: Endpoint, env: Environment): Endpoint => {
  const proxy = endpoint.proxy ?? environmentProxy(env, endpoint);
  return proxy === undefined ? endpoint : { ...endpoint, proxy };
};

/**
 * Returns the proxy that the environment names for a server, by the rules of Go (golang.org/x/net/http/httpproxy), which client-go follows: HTTPS_PROXY
 * or HTTP_PROXY, unless NO_PROXY has the server; never for this machine itself. Throws a KubeconfigError that does not contain the value.
 */
export const environmentProxy = (env: Environment, target: Target): ProxyEndpoint | undefined => {
  const names = target.protocol === 'https:' ? ['HTTPS_PROXY', 'https_proxy'] : ['HTTP_PROXY', 'http_proxy'];
  const { path, value } = firstSet(env, names);
  const url = proxyUrl(String(value));
  if (url === undefined) return undefined;
  // A web server passes the header `Proxy` of a request on as HTTP_PROXY.
  if (target.protocol === 'http:' && fields.isSet(env.REQUEST_METHOD)) {
    throw new KubeconfigError(path, 'is refused in a CGI environment (REQUEST_METHOD is set)');
  }
  const host = target.host.toLowerCase();
  const exempt = String(firstSet(env, ['NO_PROXY', 'no_proxy']).value)
    .toLowerCase()
    .split(',');
  if (isLoopback(host) || exempt.some((entry) => exempts(entry.trim(), { ...target, host }))) return undefined;
  // For Go, socks5 and socks5h are the same: the proxy resolves names.
  return fields.asProxy({ path, value: url.replace(/^socks5h:/i, 'socks5:') });
};
