import { webcrypto } from 'node:crypto';
import type * as X509 from '@peculiar/x509';
import { type KeyPair, algorithm, generateKeys, keyPem, loadX509, pem } from '../../simulator/network/certificates.ts';

/** A server's certificates and a client's CA data. Is the server trusted? */
export interface TrustCase {
  readonly name: string;
  /** Name that the client expects. */
  readonly serverName: string;
  /** CA data of the client: certificates in PEM. */
  readonly ca: string;
  /** Certificates that the server sends, its own first, in PEM. */
  readonly chain: string;
  /** Key of the first of them, in PEM. */
  readonly key: string;
}

const dayMs = 86_400_000;
const [serverAuth, clientAuth] = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'];

type Keys = webcrypto.CryptoKeyPair;

interface Issued extends KeyPair {
  readonly subject: string;
  readonly keys: Keys;
}

interface Wanted {
  readonly subject: string;
  /** Absent: self-signed. */
  readonly issuer?: Issued;
  /** Kind of certificate. Default: a server's own, without the right to sign others. `unmarked` has no basic constraints at all. */
  readonly kind?: 'ca' | 'unmarked';
  readonly pathLength?: number;
  /** DNS names and addresses. Default of a server's certificate: api.example. */
  readonly names?: readonly string[];
  /** Extended key usage; empty: none. Default: serverAuth for a server's certificate. */
  readonly usage?: readonly string[];
  /** False: no key usage at all, which leaves all open, as in what `openssl req -x509` makes. */
  readonly keyUsage?: boolean;
  /** Days from now. Default: from yesterday for ten years. */
  readonly days?: readonly [from: number, to: number];
  /** Key, to issue a certificate anew. Default: a new one. */
  readonly keys?: Keys;
  /** False: without identifiers of its own key and of the issuer's. */
  readonly identifiers?: boolean;
}

type Issue = (wanted: Wanted) => Promise<Issued>;

const issuerFor =
  (x509: typeof X509.default, now: number): Issue =>
  async ({ subject, issuer, kind, pathLength, days = [-1, 3650], identifiers = true, keyUsage = true, ...wanted }) => {
    const keys = wanted.keys ?? (await generateKeys());
    const names = wanted.names ?? (kind === undefined ? ['api.example'] : []);
    const usage = wanted.usage ?? (kind === undefined ? [serverAuth] : []);
    const signingKeys = issuer?.keys ?? keys;
    const flags = kind === undefined ? x509.KeyUsageFlags.digitalSignature : x509.KeyUsageFlags.keyCertSign;
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: Buffer.from(webcrypto.getRandomValues(new Uint8Array(8)).fill(1, 0, 1)).toString('hex'),
      subject,
      issuer: issuer?.subject ?? subject,
      notBefore: new Date(now + days[0] * dayMs),
      notAfter: new Date(now + days[1] * dayMs),
      signingAlgorithm: algorithm,
      publicKey: keys.publicKey,
      signingKey: signingKeys.privateKey,
      extensions: [
        ...(kind === 'unmarked' ? [] : [new x509.BasicConstraintsExtension(kind === 'ca', pathLength, true)]),
        ...(keyUsage ? [new x509.KeyUsagesExtension(flags, true)] : []),
        ...(usage.length === 0 ? [] : [new x509.ExtendedKeyUsageExtension([...usage])]),
        ...(names.length === 0
          ? []
          : [
              new x509.SubjectAlternativeNameExtension(
                names.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value })),
              ),
            ]),
        ...(identifiers
          ? [
              await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
              await x509.AuthorityKeyIdentifierExtension.create(signingKeys.publicKey),
            ]
          : []),
      ],
    });
    return {
      subject,
      keys,
      certificate: pem('CERTIFICATE', certificate.rawData),
      key: await keyPem(keys),
    };
  };

type Add = (name: string, ca: readonly Issued[], sent: readonly Issued[], serverName?: string) => void;

interface Tools {
  readonly issue: Issue;
  readonly add: Add;
  readonly root: Issued;
  readonly intermediate: Issued;
  /** Server's certificates, of the root and of the intermediate. */
  readonly byRoot: Issued;
  readonly leaf: Issued;
}

