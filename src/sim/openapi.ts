import { apiVersionOf, type SimKind } from './kind.ts';
import type { JsonMap } from './object.ts';
import type { Catalog } from './route.ts';

/** `api/v1`, `apis/apps/v1`: where a version of a group is served. */
const rootOf = (apiVersion: string): string => (apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`);

/** The body of `/openapi/v3`. */
export const openApiIndex = ({ kinds }: Catalog): JsonMap => {
  const roots = new Set(kinds.map((kind) => rootOf(apiVersionOf(kind))));
  return { paths: Object.fromEntries([...roots].map((root) => [root, { serverRelativeURL: `/openapi/v3/${root}` }])) };
};

const parameters = ['dryRun', 'fieldValidation'].map((name) => ({ name, in: 'query', schema: { type: 'string' } }));

const typeOf = ({ group, version, kind }: SimKind): JsonMap => ({ group, version, kind });

const schemaOf = (kind: SimKind): readonly [name: string, schema: JsonMap] => {
  const description = 'The simulated API server describes no fields.';
  return [kind.kind, { type: 'object', description, 'x-kubernetes-group-version-kind': [typeOf(kind)] }];
};

const pathOf = (kind: SimKind): readonly [path: string, operations: JsonMap] => {
  const middle = kind.namespaced ? 'namespaces/{namespace}/' : '';
  const responses = { 200: { description: 'OK' } };
  const patch = { parameters, responses, 'x-kubernetes-group-version-kind': typeOf(kind) };
  return [`/${rootOf(apiVersionOf(kind))}/${middle}${kind.resource}/{name}`, { patch }];
};

/**
 * The document of one version of a group: of each kind the PATCH alone, and no fields. That is what kubectl looks at to see whether it may leave
 * it to the server to check what it sends (`queryParamVerifierV3` in k8s.io/cli-runtime/pkg/resource), before `create -f` and `apply`. The
 * simulator takes fields that no real server knows.
 */
export const openApiDocument = (
  { kinds }: Catalog,
  of: { readonly group: string; readonly version: string },
): JsonMap => {
  const own = kinds.filter(({ group, version }) => group === of.group && version === of.version);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: '1.36' },
    paths: Object.fromEntries(own.map(pathOf)),
    components: { schemas: Object.fromEntries(own.map(schemaOf)) },
  };
};
