import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority } from '../../envtest/certificates.ts';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { shootRules } from '../../envtest/shoot.ts';
import type { FaultyShoot } from './faulty-shoot.ts';

/** A fault between a watchdog and the API server of a shoot. While it lasts, the watchdog can judge nothing. */
export interface ShootFault {
  /** Name of the shoot that has it, and suffix of its namespace. */
  readonly name: string;
  /** Result of the runs. */
  readonly result: string;
  /** Matches a log line about the shoot. */
  readonly says: RegExp;
  /** Starts the fault. Resolves to a function that ends it. */
  readonly start: (faulty: FaultyShoot) => Promise<() => Promise<void> | void>;
}

const unreachable = (says: RegExp) => ({ result: 'api_server_unreachable', says });

const loopback = ['127.0.0.1'];
const unauthorized = unreachable(/401 Unauthorized/);

const tokenOf = async (shoot: ControlPlane, name: string): Promise<string> => {
  const account = { namespace: 'kube-system', name, rules: shootRules, expirationSeconds: 3_600 };
  return (await shoot.serviceAccountKubeconfig(account)).token;
};

/** Returns a token that the API server has issued, with another expiry, signed again with the API server's key. */
const tokenUntil = async (shoot: ControlPlane, name: string, endsInSeconds: number): Promise<string> => {
  const [header = '', payload = ''] = (await tokenOf(shoot, name)).split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Readonly<Record<string, unknown>>;
  const now = Math.floor(Date.now() / 1_000);
  const changed = { ...claims, iat: now - 7_200, nbf: now - 7_200, exp: now + endsInSeconds };
  const signed = `${header}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}`;
  const key = createPrivateKey(readFileSync(join(shoot.directory, 'pki', 'service-account.key')));
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
};

/** Faults of serving certificates. */
const certificates: readonly ShootFault[] = [
  {
    name: 'certificate-rotated',
    ...unreachable(/certificate/),
    start: async (faulty) => {
      const authority = await createAuthority('next-ca');
      faulty.front.present(await authority.issueServer(loopback));
      return () => faulty.updateSecret({ caPem: authority.caPem });
    },
  },
  {
    name: 'certificate-expired',
    ...unreachable(/certificate has expired/),
    start: async ({ front, authority }) => {
      front.present(await authority.issueServer(loopback, -1_000));
      return async () => front.present(await authority.issueServer(loopback));
    },
  },
];

/** Gives the prober a client certificate for the shoot. A proxy cannot pass it on, so TLS ends at the API server. */
const withClientCertificate = async (faulty: FaultyShoot, validForMs: number): Promise<void> => {
  const { caPem, authority } = faulty.shoot;
  faulty.front.tunnel();
  await faulty.shoot.kubeconfigFor({ user: faulty.name, rules: shootRules });
  await faulty.updateSecret({ caPem, credentials: await authority.issueClient({ user: faulty.name, validForMs }) });
};

/** Credentials that the real API server refuses. */
const credentials: readonly ShootFault[] = [
  {
    // The API server caches a valid token for up to 10 s (`TokenSuccessCacheTTL`).
    name: 'token-rotated',
    ...unauthorized,
    start: async (faulty) => {
      await faulty.updateSecret({ credentials: { token: await tokenOf(faulty.shoot, faulty.name) } });
      await faulty.shoot.client.delete(`/api/v1/namespaces/kube-system/serviceaccounts/${faulty.name}`);
      return async () => faulty.updateSecret({ credentials: { token: await tokenOf(faulty.shoot, faulty.name) } });
    },
  },
  {
    name: 'token-expired',
    ...unauthorized,
    start: async (faulty) => {
      await faulty.updateSecret({ credentials: { token: await tokenUntil(faulty.shoot, faulty.name, -60) } });
      return async () =>
        faulty.updateSecret({ credentials: { token: await tokenUntil(faulty.shoot, faulty.name, 3_600) } });
    },
  },
  {
    name: 'client-certificate-expired',
    ...unauthorized,
    start: async (faulty) => {
      await withClientCertificate(faulty, -1_000);
      return () => withClientCertificate(faulty, 3_600_000);
    },
  },
];

export const faults: readonly ShootFault[] = [...certificates, ...credentials];
