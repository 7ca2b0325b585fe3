import type { KubeResponse } from '../api/kube.ts';

/** Joins repeated headers, as in RFC 9110, section 5.3. */
export const joinHeaders = (
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): KubeResponse['headers'] => {
  const joined = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return joined;
};
