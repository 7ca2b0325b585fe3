import { stringify } from 'yaml';

/**
 * Formats an object for kubectl and Helm, which read YAML 1.1: an unquoted `on` or `yes` is not text there. Has no anchors and no folded lines.
 */
export const manifestYaml = (object: object): string =>
  stringify(object, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
