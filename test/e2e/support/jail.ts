import { request } from 'node:https';
import { type ControlPlane, createTestClient } from '../../envtest/index.ts';
import { waitFor } from '../../envtest/waiting.ts';

const group = 'flowcontrol.apiserver.k8s.io';
const base = `/apis/${group}/v1`;

/** A service account of namespace kube-system, with a token of its own. */
export interface Inmate {
  readonly name: string;
  readonly token: string;
}

/**
 * A level of API Priority and Fairness without seats. Still, one request at a time gets through (k8s.io/apiserver
 * `pkg/util/flowcontrol/fairqueuing/queueset`, canAccommodateSeatsLocked).
 */
const createLevel = async ({ client }: ControlPlane, name: string): Promise<void> => {
  const [apiVersion, metadata] = [`${group}/v1`, { name }];
  const limited = { nominalConcurrencyShares: 0, lendablePercent: 0, borrowingLimitPercent: 0 };
  await client.apply(`${base}/prioritylevelconfigurations/${name}`, {
    apiVersion,
    kind: 'PriorityLevelConfiguration',
    metadata,
    spec: { type: 'Limited', limited: { ...limited, limitResponse: { type: 'Reject' } } },
  });
  const account = { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name } };
  const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };
  await client.apply(`${base}/flowschemas/${name}`, {
    apiVersion,
    kind: 'FlowSchema',
    metadata,
    spec: {
      priorityLevelConfiguration: metadata,
      matchingPrecedence: 2,
      rules: [
        { subjects: [account], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }], resourceRules: [all] },
      ],
    },
  });
};

/** Takes the one place: a request whose body never comes lasts until the API server's `--request-timeout`. */
const occupy = ({ host, port, caPem }: ControlPlane, token: string): (() => void) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': 100 };
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const outgoing = request({ host, port, ca: caPem, method: 'POST', path, headers });
  outgoing.on('error', () => undefined).on('response', (response) => response.resume());
  outgoing.flushHeaders();
  return () => outgoing.destroy();
};

/** Lets the API server answer 429 to all that this account asks, until the function is called that it resolves with. */
export const jail = async (shoot: ControlPlane, { name, token }: Inmate): Promise<() => Promise<void>> => {
  const { host, port, caPem, client } = shoot;
  const inmate = createTestClient({ host, port, caPem, token });
  await createLevel(shoot, name);
  let release = (): void => undefined;
  await waitFor({ what: `429 for ${name}`, withinMs: 60_000, everyMs: 200 }, async () => {
    // The level takes a moment to come into force, and a request of before takes no place in it.
    release();
    release = occupy(shoot, token);
    const answers = [await inmate.request({ method: 'GET', path: '/version' })];
    answers.push(await inmate.request({ method: 'GET', path: '/version' }));
    return answers.every(({ status }) => status === 429) || undefined;
  });
  return async () => {
    release();
    inmate.disconnect();
    await client.delete(`${base}/flowschemas/${name}`);
  };
};
