import type { Kube } from '../../src/kubernetes/api/kube.ts';
import { bodyOf } from './stream.ts';

/**
 * Many servers behind one address: `/NAME/...` goes to `find(NAME)`, and to nowhere (404) where there is none. Kubeconfigs then carry the
 * name in the path of their `server`.
 */
export const mountKubes = (find: (name: string) => Kube | undefined): Kube => ({
  async request(request) {
    request.signal.throwIfAborted();
    const [, name = '', rest = '/'] = /^\/([^/]+)(\/.*)?$/.exec(request.path) ?? [];
    const kube = find(decodeURIComponent(name));
    if (kube !== undefined) return kube.request({ ...request, path: rest });
    const headers = { 'content-type': 'text/plain; charset=utf-8' };
    return { status: 404, headers, body: bodyOf(Buffer.from('404 page not found\n')) };
  },
});
