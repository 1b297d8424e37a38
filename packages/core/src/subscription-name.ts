import { joiners } from './joiners.ts';
import { invisibleCharacters } from './terminal-text.ts';
import { describeLength, isText } from './text.ts';

const maxLength = 100;

const joined = new RegExp(joiners, 'gu');

/** The first character that is invisible or changes the direction of the text. Undefined if there is none. */
function findInvisible(name: string): string | undefined {
  return name.replaceAll(joined, '').match(invisibleCharacters)?.[0];
}

/** Returns true if the text is a valid name of a webhook subscription. It names one to people, so it must show what it is. */
export function isSubscriptionName(name: string): boolean {
  return isText(name, maxLength) && findInvisible(name) === undefined;
}

/** What is wrong with a name that is not valid, for clients. */
export function describeSubscriptionName(name: string): string {
  return `A name has 1 to ${maxLength} characters, is not blank, and has no character that is invisible or changes the direction of the text. ${problemOf(name)}`;
}

function problemOf(name: string): string {
  if (!name.isWellFormed()) return 'This one is not well-formed Unicode: it contains half of a surrogate pair.';
  if (name.trim() === '') return name === '' ? 'This one is empty.' : 'This one is blank.';
  if (Array.from(name).length > maxLength) return `This one has ${describeLength(name)}.`;
  const codePoint = findInvisible(name)?.codePointAt(0) ?? 0;
  return `This one contains U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}.`;
}
