import { type Call, smallResponseBytes } from '../kubernetes/api/call.ts';

/** `GET /version`: shows if the API server responds at all. Only the status of the response counts; the body is not read. */
export const getVersion: Call<undefined> = {
  method: 'GET',
  path: '/version',
  bytes: smallResponseBytes,
  ignoresBody: true,
  decode: () => undefined,
};
