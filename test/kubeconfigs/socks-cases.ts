/** A connection through a SOCKS5 proxy. */
export interface SocksCase {
  readonly name: string;
  /** Credentials of the proxy. Empty: none. */
  readonly username: string;
  readonly password: string;
  /** Authentication method that the proxy chooses (RFC 1928, section 3). */
  readonly method: number;
  /** Host and port. */
  readonly target: string;
}

const none = { username: '', password: '', method: 0 };
const some = { username: 'ops', password: 'p@ss: wörd' };

export const socksCases: readonly SocksCase[] = [
  { name: 'a name, which the proxy resolves', ...none, target: 'api.shoot.example:6443' },
  { name: 'an IPv4 address', ...none, target: '10.0.0.1:443' },
  { name: 'an IPv6 address', ...none, target: '[fd00::1:0:0:2]:65535' },
  { name: 'an IPv6 address that embeds IPv4', ...none, target: '[64:ff9b::10.0.0.1]:443' },
  { name: 'the IPv6 address of zeros', ...none, target: '[::]:443' },
  { name: 'credentials that the proxy does not ask for', ...some, method: 0, target: 'a.example:443' },
  { name: 'credentials', ...some, method: 2, target: 'a.example:443' },
  { name: 'a proxy that accepts no method', ...none, method: 255, target: 'a.example:443' },
];
