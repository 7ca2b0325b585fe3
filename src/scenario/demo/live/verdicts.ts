/** What the prober thinks of a shoot. */
export interface Verdict {
  /** `scale-up` is its verdict on all that is well, `failed` means that it could not look. */
  readonly kind: 'scale-up' | 'scale-down' | 'skip' | 'failed';
  readonly reason: string;
}

const kinds: readonly Verdict['kind'][] = ['scale-up', 'scale-down', 'skip', 'failed'];

const parse = (line: string): Readonly<Record<string, unknown>> => {
  try {
    return (JSON.parse(line) ?? {}) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
};

/** A verdict by the line of the prober's log that tells it; undefined for any other line, whole or not. */
export const readVerdict = (line: string): { readonly namespace: string; readonly verdict: Verdict } | undefined => {
  const { namespace, verdict, reason } = parse(line);
  const kind = kinds.find((known) => known === verdict);
  if (typeof namespace !== 'string' || typeof reason !== 'string' || kind === undefined) return undefined;
  return { namespace, verdict: { kind, reason } };
};
