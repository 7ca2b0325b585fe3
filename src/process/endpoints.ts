import type { HttpRoutes } from './http-server.ts';

/** One line of `/readyz`. */
export interface ReadyCheck {
  readonly name: string;
  readonly ok: boolean;
  /** Reason why the check is not ok, or a hint for the operator if it is. */
  readonly detail?: string;
}

const plainText = 'text/plain; charset=utf-8';

/** Formats a check: `[+]` is ok, `[!]` is ok with a hint, `[-]` is not ready. */
const line = ({ name, ok, detail }: ReadyCheck): string => {
  if (!ok) return `[-] ${name}: not ready${detail === undefined ? '' : ` (${detail})`}\n`;
  return detail === undefined ? `[+] ${name}: ok\n` : `[!] ${name}: ${detail}\n`;
};

/** `/healthz` returns 200 while the event loop runs. `/readyz` returns 200 if all checks are ok, else 503, with one line per check. */
export const healthRoutes = (checks: () => readonly ReadyCheck[]): HttpRoutes =>
  new Map([
    ['/healthz', () => ({ status: 200, contentType: plainText, body: 'ok\n' })],
    [
      '/readyz',
      () => {
        const results = checks();
        const status = results.every(({ ok }) => ok) ? 200 : 503;
        const body = results.map(line).join('');
        return { status, contentType: plainText, body: `${body}${status === 200 ? 'ready' : 'not ready'}\n` };
      },
    ],
  ]);

/** `/status` returns the component's status as JSON. */
export const statusRoutes = (status: (query: URLSearchParams) => object): HttpRoutes =>
  new Map([
    [
      '/status',
      (query) => ({ status: 200, contentType: 'application/json', body: `${JSON.stringify(status(query))}\n` }),
    ],
  ]);

export interface MetricsSource {
  metricsText(): Promise<string>;
  readonly contentType: string;
}

/** `/metrics` returns the metrics in Prometheus' text format. */
export const metricsRoutes = (source: MetricsSource): HttpRoutes =>
  new Map([
    ['/metrics', async () => ({ status: 200, contentType: source.contentType, body: await source.metricsText() })],
  ]);
