import { isText } from './text.ts';

/** Returns true if the text is a valid name of an organization or an account. */
export function isAccountName(name: string): boolean {
  return isText(name, 200);
}
