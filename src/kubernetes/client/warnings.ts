import type { Logger } from '../../ports/logger.ts';
import type { Kube } from '../api/kube.ts';

/** Maximum number of distinct warnings that are logged, in case a server invents new ones forever. */
const mostWarnings = 200;

/** Returns the texts of a `Warning` header, `299 - "text"` each (RFC 9111, section 5.5; KEP-1693). */
export const parseWarnings = (header: string): readonly string[] => {
  const texts: string[] = [];
  for (const match of header.matchAll(/\b299 [^ "]+ "((?:[^"\\]|\\.)*)"/g)) {
    texts.push((match[1] ?? '').replaceAll(/\\(.)/g, '$1'));
  }
  return texts;
};

/** Logs each distinct warning of the server once. */
export const logWarnings = (kube: Kube, logger: Logger): Kube => {
  const seen = new Set<string>();
  return {
    request: async (request) => {
      const response = await kube.request(request);
      for (const warning of parseWarnings(response.headers.warning ?? '')) {
        if (seen.has(warning) || seen.size >= mostWarnings) continue;
        seen.add(warning);
        logger.warn('API server warns', { warning, method: request.method, path: request.path });
      }
      return response;
    },
  };
};
