export { type PageOptions, createPage, pageServers } from './page.ts';
