/** A log entry of a watchdog about a shoot. */
export interface WatchdogLogEntry {
  readonly namespace: string;
  readonly msg: unknown;
  /** The prober's verdict, in one word and with its reason. */
  readonly verdict?: { readonly word: string; readonly reason: string };
}

const parse = (line: string): Readonly<Record<string, unknown>> => {
  try {
    return (JSON.parse(line) ?? {}) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
};

/** Parses a log line; undefined if it is not about a shoot, or is incomplete. */
export const readLogLine = (line: string): WatchdogLogEntry | undefined => {
  const { namespace, msg, verdict: word, reason } = parse(line);
  if (typeof namespace !== 'string') return undefined;
  const hasVerdict = typeof word === 'string' && typeof reason === 'string';
  return { namespace, msg, ...(hasVerdict ? { verdict: { word, reason } } : {}) };
};
