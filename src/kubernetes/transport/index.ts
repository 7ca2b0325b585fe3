export { WebsocketFrameSend } from 'undici/lib/web/websocket/frame.js';
export { abortable } from './abortable.ts';
export {
  ResponseError,
  ResponseTooLargeError,
  notJson,
  parseJson,
} from './response-error.ts';
export { connectionError, isResetBeforeAnswer } from './connection-error.ts';
export { dial } from './dial.ts';
export { type Endpoint, type ProxyEndpoint, authority } from './endpoint.ts';
export { joinHeaders } from './exchange.ts';
export { isLinkLocal } from './link-local.ts';
export { type Scope, createScope, runInScope, startTimeout } from './scope.ts';
export { type Security, type TlsMaterial, createSecurity } from './security.ts';
export { type Transport, createTransport } from './transport.ts';
export { WaitQueue } from './wait-queue.ts';
