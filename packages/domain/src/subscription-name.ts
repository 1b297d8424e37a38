import { invisibleCharacters } from './terminal-text.ts';
import { describeLength, isText } from './text.ts';

const maxLength = 100;

/** Returns true if the text is a valid name of a webhook subscription. It names one to people, so it must show what it is. */
export function isSubscriptionName(name: string): boolean {
  return isText(name, maxLength) && name.search(invisibleCharacters) === -1;
}

/** What is wrong with a name that is not valid, for clients. */
export function describeSubscriptionName(name: string): string {
  const rule = `A name has 1 to ${maxLength} characters, is not blank, and has no character that is invisible or changes the direction of the text.`;
  return `${rule} This one has ${describeLength(name)}${isText(name, maxLength) ? ', of which one or more are invisible or change the direction' : ''}.`;
}
