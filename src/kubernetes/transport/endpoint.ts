import { isIPv6 } from 'node:net';

/** Where an API server is. */
export interface Endpoint {
  readonly protocol: 'http:' | 'https:';
  /** Name or address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Prefix of every request path, empty or starting with a slash, without one at its end. */
  readonly basePath: string;
  /** Name for SNI and certificate checks when it is not `host` (`tls-server-name`). */
  readonly servername?: string;
  /** From a kubeconfig that is data of the cluster: link-local addresses are not dialled, whatever name leads to them. */
  readonly untrusted?: true;
  /** HTTP or HTTPS proxy that tunnels the connection (`CONNECT`). */
  readonly proxy?: ProxyEndpoint;
}

export interface ProxyEndpoint {
  readonly protocol: 'http:' | 'https:';
  readonly host: string;
  readonly port: number;
  /** Value of `Proxy-Authorization`. */
  readonly authorization?: string;
}

/** `host:port` as it stands in URLs and headers. */
export const authority = (at: { readonly host: string; readonly port: number }): string =>
  `${isIPv6(at.host) ? `[${at.host}]` : at.host}:${at.port}`;
