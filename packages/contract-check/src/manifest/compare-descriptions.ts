import type { Found } from '../change.ts';
import { manifestRules } from './rules.ts';

/** @param pointer a JSON Pointer into the manifest */
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
