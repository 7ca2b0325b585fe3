import type { KubeResponse } from '../api/kube.ts';

/** Wraps a body to call `onOver` when it was read to its end, abandoned or broken; `onOver` may be called more than once. */
export const followBody = (body: KubeResponse['body'], onOver: () => void): KubeResponse['body'] => ({
  [Symbol.asyncIterator]: () => {
    const chunks = body[Symbol.asyncIterator]();
    return {
      next: async () => {
        try {
          const chunk = await chunks.next();
          if (chunk.done === true) onOver();
          return chunk;
        } catch (error) {
          onOver();
          throw error;
        }
      },
      return: async () => {
        onOver();
        await chunks.return?.();
        return { done: true, value: undefined };
      },
    };
  },
});
