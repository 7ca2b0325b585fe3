import { isIPv6 } from 'node:net';

/** Address of an API server. */
export interface Endpoint {
  readonly protocol: 'http:' | 'https:';
  /** Host name or address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Prefix of every request path: empty, or with a slash at its start and none at its end. */
  readonly basePath: string;
  /** Name for SNI and certificate checks if it differs from `host` (`tls-server-name`). */
  readonly servername?: string;
  /** True if the kubeconfig is data of a cluster: then link-local addresses are not dialled, even by a host name. */
  readonly untrusted?: true;
  /** Proxy that tunnels the connection, and resolves the host name. */
  readonly proxy?: ProxyEndpoint;
}

export interface ProxyEndpoint {
  /** `CONNECT` of HTTP, or SOCKS5. */
  readonly protocol: 'http:' | 'https:' | 'socks5:';
  readonly host: string;
  readonly port: number;
  readonly credentials?: { readonly username: string; readonly password: string };
}

/** Returns `host:port` in the syntax of URLs and headers. */
export const authority = (at: { readonly host: string; readonly port: number }): string =>
  `${isIPv6(at.host) ? `[${at.host}]` : at.host}:${at.port}`;
