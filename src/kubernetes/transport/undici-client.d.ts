/** undici's Client alone. Its index also loads fetch, caches and mocks: 430 KB in each bundle, and 5 MB of memory. */
declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}
