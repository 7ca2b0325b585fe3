export type { PagePost } from './handler.ts';
export { type PageOptions, createPage } from './page.ts';
export { pageServers } from './prober-page.ts';
export { remoteSource } from './remote-source.ts';
export { sameOriginPost } from './same-origin-post.ts';
export type { PageSource } from './seed-feed.ts';