/** Returns the cases, with new keys, valid around `now`. */
export const trustCases = async (now: number): Promise<readonly TrustCase[]> => {
  const cases: TrustCase[] = [];
  const add: Add = (name, ca, sent, serverName = 'api.example') => {
    const [own] = sent;
    if (own === undefined) throw new Error(`${name}: the server sends nothing`);
    const joined = (list: readonly Issued[]): string => list.map(({ certificate }) => certificate).join('');
    cases.push({ name, serverName, ca: joined(ca), chain: joined(sent), key: own.key });
  };
  const issue = issuerFor(await loadX509(), now);
  const root = await issue({ subject: 'CN=root', kind: 'ca' });
  const intermediate = await issue({ subject: 'CN=intermediate', issuer: root, kind: 'ca' });
  const byRoot = await issue({ subject: 'CN=kube-apiserver', issuer: root });
  const leaf = await issue({ subject: 'CN=kube-apiserver', issuer: intermediate });
  const tools: Tools = { issue, add, root, intermediate, byRoot, leaf };
  for (const addCases of [
    addAnchors,
    addOwn,
    addOthers,
    addPaths,
    addTimes,
    addRenewed,
    addTwins,
    addNames,
    addUsages,
  ]) {
    await addCases(tools);
  }
  return cases;
};

const addAnchors = async ({ issue, add, root, intermediate, byRoot, leaf }: Tools): Promise<void> => {
  add('root as CA', [root], [byRoot]);
  add('root as CA, intermediate sent', [root], [leaf, intermediate]);
  add('root as CA, intermediate not sent', [root], [leaf]);
  add('intermediate as CA', [intermediate], [leaf]);
  add('intermediate as CA and sent', [intermediate], [leaf, intermediate]);
  add('intermediate as CA, whole chain sent', [intermediate], [leaf, intermediate, root]);
  add('intermediate and root as CA', [intermediate, root], [leaf]);
  add('intermediate as CA, server of the root', [intermediate], [byRoot]);
  add('root of another name as CA', [await issue({ subject: 'CN=other', kind: 'ca' })], [byRoot]);
  add('another root of the same name as CA', [await issue({ subject: 'CN=root', kind: 'ca' })], [byRoot]);
  const rancherCa = await issue({ subject: 'O=dynamiclistener-org, CN=dynamiclistener-ca@1', kind: 'ca' });
  const rancher = await issue({ subject: 'O=dynamic, CN=rancher', issuer: rancherCa });
  add('Rancher: dynamic listener', [rancherCa], [rancher]);
  add('Rancher: dynamic listener, CA sent', [rancherCa], [rancher, rancherCa]);
};

const addOwn = async ({ issue, add, intermediate, byRoot, leaf }: Tools): Promise<void> => {
  const selfSigned = await issue({ subject: 'CN=kube-apiserver' });
  const marked = { subject: 'CN=kube-apiserver', kind: 'ca', names: ['api.example'] } as const;
  const selfSignedCa = await issue({ ...marked, keyUsage: false });
  const onlySigning = await issue(marked);
  const another = await issue({ subject: 'CN=kube-apiserver' });
  add("server's self-signed certificate as CA", [selfSigned], [selfSigned]);
  add("server's self-signed certificate, marked as CA, as CA", [selfSignedCa], [selfSignedCa]);
  add("server's self-signed certificate, marked for signing only, as CA", [onlySigning], [onlySigning]);
  add("server's certificate of a root as CA", [byRoot], [byRoot]);
  add("server's certificate of an intermediate as CA", [leaf], [leaf]);
  add("server's certificate as CA, chain sent", [leaf], [leaf, intermediate]);
  add('another self-signed certificate of the same name as CA', [another], [selfSigned]);
};

const addOthers = async ({ issue, add, root, intermediate, byRoot, leaf }: Tools): Promise<void> => {
  const renewed = await issue({ subject: 'CN=kube-apiserver', issuer: intermediate, keys: leaf.keys });
  const signedByLeaf = await issue({ subject: 'CN=kube-apiserver', issuer: leaf });
  add('another server certificate as CA', [byRoot], [leaf]);
  add('renewed server certificate, the old one as CA', [leaf], [renewed]);
  add('certificate signed by a server certificate that is CA data', [leaf], [signedByLeaf]);
  add('certificate signed by a server certificate, root as CA', [root], [signedByLeaf, leaf, intermediate]);
};

const addPaths = async ({ issue, add, root }: Tools): Promise<void> => {
  const unmarked = await issue({ subject: 'CN=unmarked', kind: 'unmarked' });
  const byUnmarked = await issue({ subject: 'CN=kube-apiserver', issuer: unmarked });
  const narrow = await issue({ subject: 'CN=narrow', issuer: root, kind: 'ca', pathLength: 0 });
  const tooDeep = await issue({ subject: 'CN=too-deep', issuer: narrow, kind: 'ca' });
  const beyond = await issue({ subject: 'CN=kube-apiserver', issuer: tooDeep });
  add('CA without basic constraints', [unmarked], [byUnmarked]);
  add('path longer than the CA allows', [root], [beyond, tooDeep, narrow]);
  add('path longer than a CA allows that is itself CA data', [narrow], [beyond, tooDeep]);
};

const past = [-20, -10] as const;
const future = [10, 20] as const;

