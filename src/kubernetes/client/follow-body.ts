import type { KubeResponse } from '../api/kube.ts';

/** The body, with `onOver` called when it was read, abandoned or broken; it may be called again. */
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
