import { stringify } from 'yaml';

/**
 * As kubectl and Helm read it: by YAML 1.1, to which a bare `on` or `yes` is no text. Without anchors, and without folded lines.
 */
export const manifestYaml = (object: object): string =>
  stringify(object, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
