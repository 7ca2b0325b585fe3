import { type Endpoint, type Security, createSecurity } from '../transport/index.ts';
import { type Document, isMap, isScalar, Lexer, LineCounter, parseDocument, visit } from 'yaml';
import type { JsonObject } from '../api/decode.ts';
import { KubeconfigError } from '../api/errors.ts';
import { basic, bearer } from '../client/index.ts';
import * as fields from './fields.ts';

interface DocumentRules {
  readonly bytes: number;
  readonly tokens: number;
  /** True for the merge keys (`<<`) of YAML 1.1, which client-go knows and which may multiply a text. */
  readonly merge: boolean;
}

/**
 * Limits for untrusted kubeconfigs. A Secret holds at most 1 MiB (k8s.io/api/core/v1, MaxSecretSize). Parsing time is quadratic in some counts
 * (nesting, keys, anchors), so one shoot's Secret could block the whole program for a minute. A kubeconfig of 100 clusters has about 20,000
 * tokens.
 */
export const untrustedLimits: DocumentRules = { bytes: 1024 * 1024, tokens: 20_000, merge: false };

/** Limit in MiB of each of the operator's files. */
export const operatorMiB = 16;

/** Limits for the operator's own file, which often has hundreds of clusters, of 5 KB each. */
export const operatorLimits: DocumentRules = { bytes: operatorMiB * 1024 * 1024, tokens: 2_000_000, merge: true };

const mostAliases = 100;

const whole = 'document';

/** Returns the error of a malformed document. Messages of the YAML parser are never used, because they quote the text. */
const broken = (problem: string): KubeconfigError => new KubeconfigError(whole, problem);

const checkSize = (text: string, limits: DocumentRules): void => {
  if (Buffer.byteLength(text) > limits.bytes) throw broken(`is larger than ${limits.bytes} bytes`);
  let tokens = 0;
  for (const _token of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > limits.tokens) throw broken(`has more than ${limits.tokens} YAML tokens`);
  }
};

/** Refuses duplicate keys. The parser's own check is quadratic: it compares each key of a map with all others. */
const checkDuplicates = (document: Document, lines: LineCounter): void => {
  visit(document, {
    Map: (_key, map) => {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) throw broken('has a key that is not a word');
        const line = lines.linePos(key.range?.[0] ?? 0).line;
        if (seen.has(key.value)) throw broken(`line ${line} repeats a key of the same map`);
        seen.add(key.value);
      }
    },
  });
};

/** Parses the first document. What follows `---` is not read, as in client-go. */
const parse = (text: string, { merge }: DocumentRules): unknown => {
  const lineCounter = new LineCounter();
  const options = { lineCounter, logLevel: 'error', prettyErrors: false, uniqueKeys: false, merge } as const;
  const document = parseDocument(text, options);
  const error = document.errors.find(({ code }) => code !== 'MULTIPLE_DOCS');
  if (error !== undefined) throw broken(`is not valid YAML (line ${lineCounter.linePos(error.pos[0]).line})`);
  checkDuplicates(document, lineCounter);
  // An empty file is a kubeconfig without entries, as in client-go.
  if (document.contents === null) return {};
  if (!isMap(document.contents)) throw broken('is not a map');
  return document.toJS({ maxAliasCount: mostAliases });
};

/** Parses YAML or JSON in bounded time and memory. Throws only KubeconfigError. */
export const parseBounded = (text: string, limits: DocumentRules): unknown => {
  try {
    checkSize(text, limits);
    return parse(text, limits);
  } catch (error) {
    if (error instanceof KubeconfigError) throw error;
    // Aliases expand to too much, or the nesting overflows the stack.
    throw broken('has aliases or nesting beyond all measure');
  }
};

/** An entry of `clusters`, `users` or `contexts`. */
export interface Named {
  readonly name: string;
  readonly path: string;
  readonly body: JsonObject;
}

/** Returns the entries of `clusters`, `users` or `contexts`; the body of each is its member `inner`. */
export const namedEntries = (root: JsonObject, list: string, inner: string): readonly Named[] => {
  const seen = new Set<string>();
  return fields.asList(fields.member(root, '', list)).map((entry) => {
    const object = fields.asObject(entry);
    const nameField = fields.member(object, entry.path, 'name');
    const name = fields.asText(nameField) ?? '';
    if (seen.has(name)) throw new KubeconfigError(nameField.path, 'is the name of an earlier entry, too');
    seen.add(name);
    const bodyField = fields.member(object, entry.path, inner);
    return { name, path: bodyField.path, body: bodyField.value === null ? {} : fields.asObject(bodyField) };
  });
};

/** Returns the entry that `reference` names. */
export const findEntry = <E extends Named>(entries: readonly E[], reference: fields.Field): E => {
  const name = fields.asText(reference);
  if (name === undefined) throw new KubeconfigError(reference.path, 'is not set');
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw new KubeconfigError(reference.path, 'names an entry that is not there');
  return found;
};

/** Returns the endpoint of a cluster entry. */
export const endpointOf = (cluster: Named): Endpoint => {
  const field = (name: string): fields.Field => fields.member(cluster.body, cluster.path, name);
  return {
    ...fields.asServer(field('server')),
    servername: fields.asServerName(field('tls-server-name')),
    proxy: fields.asProxy(field('proxy-url')),
  };
};

/** Returns the `Authorization` header for a user entry's inline token or password; undefined if it has neither. */
export const authorizationOf = (user: Named): string | undefined => {
  const field = (name: string): fields.Field => fields.member(user.body, user.path, name);
  const token = fields.asHeaderText(field('token'));
  const username = fields.asText(field('username'));
  const password = fields.asText(field('password'));
  const hasBasic = username !== undefined || password !== undefined;
  if (token !== undefined && hasBasic) {
    throw new KubeconfigError(field('token').path, 'is set beside username or password; set one of them');
  }
  if (hasBasic) return basic(username ?? '', password ?? '');
  return token === undefined ? undefined : bearer(token);
};

/** A PEM, and the field that holds it or names its file. */
export interface Pem {
  readonly path: string;
  readonly text: string | undefined;
}

/** TLS settings of a cluster and a user. */
export interface TlsFields {
  readonly ca: Pem;
  readonly cert: Pem;
  readonly key: Pem;
  readonly insecure: fields.Field;
}

/** Checks that TLS settings are complete and fit together, and prepares them; `most` is the maximum number of certificates in a bundle. Throws a KubeconfigError. */
export const securityOf = ({ ca, cert, key, insecure }: TlsFields, most?: number): Security => {
  const isInsecure = fields.asFlag(insecure);
  if (isInsecure && ca.text !== undefined) {
    throw new KubeconfigError(insecure.path, 'contradicts the certificate authority; set one of them');
  }
  for (const [one, partner] of [
    [cert, key],
    [key, cert],
  ] as const) {
    if (one.text === undefined && partner.text !== undefined) {
      throw new KubeconfigError(one.path, 'is not set, but its partner is');
    }
  }
  for (const { path, text } of [ca, cert]) if (text !== undefined) fields.checkCertificates(path, text, most);
  try {
    return createSecurity({ ca: ca.text, cert: cert.text, key: key.text, rejectUnauthorized: !isInsecure });
  } catch {
    throw new KubeconfigError(key.path, 'cannot be read as a PEM key, or is not the key of the certificate');
  }
};
