import type { Result } from '../kubernetes/api/errors.ts';
import type { BindAddress } from './settings.ts';

/** Forms that an address flag accepts, for help texts and errors. */
export const bindAddressForms = 'an address such as :9643, 127.0.0.1:9643 or [::1]:9643, or 0 to turn it off';

const withPort = /^(?:\[(?<ipv6>[\da-fA-F:.]+(?:%[\w.-]+)?)\]|(?<name>[^:[\]\s/]*)):(?<port>\d{0,5})$/;

/** Parses `host:port`, `:port` or `[ipv6]:port`; no port is port 0, as in Go. Returns undefined for `0`, which turns the server off. */
export const parseBindAddress = (text: string): Result<BindAddress | undefined, string> => {
  if (text === '0') return { ok: true, value: undefined };
  const { ipv6, name = '', port } = withPort.exec(text)?.groups ?? {};
  const number = Number(port);
  if (port === undefined || number > 65_535) return { ok: false, error: `must be ${bindAddressForms}` };
  return { ok: true, value: { host: ipv6 ?? name, port: number } };
};

export const formatBindAddress = ({ host, port }: BindAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
