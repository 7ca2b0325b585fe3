import { createSecureContext, type SecureContext } from 'node:tls';

/** TLS settings as PEM text. */
export interface TlsMaterial {
  /** CA bundle; absent: the roots that Node trusts. */
  readonly ca?: string;
  /** Client certificate chain and its key, both or none. */
  readonly cert?: string;
  readonly key?: string;
  /** False takes any server certificate. Default true. */
  readonly rejectUnauthorized?: boolean;
}

/**
 * TLS settings ready for use: building the context parses all PEM, so it is done once and not per connection. The session of the last
 * connection lives here as well, so that it can never be resumed under other settings (a resumed session is not verified again).
 */
export interface Security {
  readonly context: SecureContext;
  readonly rejectUnauthorized: boolean;
  /** Written by each connection; the next one resumes it. */
  session: Buffer | undefined;
}

/** Throws what OpenSSL says when a PEM is broken or the key is not the certificate's. */
export const createSecurity = (material: TlsMaterial): Security => ({
  context: createSecureContext({
    minVersion: 'TLSv1.2',
    ...(material.ca === undefined ? {} : { ca: material.ca }),
    ...(material.cert === undefined ? {} : { cert: material.cert }),
    ...(material.key === undefined ? {} : { key: material.key }),
  }),
  rejectUnauthorized: material.rejectUnauthorized ?? true,
  session: undefined,
});
