import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

export interface WebhookRequest {
  /** URL with the scheme http or https. */
  readonly url: string;
  /** Body in JSON. */
  readonly body: string;
  /** Aborts the request. */
  readonly signal: AbortSignal;
}

export type PostResult =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs?: number | undefined }
  /** `code` holds no part of the URL, which may be a secret. */
  | { readonly kind: 'failed'; readonly code: string };

/** Sends one POST. Never rejects, follows no redirect, does not read the body of the response. */
export type PostWebhook = (request: WebhookRequest) => Promise<PostResult>;

const retryAfterOf = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined;

/** Creates a function that posts over a new connection and closes it. */
export const createWebhook =
  (userAgent: string): PostWebhook =>
  async ({ url, body, signal }) => {
    const target = URL.canParse(url) ? new URL(url) : undefined;
    const isSecure = target?.protocol === 'https:';
    if (target === undefined || (!isSecure && target.protocol !== 'http:')) {
      return { kind: 'failed', code: 'URL not valid' };
    }
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': userAgent,
    };
    return new Promise((resolve) => {
      const send = isSecure ? httpsRequest : httpRequest;
      const request = send(target, { method: 'POST', agent: false, headers, signal });
      request.on('response', (response) => {
        response.on('error', () => undefined);
        const { statusCode: status = 0 } = response;
        resolve({ kind: 'answered', status, retryAfterMs: retryAfterOf(response.headers['retry-after']) });
        response.destroy();
      });
      // After a response, this second call of `resolve` has no effect. The error's message would name the host.
      request.on('error', (error: NodeJS.ErrnoException) =>
        resolve({ kind: 'failed', code: signal.aborted ? 'no answer in time' : (error.code ?? 'connection failed') }),
      );
      request.end(body);
    });
  };
