/** undici's Client alone. Its index also loads fetch, caches and mocks: 430 KB in each bundle, and 5 MB of memory. */
declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}

declare module 'undici/lib/core/socks5-client.js' {
  import type { EventEmitter } from 'node:events';
  import type { Socket } from 'node:net';

  interface Events {
    readonly authenticated: [];
    readonly connected: [];
    readonly error: [error: Error];
    readonly close: [];
  }

  /** A conversation with a SOCKS5 proxy (RFC 1928, RFC 1929). */
  export class Socks5Client extends EventEmitter<Events> {
    constructor(proxy: Socket, credentials?: { readonly username: string; readonly password: string });
    handshake(): void;
    connect(host: string, port: number): void;
  }
}
