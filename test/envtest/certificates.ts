import { webcrypto } from 'node:crypto';
import type * as X509 from '@peculiar/x509';
import { algorithm, generateKeys, keyPem, loadX509, pem } from '../../simulator/network/certificates.ts';

export interface Certificate {
  readonly certificatePem: string;
  /** The private key, as PKCS #8. */
  readonly keyPem: string;
}

export interface ClientCertificateOptions {
  /** The common name, which is the user's name for the API server. */
  readonly user: string;
  /** The organizations, which are the user's groups for the API server. */
  readonly groups?: readonly string[];
}

/** A certificate authority in memory. What it issues is valid for a day. */
export interface Authority {
  readonly caPem: string;
  readonly issueClient: (options: ClientCertificateOptions) => Promise<Certificate>;
  /** Issues a serving certificate. `hosts` are DNS names and IPv4 addresses. */
  readonly issueServer: (hosts: readonly string[]) => Promise<Certificate>;
}

const hour = 3_600_000;
const day = 24 * hour;

export async function createAuthority(name: string): Promise<Authority> {
  const x509 = await loadX509();
  const keys = await generateKeys();
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm: algorithm,
    ...validity(),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });

  const issue = async (subject: Record<string, string[]>[], extensions: X509.Extension[]) => {
    const own = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      subject,
      issuer: ca.subjectName,
      publicKey: own.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: algorithm,
      ...validity(),
      extensions: [new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true), ...extensions],
    });
    return { certificatePem: certificate.toString('pem'), keyPem: await keyPem(own) };
  };

  return {
    caPem: ca.toString('pem'),
    issueClient: ({ user, groups = [] }) =>
      issue(
        [{ CN: [user] }, ...groups.map((group) => ({ O: [group] }))],
        [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])],
      ),
    issueServer: (hosts) =>
      issue(
        [{ CN: [hosts[0] ?? name] }],
        [
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
          new x509.SubjectAlternativeNameExtension(
            hosts.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value }) as const),
          ),
        ],
      ),
  };
}

/** Creates the key pair with which the API server signs and verifies tokens of service accounts. */
export async function createSigningKeys(): Promise<{ readonly publicPem: string; readonly privatePem: string }> {
  const keys = await generateKeys();
  const spki = await webcrypto.subtle.exportKey('spki', keys.publicKey);
  return { publicPem: pem('PUBLIC KEY', spki), privatePem: await keyPem(keys) };
}

/** Returns a validity that starts one hour before now, for clocks that differ. */
function validity(): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(Date.now() - hour), notAfter: new Date(Date.now() + day) };
}
