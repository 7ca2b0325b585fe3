import { ApiError, type ConnectionFault } from '../../src/kubernetes/api/errors.ts';

export const connectionError = (message: string, cause?: ConnectionFault): ApiError =>
  new ApiError({ code: 'ConnectionError', message, ...(cause === undefined ? {} : { cause }) });
