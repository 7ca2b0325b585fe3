/** The prober's verdict on a shoot, in the words of its log. */
export interface Verdict {
  readonly word: (typeof words)[number];
  readonly reason: string;
}

const words = [
  'healthy',
  'unhealthy',
  'confirming',
  'skipped',
  'api_server_unreachable',
  'lease_list_failed',
  'throttled',
  'kubeconfig_unusable',
] as const;

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
  const word = words.find((known) => known === verdict);
  if (typeof namespace !== 'string' || typeof reason !== 'string' || word === undefined) return undefined;
  return { namespace, verdict: { word, reason } };
};
