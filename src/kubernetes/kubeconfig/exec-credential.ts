import { type JsonObject, decodeObject, optionalObject, optionalString } from '../api/decode.ts';

/** What a plugin gave (client-go `pkg/apis/clientauthentication/v1`, ExecCredentialStatus). */
export interface ExecCredential {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
}

/** Reads a plugin's output. Throws an Error whose message quotes nothing of it. */
export const parseCredential = (text: string, apiVersion: string): ExecCredential => {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error('its output is not JSON');
  }
  const credential = decodeObject(json, 'ExecCredential');
  if (credential.kind !== 'ExecCredential') throw new Error('its output is no ExecCredential');
  if (credential.apiVersion !== apiVersion) throw new Error(`its answer is of another version than ${apiVersion}`);
  const status: JsonObject = optionalObject(credential.status, 'status') ?? {};
  const token = optionalString(status.token, 'status.token') ?? '';
  const cert = optionalString(status.clientCertificateData, 'status.clientCertificateData') ?? '';
  const key = optionalString(status.clientKeyData, 'status.clientKeyData') ?? '';
  const expiry = optionalString(status.expirationTimestamp, 'status.expirationTimestamp');
  if (token === '' && cert === '' && key === '') throw new Error('it gave neither a token nor a certificate');
  if ((cert === '') !== (key === '')) throw new Error('it gave a certificate without its key, or the reverse');
  const expiresAt = expiry === undefined ? undefined : Date.parse(expiry);
  if (Number.isNaN(expiresAt)) throw new Error('its expirationTimestamp is not a time');
  return {
    ...(token === '' ? {} : { token }),
    ...(cert === '' ? {} : { cert, key }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
};
