export type { PagePost } from './guards.ts';
export { type PageOptions, createPage, pageServers } from './page.ts';
export { sameOriginPost } from './guards.ts';
export { remoteSource } from './sources.ts';
export type { PageSource } from './seed-feed.ts';
