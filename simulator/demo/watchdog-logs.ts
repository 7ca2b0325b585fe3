const parse = (line: string): Readonly<Record<string, unknown>> => {
  try {
    return (JSON.parse(line) ?? {}) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
};

/** Returns the namespace whose weeding this line of the weeder's log begins; undefined for any other line, and for an incomplete one. */
export const weededNamespaceIn = (text: string): string | undefined => {
  const { namespace, msg } = parse(text);
  return msg === 'weeding starts: the service is ready' && typeof namespace === 'string' ? namespace : undefined;
};
