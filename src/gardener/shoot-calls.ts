import { type Call, smallAnswerBytes } from '../kubernetes/api/call.ts';

/** `GET /version`: whether the API server answers at all. Its status says so, and the rest is not read. */
export const getVersion: Call<undefined> = {
  method: 'GET',
  path: '/version',
  bytes: smallAnswerBytes,
  ignoresBody: true,
  decode: () => undefined,
};
