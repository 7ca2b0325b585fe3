import type { KubeClient } from '../api/kube.ts';
import { type CallContext, performCall } from './call.ts';

/** Creates the client that the controllers use: it performs calls in JSON or protobuf, and every failure is an ApiError. */
export const createKubeClient = (context: CallContext): KubeClient => ({
  call: (call, options) => performCall(call, options, context),
});
