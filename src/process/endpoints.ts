import type { Clock } from '../ports/clock.ts';
import type { PrometheusMeter } from '../telemetry/index.ts';
import type { HttpRoutes } from './http-server.ts';
import { shareResponses } from './shared-responses.ts';

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

/** Returns the status of the component; with `shoot`, only that of this shoot, with details. */
export type ReadStatus = (shoot?: string) => object;

/** `/status` returns the component's status as JSON; `/status?shoot=NAMESPACE` that of one shoot. */
export const statusRoutes = (status: ReadStatus, clock: Clock): HttpRoutes => {
  const share = shareResponses(clock, (shoot: string | undefined) => ({
    status: 200,
    contentType: 'application/json',
    body: Buffer.from(`${JSON.stringify(status(shoot))}\n`),
  }));
  return new Map([['/status', (query) => share(query.get('shoot') ?? undefined)]]);
};

/** `/metrics` returns the metrics in Prometheus' text format. After each metric, other work gets its turn: 3,000 shoots take hundreds of milliseconds. */
export const metricsRoutes = (
  source: Pick<PrometheusMeter, 'metricsTexts' | 'contentType'>,
  clock: Clock,
): HttpRoutes => {
  const share = shareResponses(clock, async () => {
    const texts: Buffer[] = [];
    for await (const text of source.metricsTexts()) {
      texts.push(Buffer.from(text));
      await new Promise<void>((resolve) => clock.timer(0, resolve));
    }
    return { status: 200, contentType: source.contentType, body: Buffer.concat(texts) };
  });
  return new Map([['/metrics', () => share('')]]);
};
