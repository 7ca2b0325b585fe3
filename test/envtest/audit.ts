import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';

/** A request in a kube-apiserver's audit log. */
export interface AuditedRequest {
  readonly user: string;
  readonly verb: string;
  /** Path and query. */
  readonly uri: string;
  readonly status: number;
  /** Name of the object, or the single name that a list selects. */
  readonly name: string | undefined;
  /** Plural name, with the subresource and, except for the core group, the API group: `deployments/scale.apps`. */
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

/** Omits the reads of the tests themselves, which poll several times a second. */
const policyFor = (admin: string): string => `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    users: [${admin}, 'system:apiserver']
    verbs: [get, list, watch]
  - level: Request
    verbs: [create, update, patch, delete]
  - level: Metadata
`;

const resourceOf = ({ resource = '', subresource, apiGroup }: Partial<NonNullable<AuditEvent['objectRef']>>): string =>
  `${resource}${subresource === undefined ? '' : `/${subresource}`}${apiGroup === undefined ? '' : `.${apiGroup}`}`;

const toRequest = (event: AuditEvent): AuditedRequest => ({
  user: event.user.username,
  verb: event.verb,
  uri: event.requestURI,
  status: event.responseStatus?.code ?? 0,
  name: event.objectRef?.name,
  resource: resourceOf(event.objectRef ?? {}),
  at: Date.parse(event.requestReceivedTimestamp),
  body: event.requestObject,
});

/** Returns a reader of a growing file. Each call returns the complete lines since the last call. */
const followLines = (file: string): (() => readonly string[]) => {
  const chunk = Buffer.alloc(1 << 20);
  const decoder = new StringDecoder('utf8');
  let [offset, rest] = [0, ''];
  return () => {
    const descriptor = openSync(file, 'r');
    try {
      for (;;) {
        const bytes = readSync(descriptor, chunk, 0, chunk.length, offset);
        if (bytes === 0) break;
        offset += bytes;
        rest += decoder.write(chunk.subarray(0, bytes));
      }
    } finally {
      closeSync(descriptor);
    }
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    return lines;
  };
};

/** Returns flags with which a kube-apiserver logs every request except the reads of `admin`, the test itself, and a reader of that log. */
export const auditInto = (
  directory: string,
  admin: string,
): { readonly flags: Readonly<Record<string, string>>; readonly requests: () => readonly AuditedRequest[] } => {
  const policyFile = join(directory, 'audit-policy.yaml');
  const logFile = join(directory, 'audit.log');
  writeFileSync(policyFile, policyFor(admin));
  writeFileSync(logFile, '');
  const newLines = followLines(logFile);
  const requests: AuditedRequest[] = [];
  return {
    // The log is never rotated, because the reader continues at its last offset.
    flags: { 'audit-policy-file': policyFile, 'audit-log-path': logFile, 'audit-log-mode': 'blocking' },
    requests: () => {
      for (const line of newLines()) requests.push(toRequest(JSON.parse(line) as AuditEvent));
      return [...requests];
    },
  };
};
