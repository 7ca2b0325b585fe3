declare const __DWD_VERSION__: string | undefined;
declare const __DWD_COMMIT__: string | undefined;

/** The bundler sets version and commit; a run from the sources has neither. */
export const version = typeof __DWD_VERSION__ === 'string' ? __DWD_VERSION__ : 'dev';
export const commit = typeof __DWD_COMMIT__ === 'string' ? __DWD_COMMIT__ : 'unknown';
