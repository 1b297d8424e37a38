import type { Rule } from '../change.ts';
import { manifestRules } from './rules.ts';

/** Records a change. `pointer` is a JSON Pointer into the manifest. */
export type Found = (rule: Rule, pointer: string, message: string) => void;

export function compareDescriptions(
  found: Found,
  pointer: string,
  from: { readonly description?: string },
  to: { readonly description?: string },
): void {
  if (from.description !== to.description) {
    found(manifestRules.descriptionChanged, `${pointer}/description`, 'The description was changed.');
  }
}
