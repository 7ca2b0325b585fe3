import { webcrypto } from 'node:crypto';
import type * as X509 from '@peculiar/x509';

/** A certificate and its private key, both in PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface SimCertificates {
  /** Certificate of the authority that signed all others, in PEM. */
  readonly ca: string;
  /** Key pair of the server. */
  readonly serving: KeyPair;
  /** Issues a client certificate. `user` becomes the common name, `groups` the organizations, as the API server reads them. */
  client(user: string, groups?: readonly string[]): Promise<KeyPair>;
}

export interface CertificateOptions {
  /** Milliseconds since the epoch by the machine's clock, which TLS uses; never by a virtual one. */
  readonly now: number;
}

type Metadata = Map<unknown, unknown>;

/**
 * Adds the three members of the Reflect metadata proposal that tsyringe, a dependency of @peculiar/x509, requires, unless they exist.
 * Called right before the first use.
 */
const provideReflectMetadata = (): void => {
  if ('getMetadata' in Reflect) return;
  const known = new WeakMap<object, Metadata>();
  const getOwnMetadata = (key: unknown, target: object): unknown => known.get(target)?.get(key);
  const defineMetadata = (key: unknown, value: unknown, target: object): void => {
    const metadata: Metadata = known.get(target) ?? new Map<unknown, unknown>();
    known.set(target, metadata.set(key, value));
  };
  Object.assign(Reflect, { getOwnMetadata, getMetadata: getOwnMetadata, defineMetadata });
};

/** Loads the library that makes certificates. */
export const loadX509 = async (): Promise<typeof X509.default> => {
  provideReflectMetadata();
  // The package is CommonJS: in a bundle, `import()` gives its exports as `default` alone.
  return (await import('@peculiar/x509')).default;
};

export const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const dayMs = 86_400_000;

export const generateKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

export const pem = (label: string, der: ArrayBuffer): string => {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
};

/** Returns the private key in PEM, as PKCS #8. */
export const keyPem = async (keys: webcrypto.CryptoKeyPair): Promise<string> =>
  pem('PRIVATE KEY', await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));

const escapeName = (value: string): string => value.replace(/[,+"\\<>;=#]/g, '\\$&');

const serverNames = [
  { type: 'dns', value: 'localhost' },
  { type: 'ip', value: '127.0.0.1' },
] as const;

interface LeafInit {
  readonly subject: string;
  readonly usage: string;
  readonly extensions?: readonly X509.Extension[];
}

/** Creates a certificate authority with a serving certificate, both ECDSA P-256 and valid for ten years from a day before `now`. */
export const createCertificates = async ({ now }: CertificateOptions): Promise<SimCertificates> => {
  const x509 = await loadX509();
  const validity = { notBefore: new Date(now - dayMs), notAfter: new Date(now + 3650 * dayMs) };
  const authority = await generateKeys();
  let serial = 1;

  const root = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=simulated-ca',
    ...validity,
    signingAlgorithm: algorithm,
    keys: authority,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(authority.publicKey),
    ],
  });

  const issue = async (leaf: LeafInit): Promise<KeyPair> => {
    const keys = await generateKeys();
    serial += 1;
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serial.toString(16).padStart(4, '0'),
      subject: leaf.subject,
      issuer: root.subject,
      ...validity,
      signingAlgorithm: algorithm,
      publicKey: keys.publicKey,
      signingKey: authority.privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([leaf.usage]),
        await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey),
        ...(leaf.extensions ?? []),
      ],
    });
    return { certificate: `${certificate.toString('pem')}\n`, key: await keyPem(keys) };
  };

  return {
    ca: `${root.toString('pem')}\n`,
    serving: await issue({
      subject: 'CN=kube-apiserver',
      usage: x509.ExtendedKeyUsage.serverAuth,
      extensions: [new x509.SubjectAlternativeNameExtension([...serverNames])],
    }),
    client: (user, groups = []) =>
      issue({
        subject: [`CN=${escapeName(user)}`, ...groups.map((group) => `O=${escapeName(group)}`)].join(', '),
        usage: x509.ExtendedKeyUsage.clientAuth,
      }),
  };
};
