import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createAuthority } from '../../envtest/certificates.ts';
import type { TestClient } from '../../envtest/client.ts';

interface PodTemplate {
  readonly metadata: object;
  readonly spec: { readonly containers: readonly object[] };
}

/** The parts of a Deployment that webhooks here change. */
export interface Mutable {
  readonly metadata: object;
  readonly spec: { readonly template: PodTemplate };
}

/** Returns the object as the webhook changes it. `call` counts the calls. */
export type WebhookMutation = (object: Mutable, call: number) => Mutable;

/** A mutating webhook for all updates of Deployments, over HTTPS on the loopback address. */
export interface Webhook {
  /** Sets the mutation from now on. Undefined leaves objects as they are. */
  readonly mutate: (mutation: WebhookMutation | undefined) => void;
  /** Returns the number of mutations so far. */
  readonly changes: () => number;
  readonly stop: () => Promise<void>;
}

interface AdmissionReview {
  readonly request: { readonly uid: string; readonly object: Mutable };
}

const jsonPatch = (before: Mutable, after: Mutable): string => {
  const operations = (['metadata', 'spec'] as const).map((field) => ({
    op: before[field] === after[field] ? 'test' : 'replace',
    path: `/${field}`,
    value: after[field],
  }));
  return Buffer.from(JSON.stringify(operations)).toString('base64');
};

export const startWebhook = async (seed: TestClient): Promise<Webhook> => {
  const authority = await createAuthority('webhook');
  const { certificatePem: cert, keyPem: key } = await authority.issueServer(['127.0.0.1']);
  let changes = 0;
  let mutation: WebhookMutation | undefined;
  const server = createServer({ cert, key }, (request, response) => {
    void json(request).then((body) => {
      const { request: admission } = body as AdmissionReview;
      const patch =
        mutation === undefined
          ? {}
          : { patchType: 'JSONPatch', patch: jsonPatch(admission.object, mutation(admission.object, ++changes)) };
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...review, response: { uid: admission.uid, allowed: true, ...patch } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await seed.create('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'as-gardener-has-them' },
    webhooks: [
      {
        name: 'deployments.example.org',
        clientConfig: {
          url: `https://127.0.0.1:${String(port)}/`,
          caBundle: Buffer.from(authority.caPem).toString('base64'),
        },
        rules: [{ apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'], operations: ['UPDATE'] }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
      },
    ],
  });
  return {
    mutate: (next) => {
      mutation = next;
    },
    changes: () => changes,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
