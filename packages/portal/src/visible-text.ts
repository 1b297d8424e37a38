import { joiners } from '@deedwire/core/joiners';
import type { ComponentChildren } from 'preact';
import { jsx } from './jsx-runtime.ts';

/** Controls, format characters, separators that look like nothing, and halves of surrogate pairs. Not line feeds and tabs. */
const invisible = String.raw`(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{DI}\u2800]`;

/** A joiner after a Latin letter joins nothing: it makes two texts look the same. */
const isHidden = String.raw`(?<=\p{Script=Latin})[\u200C\u200D]|(?!${joiners})`;

const hidden = new RegExp(String.raw`(?=${invisible})(?=${isHidden})(.)\1*`, 'gsu');

type Segment = string | { readonly mark: string };

/** Splits a text where a character is invisible or changes the direction. `mark` names it, and how often it repeats. */
export function segmentsOf(text: string): Segment[] {
  const segments: Segment[] = [];
  let end = 0;
  for (const match of text.matchAll(hidden)) {
    if (match.index > end) segments.push(text.slice(end, match.index));
    const [run, character = ''] = match;
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const count = run.length / character.length;
    segments.push({ mark: `U+${code}${count > 1 ? ` ×${count}` : ''}` });
    end = match.index + run.length;
  }
  if (end < text.length) segments.push(text.slice(end));
  return segments;
}

/** The beginning of a text, without half of a surrogate pair at its end. */
export function beginningOf(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, (half) => (length < text.length ? '' : half));
}

/** Text of others: what is invisible or changes the direction is marked. */
export function marked(text: string): ComponentChildren {
  const segments = segmentsOf(text);
  if (segments.every((part) => typeof part === 'string')) return text;
  return segments.map((part, key) =>
    typeof part === 'string' ? jsx('span', { children: part }, key) : jsx('mark', { children: part.mark }, key),
  );
}