const addTimes = async ({ issue, add, root, intermediate, byRoot }: Tools): Promise<void> => {
  const expired = await issue({ subject: 'CN=kube-apiserver', issuer: intermediate, days: past });
  const early = await issue({ subject: 'CN=kube-apiserver', issuer: intermediate, days: future });
  add('expired', [root], [expired, intermediate]);
  add('expired, intermediate as CA', [intermediate], [expired]);
  add('expired, itself as CA', [expired], [expired]);
  add('not yet valid', [root], [early, intermediate]);
  add('not yet valid, intermediate as CA', [intermediate], [early]);
  add('not yet valid, itself as CA', [early], [early]);
  const futureRoot = await issue({ subject: 'CN=root', kind: 'ca', keys: root.keys, days: future });
  add('root not yet valid', [futureRoot], [byRoot]);
};

const addRenewed = async ({ issue, add, root, intermediate, byRoot, leaf }: Tools): Promise<void> => {
  const oldRoot = await issue({ subject: 'CN=root', kind: 'ca', keys: root.keys, days: past });
  const { subject, keys } = intermediate;
  const oldIntermediate = await issue({ subject, issuer: root, kind: 'ca', keys, days: past });
  add('expired root', [oldRoot], [byRoot]);
  add('expired intermediate as CA', [oldIntermediate], [leaf]);
  add('expired intermediate as CA, a valid one sent', [oldIntermediate], [leaf, intermediate]);
  add('expired intermediate sent', [root], [leaf, oldIntermediate]);
  add('expired intermediate sent, a valid one as CA', [intermediate], [leaf, oldIntermediate]);
  add('expired root before the renewed one', [oldRoot, root], [byRoot]);
  add('expired root after the renewed one', [root, oldRoot], [byRoot]);
  add('valid intermediate and expired root as CA', [intermediate, oldRoot], [leaf]);
  add('expired intermediate and its root as CA', [oldIntermediate, root], [leaf]);
  add('expired intermediate and its root as CA, a valid one sent', [oldIntermediate, root], [leaf, intermediate]);
};

/** Two CAs of one name, as in a bundle during the rotation of a CA. */
const addTwins = async ({ issue, add }: Tools): Promise<void> => {
  for (const identifiers of [true, false]) {
    const first = await issue({ subject: 'CN=root', kind: 'ca', identifiers });
    const second = await issue({ subject: 'CN=root', kind: 'ca', identifiers });
    const own = await issue({ subject: 'CN=kube-apiserver', issuer: second, identifiers });
    const names = `two roots of one name${identifiers ? '' : ' without key identifiers'}`;
    add(`${names}, the other first`, [first, second], [own]);
    add(`${names}, the other last`, [second, first], [own]);
  }
};

const addNames = async ({ issue, add, root }: Tools): Promise<void> => {
  const named = (...names: readonly string[]): Promise<Issued> =>
    issue({ subject: 'CN=api.example', issuer: root, names });
  const many = await named('api.example', '10.0.0.1', '*.wild.example');
  add('wrong name', [root], [many], 'other.example');
  add('wrong name, itself as CA', [many], [many], 'other.example');
  add('name in other case', [root], [many], 'API.Example');
  add('name with a dot at its end', [root], [many], 'api.example.');
  add('address', [root], [many], '10.0.0.1');
  add('wrong address', [root], [many], '10.0.0.2');
  add('wildcard', [root], [many], 'a.wild.example');
  add('wildcard for two labels', [root], [many], 'a.b.wild.example');
  add('wildcard for no label', [root], [many], 'wild.example');
  add('wildcard for a part of a label', [root], [await named('ap*.example')]);
  add('name only as common name', [root], [await named()]);
  add('name only as common name, beside an address', [root], [await named('10.0.0.1')]);
  add('address as DNS name', [root], [await issue({ subject: 'CN=10.0.0.1', issuer: root, names: [] })], '10.0.0.1');
};

const addUsages = async ({ issue, add, root }: Tools): Promise<void> => {
  const used = (...usage: readonly string[]): Promise<Issued> =>
    issue({ subject: 'CN=kube-apiserver', issuer: root, usage });
  const ofClients = await used(clientAuth);
  add('no extended key usage', [root], [await used()]);
  add('for servers and clients', [root], [await used(serverAuth, clientAuth)]);
  add('for clients only', [root], [ofClients]);
  add('for clients only, itself as CA', [ofClients], [ofClients]);
  const clientCa = await issue({ subject: 'CN=clients', issuer: root, kind: 'ca', usage: [clientAuth] });
  const byClientCa = await issue({ subject: 'CN=kube-apiserver', issuer: clientCa });
  add('CA for clients only, sent', [root], [byClientCa, clientCa]);
  add('CA for clients only, as CA', [clientCa], [byClientCa]);
};
