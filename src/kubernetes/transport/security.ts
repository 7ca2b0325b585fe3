import { createSecureContext, type SecureContext } from 'node:tls';

/** TLS settings as PEM text. */
export interface TlsMaterial {
  /** CA bundle, each of whose certificates is trusted, a root or not; absent: Node's root certificates. */
  readonly ca?: string;
  /** Client certificate chain and its key, both or neither. */
  readonly cert?: string;
  readonly key?: string;
  /** True if the server's certificate is verified. Default true. */
  readonly rejectUnauthorized?: boolean;
}

/**
 * Prepared TLS settings: creating the context parses all PEM, so it is done once and not per connection. The session of the last
 * connection is stored here, too, so that it can never be resumed with other settings (a resumed session is not verified again).
 */
export interface Security {
  readonly context: SecureContext;
  readonly rejectUnauthorized: boolean;
  /** TLS session, stored by each connection and resumed by the next one. */
  session: Buffer | undefined;
}

/** Creates TLS settings. Throws OpenSSL's error if a PEM is malformed or the key does not belong to the certificate. */
export const createSecurity = ({ ca, cert, key, rejectUnauthorized = true }: TlsMaterial): Security => ({
  // As Go does: an intermediate or the server's own certificate is an anchor, too.
  context: createSecureContext({ minVersion: 'TLSv1.2', allowPartialTrustChain: true, ca, cert, key }),
  rejectUnauthorized,
  session: undefined,
});
