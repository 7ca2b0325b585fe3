import type { JsonObject } from '../api/decode.ts';
import { KubeconfigError } from '../api/errors.ts';
import { type Endpoint, basic, bearer } from '../client/index.ts';
import * as fields from './fields.ts';

/** An entry of `clusters`, `users` or `contexts`. */
export interface Named {
  readonly name: string;
  readonly path: string;
  readonly body: JsonObject;
}

/** The entries of `clusters`, `users` or `contexts`, each with its body under `inner`. */
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

/** The entry that `reference` names. */
export const findEntry = <E extends Named>(entries: readonly E[], reference: fields.Field): E => {
  const name = fields.asText(reference);
  if (name === undefined) throw new KubeconfigError(reference.path, 'is not set');
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw new KubeconfigError(reference.path, 'names an entry that is not there');
  return found;
};

/** Where a cluster entry points to. */
export const endpointOf = (cluster: Named): Endpoint => {
  const field = (name: string): fields.Field => fields.member(cluster.body, cluster.path, name);
  const servername = fields.asServerName(field('tls-server-name'));
  const proxy = fields.asProxy(field('proxy-url'));
  return {
    ...fields.asServer(field('server')),
    ...(servername === undefined ? {} : { servername }),
    ...(proxy === undefined ? {} : { proxy }),
  };
};

/** The `Authorization` header of a user entry's inline token or password; undefined when it has neither. */
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
