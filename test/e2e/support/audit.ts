import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One request as a kube-apiserver's audit log tells it. */
export interface AuditedRequest {
  readonly user: string;
  readonly verb: string;
  /** Path and query. */
  readonly uri: string;
  readonly status: number;
  /** Of the object, or of the only name that a list selects. */
  readonly name: string | undefined;
  /** Plural, with the subresource, and the API group unless it is the core group: `deployments/scale.apps`. */
  readonly resource: string;
  readonly at: number;
  /** Body of a write. */
  readonly body?: unknown;
}

interface AuditEvent {
  readonly stage: string;
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly requestURI: string;
  readonly responseStatus?: { readonly code: number };
  readonly requestReceivedTimestamp: string;
  readonly objectRef?: {
    readonly resource: string;
    readonly subresource?: string;
    readonly apiGroup?: string;
    readonly name?: string;
  };
  readonly requestObject?: unknown;
}

const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Request
    verbs: [create, update, patch, delete]
  - level: Metadata
`;

const resourceOf = ({ resource = '', subresource, apiGroup }: Partial<NonNullable<AuditEvent['objectRef']>>): string =>
  `${resource}${subresource === undefined ? '' : `/${subresource}`}${apiGroup === undefined ? '' : `.${apiGroup}`}`;

/** Flags that make a kube-apiserver write down every request, and a reader of what it wrote. */
export const auditInto = (
  directory: string,
): { readonly flags: Readonly<Record<string, string>>; readonly requests: () => readonly AuditedRequest[] } => {
  const policyFile = join(directory, 'audit-policy.yaml');
  const logFile = join(directory, 'audit.log');
  writeFileSync(policyFile, policy);
  writeFileSync(logFile, '');
  const parse = (line: string): AuditEvent => JSON.parse(line) as AuditEvent;
  return {
    flags: { 'audit-policy-file': policyFile, 'audit-log-path': logFile, 'audit-log-mode': 'blocking' },
    requests: () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map(parse)
        .map((event) => ({
          user: event.user.username,
          verb: event.verb,
          uri: event.requestURI,
          status: event.responseStatus?.code ?? 0,
          name: event.objectRef?.name,
          resource: resourceOf(event.objectRef ?? {}),
          at: Date.parse(event.requestReceivedTimestamp),
          body: event.requestObject,
        })),
  };
};
