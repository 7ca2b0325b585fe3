import { decodeObject, optionalObject, optionalString } from '../api/decode.ts';

/** The kubeconfig's text in a Secret (`v1`); undefined where there is no key `kubeconfig`. */
export const decodeKubeconfigSecret = (json: unknown, path: string): string | undefined => {
  const data = optionalObject(decodeObject(json, path).data, `${path}.data`) ?? {};
  const encoded = optionalString(data.kubeconfig, `${path}.data.kubeconfig`);
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
};
