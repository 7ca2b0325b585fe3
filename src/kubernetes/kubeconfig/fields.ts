import type { Endpoint, ProxyEndpoint } from '../transport/index.ts';
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { type JsonObject, isObject } from '../api/decode.ts';
import { KubeconfigError } from '../api/errors.ts';
import { trimEndOf } from '../api/trim-end.ts';

/** A value of the file and its path; messages name the path and never the value. */
export interface Field {
  readonly path: string;
  readonly value: unknown;
}

/** Returns true if a field is set. As in Go, null and an empty string leave it at its zero value: not set. */
export const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

export const asObject = ({ path, value }: Field): JsonObject => {
  if (!isObject(value)) throw new KubeconfigError(path, 'must be a map');
  return value;
};

export const asList = ({ path, value }: Field): readonly Field[] => {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new KubeconfigError(path, 'must be a list');
  return value.map((item: unknown, index) => ({ path: `${path}[${index}]`, value: item }));
};

/** Returns the member `name`; inherited names such as `constructor` are not members. */
export const member = (object: JsonObject, path: string, name: string): Field => ({
  path: path === '' ? name : `${path}.${name}`,
  value: Object.hasOwn(object, name) ? object[name] : undefined,
});

/** Returns a text; undefined if it is not set. */
export const asText = ({ path, value }: Field): string | undefined => {
  if (!isSet(value)) return undefined;
  if (typeof value !== 'string') throw new KubeconfigError(path, 'must be a string; put it in quotes');
  return value;
};

export const asFlag = ({ path, value }: Field): boolean => {
  if (!isSet(value)) return false;
  if (typeof value !== 'boolean') throw new KubeconfigError(path, 'must be true or false');
  return value;
};

/** Returns a text that is valid in an HTTP header. */
export const asHeaderText = (field: Field): string | undefined => {
  const text = asText(field);
  if (text !== undefined && /[^\x20-\x7e]/.test(text)) {
    throw new KubeconfigError(field.path, 'holds a line break or another character that no HTTP header can carry');
  }
  return text;
};

/** Decodes text in standard base64. Go refuses anything else, Node would guess. */
export const asBase64 = (field: Field): string | undefined => {
  const text = asText(field)?.replaceAll(/[\r\n]/g, '');
  if (text === undefined) return undefined;
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) {
    throw new KubeconfigError(field.path, 'is not base64');
  }
  return Buffer.from(text, 'base64').toString('utf8');
};

const [begin, end] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];

const certificatesIn = (pem: string): readonly string[] => {
  const [, ...blocks] = pem.split(begin);
  return blocks.flatMap((block) => {
    const at = block.indexOf(end);
    return at < 0 ? [] : [`${begin}${block.slice(0, at)}${end}`];
  });
};

/** Returns a PEM bundle of one or more certificates, at most `most`, after checking that each can be parsed. */
export const checkCertificates = (path: string, pem: string, most = Number.POSITIVE_INFINITY): string => {
  const certificates = certificatesIn(pem);
  if (certificates.length === 0) throw new KubeconfigError(path, 'holds no PEM certificate');
  if (certificates.length > most) throw new KubeconfigError(path, `holds more than ${most} certificates`);
  for (const certificate of certificates) {
    try {
      new X509Certificate(certificate);
    } catch {
      throw new KubeconfigError(path, 'holds a certificate that cannot be read');
    }
  }
  return pem;
};

/** Maximum length of a URL in characters; a host name has at most 253. */
const longestUrl = 2_048;

const parseUrl = ({ path, value }: Field): URL => {
  const text = typeof value === 'string' ? value : '';
  if (text.length > longestUrl) throw new KubeconfigError(path, `is longer than ${longestUrl} characters`);
  // The URL parser would silently drop line breaks and tabs.
  if (/[\s\x00-\x1f]/.test(text) || !URL.canParse(text)) throw new KubeconfigError(path, 'is not a URL');
  return new URL(text);
};

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'socks5:': 1080 };

const hostOf = (url: URL, path: string): { readonly host: string; readonly port: number } => {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (host === '') throw new KubeconfigError(path, 'names no host');
  const port = url.port === '' ? defaultPorts[url.protocol] : Number(url.port);
  if (port === undefined || port === 0) throw new KubeconfigError(path, 'has port 0');
  return { host, port };
};

/** Parses the field `server` of a cluster. */
export const asServer = (field: Field): Pick<Endpoint, 'protocol' | 'host' | 'port' | 'basePath'> => {
  if (!isSet(field.value)) throw new KubeconfigError(field.path, 'is not set');
  const url = parseUrl(field);
  const { protocol } = url;
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new KubeconfigError(field.path, 'must be an http or https URL');
  }
  if (url.username !== '' || url.password !== '') throw new KubeconfigError(field.path, 'must not hold credentials');
  if (url.search !== '' || url.hash !== '') {
    throw new KubeconfigError(field.path, 'must have neither query nor fragment');
  }
  return { protocol, ...hostOf(url, field.path), basePath: trimEndOf(url.pathname, '/') };
};

/** Parses the field `proxy-url` of a cluster. */
export const asProxy = (field: Field): ProxyEndpoint | undefined => {
  if (!isSet(field.value)) return undefined;
  const url = parseUrl(field);
  const { protocol } = url;
  if (protocol !== 'http:' && protocol !== 'https:' && protocol !== 'socks5:') {
    throw new KubeconfigError(field.path, 'must be an http, https or socks5 URL');
  }
  return { protocol, ...hostOf(url, field.path), ...proxyCredentials(url, field.path) };
};

const proxyCredentials = ({ username, password }: URL, path: string): Pick<ProxyEndpoint, 'credentials'> => {
  if (username === '' && password === '') return {};
  try {
    return { credentials: { username: decodeURIComponent(username), password: decodeURIComponent(password) } };
  } catch {
    throw new KubeconfigError(path, 'has a broken escape in its credentials');
  }
};

/** Parses the field `tls-server-name` of a cluster. */
export const asServerName = (field: Field): string | undefined => {
  const name = asText(field);
  if (name !== undefined && isIP(name) === 0 && !/^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_.])?$/.test(name)) {
    throw new KubeconfigError(field.path, 'is not a host name');
  }
  return name;
};
