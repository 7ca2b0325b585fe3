import { ApiError, type ConnectionFault, type ExchangePhase, ResponseError, isApiError } from '../api/errors.ts';

const sentences: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ECONNREFUSED: 'the connection was refused; nothing listens there',
    ECONNRESET: 'the connection was reset',
    EPIPE: 'the connection was closed',
    ENOTFOUND: 'the host name is unknown to DNS',
    EAI_AGAIN: 'DNS did not answer',
    EHOSTUNREACH: 'there is no route to the host',
    ENETUNREACH: 'there is no route to the network',
    ETIMEDOUT: 'the network did not answer in time',
    ELINKLOCAL:
      'the server or its proxy has a link-local address or that of a metadata service, where no shoot may be; check server and proxy-url',
    EPROXY_AUTH_FAILED: 'the proxy refused the user name and password',
    EPROXY_AUTH_REJECTED: 'the proxy requires a user name and password',
    EPROXY_VERSION: 'the proxy does not speak SOCKS5',
    ECLOSED: 'the client has been closed',
    ECONNABORTED: 'the connection was aborted',
    EMFILE: 'this process has no file descriptors left',
    EADDRNOTAVAIL: 'this machine has no free local port or address',
    CERT_HAS_EXPIRED: "the server's certificate has expired",
    CERT_NOT_YET_VALID: "the server's certificate is not valid yet; compare the clocks",
    DEPTH_ZERO_SELF_SIGNED_CERT:
      "the server's certificate is self-signed and not trusted; check the CA of the kubeconfig",
    SELF_SIGNED_CERT_IN_CHAIN:
      "the server's certificate comes from a CA that is not trusted; check the CA of the kubeconfig",
    UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      "the server's certificate cannot be verified; check the CA of the kubeconfig and the server's chain",
    UNABLE_TO_GET_ISSUER_CERT: "the issuer of the server's certificate is unknown; check the CA of the kubeconfig",
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
      "the issuer of the server's certificate is unknown; check the CA of the kubeconfig",
    CERT_SIGNATURE_FAILURE: "the signature of the server's certificate is wrong; check the CA of the kubeconfig",
    INVALID_PURPOSE: "the server's certificate, or a CA of it, is not for servers; check the key usages",
    // Node's code for verification errors of OpenSSL that it does not name, such as "invalid CA certificate".
    UNSPECIFIED: "the server's certificate cannot be verified; check the server's chain",
    PATH_LENGTH_EXCEEDED:
      "the server's certificate has more CAs above it than one of them allows; check the server's chain",
    UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
    ERR_TLS_CERT_ALTNAME_INVALID: "the server's certificate is for another name; check server and tls-server-name",
  }),
);

const sentenceFor = (code: string): string => {
  const known = sentences.get(code);
  if (known !== undefined) return known;
  if (code.startsWith('EPROXY')) return 'the proxy refused to open a tunnel';
  if (code.startsWith('HPE_') || code === 'HTTPParserError') return 'the answer is not HTTP';
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return 'the TLS handshake failed';
  return 'the connection failed';
};

const codeOf = (error: unknown): string => {
  if (typeof error !== 'object' || error === null) return 'UNKNOWN';
  // If several addresses of one name were tried ("happy eyeballs"), Node reports one AggregateError.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (!('code' in error) || typeof error.code !== 'string') return error instanceof Error ? error.name : 'UNKNOWN';
  // undici's names for a connection that the peer ended before the response was whole.
  if (/^UND_ERR_(?:SOCKET|RES_CONTENT_LENGTH_MISMATCH)$/.test(error.code)) return 'ECONNRESET';
  return error.code.replace('UND_ERR_SOCKS5', 'EPROXY');
};

export interface FailedExchange {
  readonly method: string;
  readonly path: string;
  /** Name of the server in messages: its address, or a description if the address is secret. */
  readonly target: string;
  readonly phase: ExchangePhase;
}

/** Converts an error of Node's net or tls, or of undici, to a ConnectionError, and a ResponseError to a MalformedResponse; returns an ApiError unchanged. */
export const connectionError = (error: unknown, at: FailedExchange): ApiError => {
  if (error instanceof ApiError) return error;
  if (error instanceof ResponseError) {
    return new ApiError({ code: 'MalformedResponse', message: `${at.method} ${at.path}: ${error.message}` });
  }
  const fault: ConnectionFault = { code: codeOf(error), phase: at.phase };
  return new ApiError({
    code: 'ConnectionError',
    message: `${at.method} ${at.path}: ${sentenceFor(fault.code)} (${fault.code} while ${at.phase}, ${at.target})`,
    cause: fault,
  });
};

const resets = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** Returns true if the connection broke after the request was (perhaps partly) sent and before any response. */
export const isResetBeforeAnswer = (error: unknown): boolean => {
  if (!isApiError(error, 'ConnectionError')) return false;
  const { phase, code = '' } = error.fault;
  return phase === 'waiting for the answer' && resets.has(code);
};
