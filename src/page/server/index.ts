export type { PagePost } from './guards.ts';
export { type PageOptions, createPage, pageServers } from './page.ts';
export { sameOriginPost } from './guards.ts';
export { type PageSource, remoteSource } from './source.ts';
