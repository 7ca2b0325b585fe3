export type { PagePost } from './guards.ts';
export { type PageOptions, createPage } from './page.ts';
export { pageServers } from './prober-page.ts';
export { sameOriginPost } from './guards.ts';
export { remoteSource } from './sources.ts';
export type { PageSource } from './seed-feed.ts';
